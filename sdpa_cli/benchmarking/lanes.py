"""One engine on one workload: from its own process to a measurement, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from math import ceil
from textwrap import shorten
from typing import Any

import numpy as np

from sdpa_cli.benchmarking import memory, oracle
from sdpa_cli.benchmarking.engines import Engine
from sdpa_cli.benchmarking.inputs import Array, make_inputs
from sdpa_cli.benchmarking.processes import EngineProcess, LostError
from sdpa_cli.benchmarking.report import Measurement, Status
from sdpa_cli.benchmarking.workloads import Workload

_ROUND_SECONDS = 0.02
"""How long short calls are repeated within a round."""
_MOST_REPEATS = 1000
_SHARE = 2
"""An engine may need one part in this many of the free memory: the machine has other things to do."""
_UNKNOWN_MEMORY = 1 << 30
"""What counts as free where the system does not tell."""
_REASON = 200
"""The most characters of a reason."""
_GIB = 1 << 30


@dataclass(frozen=True, eq=False)
class Question:
    """A workload, and what the right answer to it is at a sample of rows."""

    workload: Workload
    cells: tuple[oracle.Cell, ...]
    expected: Array
    """``(len(cells), d_v)``."""


def pose(workload: Workload) -> Question:
    """Ask the oracle beforehand."""
    cells = oracle.sample(workload)
    return Question(workload, cells, oracle.expected_rows(workload, make_inputs(workload), cells))


class Lane:
    """One engine's way through one workload. Once it has failed it asks no more.

    Parameters
    ----------
    engine
        Who answers.
    question
        What is asked.
    timeout
        Seconds to wait for any one answer.
    """

    def __init__(self, engine: Engine, question: Question, timeout: float) -> None:
        self.versions: dict[str, str] = {}
        self.memory_method: str | None = None
        self.call_seconds = 0.0
        """How long one call takes, roughly."""
        self._engine, self._question, self._timeout = engine, question, timeout
        self._process: EngineProcess | None = None
        self._status, self._reason = Status.OK, _too_large(engine, question.workload)
        if self._reason:
            self._status = Status.STOPPED
        self._rounds: list[float] = []
        self._peak_bytes: int | None = None
        self._max_error: float | None = None

    @property
    def open(self) -> bool:
        """Whether there is anything left to ask."""
        return self._status in (Status.OK, Status.WRONG)

    def start(self, threads: int, stack: ExitStack) -> None:
        """Start its process and let it load its libraries; does not wait for that."""
        if self.open:
            self._process = stack.enter_context(EngineProcess(self._engine, threads))
            self._process.send({})

    def load(self) -> None:
        """Wait until its libraries are loaded."""
        self.versions = self._answer().get("versions", {})

    def prepare(self) -> None:
        """Let it make the inputs and answer once, watching its memory; judge the answer."""
        question = self._question
        answer = self._ask({"workload": asdict(question.workload), "cells": question.cells})
        if not answer:
            return
        self.call_seconds, self._peak_bytes = answer["seconds"], answer["peak_bytes"]
        self.memory_method = answer["method"]
        if answer["rows"] is not None:
            self._judge(answer["rows"])

    def time(self) -> None:
        """Measure one round."""
        repeat = min(_MOST_REPEATS, ceil(_ROUND_SECONDS / self.call_seconds)) if self.open else 1
        answer = self._ask({"repeat": repeat})
        if answer:
            self._rounds.append(answer["seconds"])

    def measurement(self) -> Measurement:
        """What was found."""
        return Measurement(
            workload=self._question.workload,
            engine=self._engine.name,
            status=self._status,
            reason=self._reason,
            rounds=tuple(self._rounds) if self.open else (),
            peak_bytes=self._peak_bytes,
            max_error=self._max_error,
        )

    def _judge(self, rows: Sequence[Sequence[float]]) -> None:
        actual, workload = np.asarray(rows), self._question.workload
        if actual.shape != self._question.expected.shape:
            self._status, self._reason = Status.WRONG, f"its rows have the shape {actual.shape}"
            return
        self._max_error = oracle.max_error(actual, self._question.expected)
        if not oracle.agrees(self._max_error, workload):
            self._status = Status.WRONG
            self._reason = f"its error is more than {workload.dtype} rounding"

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.open and self._process:
            self._process.send(request)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        """The process's answer; empty where there is none, after noting why."""
        if not self.open or not self._process:
            return {}
        try:
            answer = self._process.receive(self._timeout)
        except LostError as lost:
            answer = {"failed": str(lost)}
        for status in (Status.FAILED, Status.UNSUPPORTED):
            if status.value in answer:
                self._status, self._reason = status, _one_line(answer[status.value])
                return {}
        return answer


def _one_line(reason: str) -> str:
    """What a library says when it fails may be pages long, and coloured."""
    return shorten(
        "".join(character if character.isprintable() else " " for character in reason), _REASON, placeholder="…"
    )


def _too_large(engine: Engine, workload: Workload) -> str | None:
    """Why an engine that holds score matrices must not be started, if so."""
    free = memory.available() or _UNKNOWN_MEMORY
    need = engine.predicted_bytes(workload)
    if not engine.matrices or need <= free // _SHARE:
        return None
    return f"would need {need / _GIB:.3g} GiB of {free / _GIB:.3g} free"
