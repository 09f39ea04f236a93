"""From a case to everything a view may show: its attention, and whether what it expects holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention
from sdpa_cli.attention.difference import Difference, Tolerance, compare
from sdpa_cli.cases import Case

if TYPE_CHECKING:
    from concurrent.futures import Executor

Indices = slice | NDArray[np.intp]
Matrix = Literal["scores", "weights", "output"]
MATRICES: tuple[Matrix, ...] = ("scores", "weights", "output")

# Scores and weights are read in blocks of rows of about this many cells (8 MiB of float64), never whole.
BLOCK_CELLS = 2**20


@dataclass(frozen=True)
class Verdict:
    """How one matrix compares with what the case expects of it."""

    name: Matrix
    difference: Difference | None
    """The worst disagreement; None where all cells agree."""
    error: float
    """The largest error of any cell, agreeing or not."""
    hint: str | None = None


@dataclass(frozen=True, eq=False)
class Computed:
    """A case and all that was computed of it. Scores and weights stay with the attention, window by window."""

    case: Case
    attention: Attention
    verdicts: tuple[Verdict, ...] = ()
    """One for each expected matrix, in the order scores, weights, output."""
    forbidden: int = 0
    """How many cells of the scores the mask forbids, over all leading axes."""

    @property
    def holds(self) -> bool:
        """Whether everything the case expects holds."""
        return all(verdict.difference is None for verdict in self.verdicts)


def compute(case: Case, threads: int | None = None, executor: Executor | None = None) -> Computed:
    """Compute a case and verify what it expects.

    Parameters
    ----------
    case
        The case, as read from a file.
    threads, executor
        As in `sdpa_cli.attend`.

    Returns
    -------
    Computed

    Raises
    ------
    InputError
        As `Case.attend` does.
    """
    attention = case.attend(threads, executor)
    return Computed(case, attention, tuple(_verdicts(case, attention)), _forbidden_cells(attention))


def read(attention: Attention, name: Matrix, rows: Indices = slice(None), cols: Indices = slice(None)) -> NDArray[Any]:
    """A window of one matrix, ``(…, rows, columns)``, computed when it is asked for.

    Parameters
    ----------
    attention, name
        The matrix.
    rows, cols
        Which rows and columns, each a slice or a vector of 0-based indices.
    """
    if name == "output":
        return attention.output[..., rows, :][..., cols]
    window = attention.scores if name == "scores" else attention.weights
    return window(rows=rows, cols=cols)


def shape_of(attention: Attention, name: Matrix) -> tuple[int, ...]:
    """The shape ``(…, Tq, Tk)`` of scores and weights, or ``(…, Tq, d_v)`` of the output."""
    return attention.shapes["O" if name == "output" else "S"]


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut a matrix ``(…, rows, columns)`` into blocks of rows small enough to be held in memory.

    Examples
    --------
    >>> list(row_blocks((3, 1024, 1024)))[:2]
    [slice(0, 341, None), slice(341, 682, None)]
    """
    rows = shape[-2]
    step = max(1, BLOCK_CELLS * rows // max(1, math.prod(shape)))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def _verdicts(case: Case, attention: Attention) -> Iterator[Verdict]:
    if case.expect is None:
        return
    for name in MATRICES:
        expected = getattr(case.expect, name)
        if expected is not None:
            verdict = _verify(attention, name, expected, case.expect.tolerance)
            yield replace(verdict, hint=_hint(attention, verdict, expected))


def _verify(attention: Attention, name: Matrix, expected: NDArray[Any], tolerance: Tolerance) -> Verdict:
    """Compare block by block, and merge what was found as one comparison would have found it."""
    worst: Difference | None = None
    error = 0.0
    for rows in row_blocks(expected.shape):
        actual, wanted = read(attention, name, rows), np.asarray(expected[..., rows, :], np.float64)
        found = compare(actual, wanted, tolerance)
        error = max(error, _largest_error(actual, wanted))
        if found is not None:
            index = (*found.index[:-2], found.index[-2] + rows.start, found.index[-1])
            worst = _worse(worst, replace(found, index=index, total=expected.size))
    return Verdict(name, worst, error)


def _largest_error(actual: NDArray[Any], expected: NDArray[Any]) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(actual == expected, 0.0, np.abs(actual - expected))
    return float(np.nan_to_num(error, nan=np.inf, posinf=np.inf).max(initial=0.0))


def _worse(one: Difference | None, other: Difference) -> Difference:
    if one is None:
        return other
    worst = max(one, other, key=_excess)
    return replace(worst, count=one.count + other.count)


def _excess(difference: Difference) -> float:
    return float("inf") if np.isnan(difference.error) else difference.error - difference.limit


def _hint(attention: Attention, verdict: Verdict, expected: NDArray[Any]) -> str | None:
    """What the numbers themselves say about why they differ."""
    if verdict.difference is None:
        return None
    if verdict.name != "output" and (clash := _clash(attention, verdict.name, expected)) is not None:
        return clash
    decimals = _decimals(expected)
    # A shade more than half of the last decimal, for rounding in binary.
    if decimals is not None and verdict.error <= 0.5001 * 10.0**-decimals:
        return f"the expected values have {decimals} decimals; atol: {5 * 10.0 ** -(decimals + 1):.0e} allows for that"
    return None


def _clash(attention: Attention, name: Matrix, expected: NDArray[Any]) -> str | None:
    """The first cell where the expectation forbids what the mask allows, or the other way round."""
    for rows in row_blocks(expected.shape):
        part, forbidden = expected[..., rows, :], attention.forbidden(rows=rows)
        alive = part != 0 if name == "weights" else part > -np.inf
        clashes = forbidden & alive if name == "weights" else forbidden == alive
        if clashes.any():
            index = np.unravel_index(int(np.argmax(clashes)), clashes.shape)
            query, key = int(index[-2]) + rows.start + 1, int(index[-1]) + 1
            verb = "forbids" if forbidden[index] else "allows"
            what = f", so its {name[:-1]} is {'0' if name == 'weights' else '-inf'}" if forbidden[index] else ""
            return f"the mask {verb} key {key} to query {query}{what}; is the mask what you mean?"
    return None


def _decimals(values: NDArray[Any]) -> int | None:
    """With how many decimals (at most 8) the values were written; None where more are needed."""
    for decimals in range(1, 9):
        if all(
            np.array_equal(np.round(part, decimals), part)
            for part in (values[..., b, :] for b in row_blocks(values.shape))
        ):
            return decimals
    return None


def _forbidden_cells(attention: Attention) -> int:
    return math.prod(shape_of(attention, "scores")) - int(attention.live_counts().sum())
