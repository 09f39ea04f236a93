"""What a call gave, held against what is right: whether it returned, what, of which shape, and how far off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.difference import Tolerance, compare
from sdpa_cli.cases import Case
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.exercise import Function
from sdpa_cli.grading.quantities import SHAPES
from sdpa_cli.grading.report import Finding, Message, failed, say
from sdpa_cli.sandbox import Fault, Kind, Outcome

Array = NDArray[Any]

ORDER = ("scores", "weights", "lse", "output")
"""Returned values in the order they are computed: the first that differs is told."""


def returned(outcome: Outcome, function: Function) -> dict[str, Array] | None:
    """The arrays that a call returned, by name; None where it returned something else."""
    arrays = outcome.arrays if outcome.kind is Kind.RETURNED else None
    if arrays is None or len(arrays) != len(function.returns):
        return None
    return {name: np.asarray(array) for name, array in zip(function.returns, arrays, strict=True)}


def not_returned(attempt: Attempt, outcome: Outcome) -> Message | None:
    """Why a call gave no arrays to compare; None where it did."""
    function = attempt.function
    if outcome.kind is not Kind.RETURNED:
        return ending(attempt, outcome)
    if returned(outcome, function) is not None:
        return None
    wanted = ", ".join(function.returns)
    if outcome.arrays is not None:
        return say("return.count", function=attempt.called, wanted=len(function.returns), found=len(outcome.arrays))
    return say("return.kind", function=attempt.called, wanted=wanted, found=_described(outcome.value))


def ending(attempt: Attempt, outcome: Outcome, what: str | None = None) -> Message:
    """How a call of the function, or of something else, or a load, ended that did not return."""
    name = what or attempt.called
    if outcome.error is not None and outcome.kind is Kind.RAISED:
        where = place(attempt, outcome.error)
        if outcome.error.type == "ModuleNotFoundError" and attempt.handed_in.target is None:
            return say("call.raised-no-module", function=name, error=told(outcome.error), place=where or name)
        values = {"function": name, "error": told(outcome.error)}
        return say("call.raised-at", **values, place=where) if where else say("call.raised", **values)
    if outcome.kind is Kind.MISSING and attempt.handed_in.target is not None:
        return say("call.no-function", function=attempt.handed_in.shown(attempt.function.file))  # it was imported
    return say(f"call.{outcome.kind}", function=name, detail=outcome.detail)


def told(error: Fault) -> str:
    """An exception as Python writes it: its type, and its message where it has one."""
    return f"{error.type}: {error.message}" if error.message else error.type


def place(attempt: Attempt, error: Fault) -> str | None:
    """Where in the student's own file an exception came from: ``attention.py:12``, or a notebook's cell."""
    if error.file is None or error.line is None or attempt.handed_in.target is not None:
        return None
    notebook = attempt.handed_in.notebooks.get(error.file)
    if notebook is None:
        return f"{attempt.handed_in.shown(error.file)}:{error.line}"
    cell, line = notebook.where(error.line)
    return f"{notebook.name}[{cell}]:{line}"


def difference(
    case: Case, actual: Mapping[str, Array], expected: Mapping[str, Array], tolerance: Tolerance
) -> Finding | None:
    """What differs first; None where nothing does."""
    found = _first_difference(case, actual, expected, tolerance)
    if found is not None and _is_swapped(actual, expected, tolerance):
        return failed(say("return.swapped", order=", ".join(actual)), case=case)
    return found


def _first_difference(
    case: Case, actual: Mapping[str, Array], expected: Mapping[str, Array], tolerance: Tolerance
) -> Finding | None:
    for name in sorted(actual, key=ORDER.index):
        got, want = actual[name], expected[name]
        if got.shape != want.shape:
            values = {"part": name, "letters": SHAPES[name], "found": got.shape, "expected": want.shape}
            return failed(say("return.shape", **values), part=name, case=case)
        if np.isnan(want).any():
            if (hidden := _hidden_nan(name, got, want)) is not None:
                return failed(hidden, part=name, case=case)
        elif (found := compare(got, want, tolerance)) is not None:
            return failed(say("value.differs", **cell(name, found)), part=name, difference=found, case=case)
    return None


def has_nan(arrays: Mapping[str, Array]) -> bool:
    """Whether something among these values cannot be known: it came of a NaN that nothing forbids."""
    return any(np.isnan(array).any() for array in arrays.values())


def _hidden_nan(part: str, got: Array, want: Array) -> Message | None:
    """The first cell that must be NaN and is not; what else a NaN reaches depends on how it is computed."""
    index = first_where(np.isnan(want) & ~np.isnan(got))
    if index is None:
        return None
    return say("value.hides-nan", part=part, index=shown_index(index), actual=float(got[index]))


def _is_swapped(actual: Mapping[str, Array], expected: Mapping[str, Array], tolerance: Tolerance) -> bool:
    """Whether the right values came back in another order."""
    pairs = list(zip(actual.values(), reversed(list(actual)), strict=True))
    return len(pairs) > 1 and all(
        got.shape == expected[other].shape and compare(got, expected[other], tolerance) is None for got, other in pairs
    )


def first_where(cells: NDArray[np.bool_]) -> tuple[int, ...] | None:
    """The index of the first cell that is true; None where none is."""
    found = np.argwhere(cells)
    return tuple(int(i) for i in found[0]) if len(found) else None


def shown_index(index: Sequence[int]) -> str:
    """An index as people read it, counted from 1."""
    return ",".join(str(i + 1) for i in index)


def cell(part: str, found: Any) -> dict[str, Any]:
    """The values that every message about a wrong cell is filled with; indices are counted from 1."""
    return {
        "part": part,
        "index": shown_index(found.index),
        "expected": float(found.expected),
        "actual": float(found.actual),
        "error": float(found.error),
        "limit": float(found.limit),
        "count": found.count,
        "total": found.total,
    }


def _described(value: object) -> str:
    if value is None:
        return "None"
    description = getattr(value, "description", None)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} ({', '.join(_described(item) for item in value[:4])})"
    return str(description) if description else type(value).__name__
