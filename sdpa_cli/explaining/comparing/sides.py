"""Two runs of one recipe book over the same inputs, and the first cell in which they part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.explaining.maths import QK, Maths, minus
from sdpa_cli.explaining.maths import maths as letter
from sdpa_cli.explaining.selecting import window
from sdpa_cli.explaining.trace import Axis, Bools, Matrix, Pair, Words
from sdpa_cli.explaining.walk import axis
from sdpa_cli.faults import Steps

Array = NDArray[np.float64]

NAMES: dict[str, Maths] = {
    "products": QK,
    "scores": letter("S"),
    "logits": letter("S"),
    "shifted": minus("S", "m"),
    "exponentials": letter("E"),
    "weights": letter("A"),
    "output": letter("O"),
}
"""What each step's matrix is called."""

_ATOL, _RTOL = 1e-12, 1e-9


@dataclass(frozen=True, eq=False)
class Sides:
    """A right and another computation of the same inputs."""

    inputs: Inputs
    right: Steps
    other: Steps
    titles: tuple[Words, Words]
    labels: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)
    """Of queries and keys."""


@dataclass(frozen=True)
class Parting:
    """Where the two first differ."""

    step: str
    index: tuple[int, ...]
    """``(b, h_kv, g, i, j)``, 0-based."""

    @property
    def head(self) -> tuple[int, ...]:
        """The head it is in."""
        return self.index[:3]

    @property
    def cell(self) -> tuple[int, int]:
        """The row and the column."""
        return self.index[3], self.index[4]


def parting(sides: Sides) -> Parting | None:
    """The first step and cell in which the two differ; None where they lead to the same weights and output.

    What the softmax cancels is no difference: another constant subtracted from a whole row, and the factor that the
    row's exponentials then have in common.
    """
    if all(_same(*_both(sides, name)).all() for name in ("weights", "output")):
        return None
    for name in Steps.names():
        right, other = _both(sides, name)
        same = _same(right, other)
        if name == "shifted":
            same |= _one_constant(right, other)
        if name == "exponentials":
            same |= _one_factor(right, other)
        if not same.all():
            return Parting(name, tuple(int(i) for i in np.argwhere(~same)[0]))
    return None


def pair(sides: Sides, step: str, where: Parting) -> Pair:
    """Both matrices of a step, about the cell in which they part."""
    marked = where.cell if step == where.step else None
    right, other = (_matrix(sides, step, where, values, marked) for values in _both(sides, step))
    return Pair(right, other, sides.titles)


def forbidden(sides: Sides) -> Bools:
    """Where the case forbids, in the shape of the scores."""
    found = sides.inputs.rule.forbidden(np.arange(sides.inputs.queries), np.arange(sides.inputs.keys))
    return np.broadcast_to(found, sides.right.weights.shape)


def _both(sides: Sides, step: str) -> tuple[Array, Array]:
    return getattr(sides.right, step), getattr(sides.other, step)


def _matrix(sides: Sides, step: str, where: Parting, values: Array, marked: tuple[int, int] | None) -> Matrix:
    i, j = where.cell
    of_keys = step != "output"
    rows = window(values.shape[-2], i)
    cols = window(values.shape[-1], j if marked is not None or (of_keys and where.step != "output") else None)
    here = values[where.head]
    hidden = _hidden(sides, step, where, here)
    return Matrix(
        NAMES[step],
        here[np.ix_(rows, cols)],
        axis("query", rows, values.shape[-2], sides.labels[0]),
        _columns(sides, cols, values.shape[-1], of_keys),
        forbidden=None if hidden is None else hidden[np.ix_(rows, cols)],
        look="shaded" if step == "weights" else "plain",
        totals=here[rows].sum(axis=-1) if step == "weights" else None,
        marked=None if marked is None else (int(np.flatnonzero(rows == i)[0]), int(np.flatnonzero(cols == j)[0])),
    )


def _hidden(sides: Sides, step: str, where: Parting, values: Array) -> Bools | None:
    """The cells to be drawn as forbidden: those that hold what a forbidden cell must; others are numbers to be seen."""
    dead = forbidden(sides)[where.head]
    if step in ("logits", "shifted"):
        return np.asarray(dead & np.isneginf(values))
    if step in ("exponentials", "weights"):
        masked = np.isneginf(sides.right.logits[where.head]) | np.isneginf(sides.other.logits[where.head])
        return np.asarray((dead | masked) & (values == 0))
    return None


def _columns(sides: Sides, cols: NDArray[np.intp], size: int, of_keys: bool) -> Axis:
    return axis("key", cols, size, sides.labels[1]) if of_keys else axis("component", cols, size)


def _same(right: Array, other: Array) -> Bools:
    """Which cells agree; NaN agrees with NaN, for it is the same outcome."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.isfinite(right) & (np.abs(right - other) <= _ATOL + _RTOL * np.abs(right))
    return np.asarray(near | (right == other) | (np.isnan(right) & np.isnan(other)))


def _one_constant(right: Array, other: Array) -> Bools:
    """Rows whose live cells differ by one number."""
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isneginf(right) & np.isneginf(other), np.nan, other - right)
        spread = np.nanmax(gap, axis=-1, initial=-np.inf) - np.nanmin(gap, axis=-1, initial=np.inf)
        level = np.abs(np.nan_to_num(gap)).max(axis=-1)
    finite = (np.isfinite(gap) | (np.isneginf(right) & np.isneginf(other))).all(axis=-1)
    return np.broadcast_to((finite & (spread <= 1e-9 * (1 + level)))[..., None], right.shape)


def _one_factor(right: Array, other: Array) -> Bools:
    """Rows whose cells differ by one factor, neither 0 nor infinite."""
    with np.errstate(all="ignore"):
        return _one_constant(np.log(right), np.log(other)) & np.isfinite(other).all(axis=-1, keepdims=True)
