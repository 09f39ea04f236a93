"""Who grades: processes of this machine, or the workers of a Dask cluster; both are executors, and nothing else."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from sdpa_cli.classroom.tasks import best_level
from sdpa_cli.clusters import executor_on
from sdpa_cli.cpus import keep_to, places, usable_cpus
from sdpa_cli.sandbox import Level

_T = TypeVar("_T")
_TASKS_PER_PROCESS = 3
_TASKS_IN_A_CLUSTER = 512
_TRIES = 100


@dataclass(frozen=True)
class Workers:
    """Where tasks go."""

    opened: Callable[[], AbstractContextManager[Executor]]
    """A new executor each time, so that one that has broken can be left behind."""
    ahead: int
    """How many tasks to have with it at once."""
    level: Callable[[], Level]
    """The best confinement that they offer; finding out takes a moment."""


def local_workers(count: int | None = None) -> Workers:
    """Processes of this machine, by default one per core that may be used.

    Each has a warm sandbox of its own, and ends when this process does, however that ends; at once, where an error or
    Ctrl-C ends their use, for nobody would hear what they are at.
    """
    number = count or usable_cpus()

    @contextmanager
    def opened() -> Iterator[Executor]:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
        free = context.SimpleQueue()
        for place in places(number):
            free.put(place)
        held, lifeline = context.Pipe(duplex=False)
        with held, lifeline, _Pool(number, context, _settle, (free, held)) as pool:
            try:
                yield pool
            except BaseException:
                lifeline.close()
                raise

    return Workers(opened, _TASKS_PER_PROCESS * number, best_level)


def cluster_workers(address: str) -> Workers:
    """The workers of a Dask cluster, to which a lost worker's tasks return by themselves."""

    def level() -> Level:
        with executor_on(address) as executor:
            return executor.submit(best_level).result()

    return Workers(lambda: executor_on(address), _TASKS_IN_A_CLUSTER, level)


class _Pool(ProcessPoolExecutor):
    """Its processes, started as tasks come, are deaf to Ctrl-C from their first moment on: it is the parent's."""

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """As the pool does; an interrupt comes a moment later."""
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle(free: SimpleQueue[set[int]], held: Connection) -> None:
    """Take a place: a worker and its sandbox take turns, which costs a fifth less than waking another CPU."""
    keep_to(free.get())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    scratch = _own_folder()
    signal.signal(signal.SIGTERM, lambda *_: _vanish(scratch))  # how the pool ends the others when one is lost
    threading.Thread(target=_end_after, args=(held, scratch), daemon=True).start()


def _own_folder() -> str:
    """The one folder for all that this process writes: nobody's work is left behind, however it ends."""
    tempfile.tempdir = scratch = tempfile.mkdtemp(prefix="sdpa-worker-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return scratch


def _end_after(held: Connection, scratch: str) -> None:
    """End when the parent lets go of the other end, be it because it was killed."""
    with suppress(OSError):  # so Windows tells that nobody is there
        held.poll(None)
    _vanish(scratch)


def _vanish(scratch: str) -> NoReturn:
    """End at once, and leave no scratch folder."""
    for _ in range(_TRIES):  # another thread may be putting something into it
        shutil.rmtree(scratch, ignore_errors=True)
        if not Path(scratch).exists():
            break
    os._exit(1)
