"""A student's own tests, tested: the right function must pass them, and known wrong ones must not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs, Options, prepare
from sdpa_cli.attention.refusals import EmptyRowsError
from sdpa_cli.faults import CATALOGUE, Fault, Recipe
from sdpa_cli.grading.attempt import Attempt, TestRun
from sdpa_cli.grading.comparing import ending, place, told
from sdpa_cli.grading.quantities import of_recipe
from sdpa_cli.grading.report import Finding, Message, failed, passed, reason, say
from sdpa_cli.sandbox import Kind

Array = NDArray[Any]
MOST_CELLS = 1 << 18
"""Cells Tq × Tk × d_v of one call that this process computes on a test's behalf."""
MOST_HEARD, ROOM = 100, 8 << 20
"""Calls that are remembered, and bytes of what they ask."""


@dataclass(frozen=True)
class OwnTestsRule:
    """A file of tests must accept the right function and catch these faults."""

    file: str
    faults: tuple[str, ...]

    def judge(self, attempt: Attempt) -> Finding:
        """Each fault that is caught is an equal share."""
        if (problem := attempt.problem(self.file)) is not None:
            return failed(say("file.unreadable", problem=reason(problem)))
        if self.file not in attempt.handed_in.files:
            return failed(say("file.missing", file=self.file))
        right = _Heard(stand_in(attempt.function.returns))
        run = attempt.run_tests(self.file, right)
        if (message := _not_usable(attempt, run, self.file)) is not None:
            return failed(message)
        slipped = [name for name in self.faults if self._slips(attempt, name, right)]
        if not slipped:
            return passed(say("tests.caught", count=len(self.faults)))
        share = 1 - len(slipped) / len(self.faults)
        return failed(say("tests.slipped", faults=", ".join(slipped)), share=share)

    def _slips(self, attempt: Attempt, name: str, right: _Heard) -> bool:
        wrong = stand_in(attempt.function.returns, CATALOGUE[name])
        return not right.differs_from(wrong) or attempt.tests_accept(self.file, wrong)


class _Heard:
    """A function that remembers what it was asked, and what it said: who says the same is taken for it.

    Parameters
    ----------
    function
        Which.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._heard: list[tuple[tuple[Any, ...], dict[str, Any], bytes]] = []
        self._bytes = 0
        self._heard_all = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        answer = _answer(self._function, args, kwargs)
        self._bytes += sum(getattr(value, "nbytes", 0) for value in (*args, *kwargs.values()))
        self._heard_all = self._heard_all and len(self._heard) < MOST_HEARD and self._bytes <= ROOM
        if self._heard_all:
            self._heard.append((args, kwargs, _digest(answer)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def differs_from(self, other: Callable[..., Any]) -> bool:
        """Whether another function answers anything that was asked otherwise; also where too much was asked to say."""
        return not self._heard_all or any(
            _digest(_answer(other, args, kwargs)) != said for args, kwargs, said in self._heard
        )


def _answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:  # what a student's arguments lead to is an answer like any other
        return error


def _digest(answer: tuple[Array, ...] | Exception) -> bytes:
    if isinstance(answer, Exception):
        return repr((type(answer), str(answer))).encode()
    digest = hashlib.blake2b()
    for array in answer:
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(array.tobytes())
    return digest.digest()


def _not_usable(attempt: Attempt, run: TestRun, file: str) -> Message | None:
    """Why these tests cannot be used to catch faults."""
    if run.load.kind is not Kind.RETURNED:
        return say("tests.not-loaded", file=file, why=ending(attempt, run.load, file))
    if not run.outcomes:
        return say("tests.none", file=file)
    for name, outcome in run.outcomes.items():
        if outcome.kind is not Kind.RETURNED:
            error = outcome.error
            where = (place(attempt, error) if error else None) or file
            said = told(error) if error else ending(attempt, outcome, name)
            return say("tests.refuse-right", test=name, place=where, error=said)
    if not sum(outcome.callbacks for outcome in run.outcomes.values()) + run.load.callbacks:
        return say("tests.call-nothing", file=file, function=attempt.function.name)
    return None


def stand_in(returns: tuple[str, ...], fault: Fault | None = None) -> Callable[..., Any]:
    """The function that an exercise asks for.

    Parameters
    ----------
    returns
        What it gives back.
    fault
        What is wrong with it; None where it is right.
    """
    recipe = Recipe() if fault is None else fault.recipe
    # Whoever is careless of what is not finite does not refuse a query without a live key either.
    careless = fault is not None and fault.law == "finite"

    def attention(Q: Array, K: Array, V: Array, mask: Array | None = None) -> tuple[Array, ...]:
        inputs = _prepared(Q, K, V, mask)
        cells = inputs.q.size // inputs.q.shape[-1] * inputs.keys * max(inputs.d_v, 1)
        if cells > MOST_CELLS:
            raise ValueError("these matrices are too large for a test of a function")
        empty = np.argwhere(recipe.forbid(inputs).all(axis=-1))
        if len(empty) and not careless:
            raise EmptyRowsError([tuple(int(i) for i in index[-1:]) for index in empty])
        return tuple(of_recipe(recipe, inputs, returns).values())

    return attention


def _prepared(Q: Array, K: Array, V: Array, mask: Array | None) -> Inputs:
    forbidden = None if mask is None else np.asarray(mask).astype(bool)
    return prepare({"Q": Q, "K": K, "V": V}, forbidden, None, Options(empty_rows="zero", nonfinite="propagate"))
