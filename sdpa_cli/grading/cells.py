"""A notebook that stops on the way: which of its cells stop it, and what it is without them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sdpa_cli.grading.notebooks import Notebook
from sdpa_cli.sandbox import Kind, Outcome

MOST_CELLS = 8
"""Cells that are left out; where more of them fail, the notebook as a whole does not work."""
_STOPPED = (Kind.RAISED, Kind.EXITED)
"""Ends that whoever runs a notebook cell by cell sees, and then runs the next one."""


@dataclass(frozen=True)
class LeftOut:
    """A cell that was left out."""

    cell: int
    """Which code cell, counted from 1."""
    outcome: Outcome
    """How it ended."""


@dataclass(frozen=True)
class Mended:
    """A notebook without the cells that stop it."""

    notebook: Notebook
    left_out: tuple[LeftOut, ...]


def mended(notebook: Notebook, stopped: Outcome, load: Callable[[bytes], Outcome], function: str) -> Mended | None:
    """What is left of a notebook once the cells are gone that stop it.

    Parameters
    ----------
    notebook
        All of it.
    stopped
        What came of loading it.
    load
        What comes of loading a part of it.
    function
        The name of the function that must still be defined.

    Returns
    -------
    Mended or None
        None where no notebook is left that loads and defines the function.
    """
    left_out: list[LeftOut] = []
    for _ in range(MOST_CELLS):
        if stopped.kind not in _STOPPED:
            return None
        failing = _first_failing(notebook, stopped, load)
        left_out.append(failing)
        notebook = notebook.without(failing.cell)
        if not re.search(rf"^(?:def\s+{function}\b|{function}\s*=)", notebook.source.decode("utf-8"), re.MULTILINE):
            return None
        stopped = load(notebook.source)
        if stopped.kind is Kind.RETURNED:
            return Mended(notebook, tuple(left_out))
    return None


def _first_failing(notebook: Notebook, stopped: Outcome, load: Callable[[bytes], Outcome]) -> LeftOut:
    """The first cell after which the notebook no longer loads."""

    @cache
    def until(cell: int) -> Outcome:
        return load(notebook.until(cell).source)

    low, high = 0, len(notebook.starts)
    # Most often it is the cell with the line of the error; but that may be in a function which a later cell calls.
    line = stopped.error.line if stopped.error is not None else None
    suspect = high if line is None else notebook.where(line)[0]
    probes = [suspect, suspect - 1]
    while high - low > 1:
        cell = next((probe for probe in probes if low < probe < high), (low + high) // 2)
        if until(cell).kind is Kind.RETURNED:
            low = cell
        else:
            high = cell
    return LeftOut(high, stopped if high == len(notebook.starts) else until(high))
