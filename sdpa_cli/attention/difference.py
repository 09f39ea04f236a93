"""One tolerance and one comparison, for every place that asks whether two arrays agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Tolerance:
    """How far an actual value may lie from the expected one: ``atol + rtol * |expected|``."""

    atol: float = 1e-6
    rtol: float = 1e-6


@dataclass(frozen=True)
class Difference:
    """Where two arrays disagree most, relative to what was allowed there."""

    index: tuple[int, ...]
    """0-based index of the worst cell."""
    expected: float
    actual: float
    error: float
    """``|actual - expected|``; infinite or NaN where one of the two is."""
    limit: float
    """The error that was allowed at that cell."""
    count: int
    """How many cells disagree."""
    total: int
    """How many cells were compared."""


def compare(actual: ArrayLike, expected: ArrayLike, tolerance: Tolerance = Tolerance()) -> Difference | None:
    """Compare two arrays of one shape, cell by cell.

    A cell agrees when both values are the same infinity, or when the error is within the tolerance. NaN agrees with
    nothing, not even with NaN.

    Parameters
    ----------
    actual, expected
        Arrays of the same shape.
    tolerance
        What counts as equal.

    Returns
    -------
    Difference or None
        The worst disagreement, or None where the arrays agree.

    Raises
    ------
    ValueError
        If the shapes differ: whoever calls knows what they mean, and says so before.

    Examples
    --------
    >>> compare([1.0, 2.0], [1.0, 2.0])
    >>> compare([1.0, 2.5], [1.0, 2.0]).index
    (1,)
    """
    got, want = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    if got.shape != want.shape:
        raise ValueError(f"shapes {got.shape} and {want.shape} cannot be compared")
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(got == want, 0.0, np.abs(got - want))
        limit = np.where(np.isfinite(want), tolerance.atol + tolerance.rtol * np.abs(want), 0.0)
        # `not (error <= limit)`, rather than `error > limit`: a NaN must never pass.
        wrong = ~(error <= limit)
        if not wrong.any():
            return None
        excess = np.where(wrong, np.where(np.isnan(error), np.inf, error - limit), -np.inf)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
    return Difference(
        index=index,
        expected=float(want[index]),
        actual=float(got[index]),
        error=float(error[index]),
        limit=float(limit[index]),
        count=int(wrong.sum()),
        total=wrong.size,
    )
