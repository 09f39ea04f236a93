"""What runs in an engine's own process: ``python -m sdpa_cli.benchmarking.worker MODULE THREADS``.

It answers every line of JSON on standard input with one on standard output, until its input ends:

``{}``                                        → ``{"versions": {…}}``, once the engine's libraries are loaded
``{"workload": {…}, "cells": [[b, h, i], …]}`` → ``{"seconds": …, "peak_bytes": …, "method": …, "rows": [[…], …]}``
``{"repeat": n}``                             → ``{"seconds": …}``, the median of n calls

It answers when its threads have come to rest: they would slow the engine that is measured next.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from statistics import median
from types import ModuleType
from typing import Any

from sdpa_cli.cpus import keep_to

_LONG_SECONDS = 0.5
_REST_SECONDS, _REST_WITHIN = 0.01, 1.0
"""A process is at rest when it is idle for so long; OpenBLAS's threads spin for about 0.1 s after their last task."""


def main() -> None:
    """Serve the engine named on the command line."""
    module, threads = sys.argv[1], int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    _keep_to_cpus(threads)
    for answer in serve(module, threads, map(json.loads, sys.stdin)):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _keep_to_cpus(number: int) -> None:
    """Not every library can be told its number of threads; all of them look at the CPUs they may use."""
    if hasattr(os, "sched_getaffinity"):
        keep_to(set(sorted(os.sched_getaffinity(0))[:number]))


def serve(name: str, threads: int, requests: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Answer the requests in turn. An engine's exception is an answer, too: ``{"unsupported" or "failed": reason}``."""
    from sdpa_cli.benchmarking.engines import UnsupportedError

    call: Callable[[], object] = _nothing_prepared
    for request in requests:
        try:
            module = import_module(name)
            if "workload" in request:
                call, answer = _prepare(module, threads, request)
            elif "repeat" in request:
                answer = {"seconds": _time(call, request["repeat"])}
            else:
                answer = {"versions": module.versions()}
        except UnsupportedError as reason:
            answer = {"unsupported": str(reason)}
        except Exception as error:  # whatever a library raises is that engine's result, not this program's fault
            answer = {"failed": f"{type(error).__name__}: {error}"}
        _rest()
        yield answer


def _rest() -> None:
    """Wait until no thread of this process computes, or until it is clear that one always will."""
    deadline = time.monotonic() + _REST_WITHIN
    while time.monotonic() < deadline:
        before = time.process_time()
        time.sleep(_REST_SECONDS)
        if time.process_time() - before < _REST_SECONDS / 10:
            return


def _nothing_prepared() -> None:
    raise RuntimeError("asked to run before a workload was given")


def _prepare(
    module: ModuleType, threads: int, request: Mapping[str, Any]
) -> tuple[Callable[[], object], dict[str, Any]]:
    """Make the inputs, run a tiny problem to load the code, then the workload once while its memory is watched."""
    import numpy as np

    from sdpa_cli.benchmarking import memory
    from sdpa_cli.benchmarking.inputs import make_inputs
    from sdpa_cli.benchmarking.workloads import Workload

    workload = Workload(**request["workload"])
    tiny = workload.shrunk()
    module.prepare(tiny, make_inputs(tiny), threads)()
    call = module.prepare(workload, make_inputs(workload), threads)
    gc.collect()
    start = time.perf_counter()
    output, peak, method = memory.measured(call)
    seconds = time.perf_counter() - start
    if seconds < _LONG_SECONDS:
        seconds = _time(call, 1)  # the first call of a short one says little
    rows = None if output is None else [np.asarray(output)[tuple(cell)].tolist() for cell in request["cells"]]
    return call, {"seconds": seconds, "peak_bytes": peak, "method": method, "rows": rows}


def _time(call: Callable[[], object], repeat: int) -> float:
    """The median time of a call; where calls are short, after one that fills the caches again."""
    if repeat > 1:
        call()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


if __name__ == "__main__":
    main()
