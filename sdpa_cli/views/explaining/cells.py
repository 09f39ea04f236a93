"""The cells of a trace's matrix as text, in the language's notation: the same for every form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sdpa_cli.explaining.trace import Axis, Matrix
from sdpa_cli.views.explaining.notation import Notation
from sdpa_cli.views.numbers import decimals_for

Kind = Literal["live", "forbidden", "gap"]


@dataclass(frozen=True)
class WrittenCell:
    """One number as it is written."""

    text: str
    kind: Kind = "live"
    share: float | None = None
    """A weight's share of the largest shown; None where nothing is shaded."""
    exact: str = ""
    """The number at full precision."""
    marked: bool = False


@dataclass(frozen=True)
class Label:
    """The name of a row or a column: its number, counted from 1, and the case's own word for it."""

    number: int | None
    """None where something is left out."""
    token: str = ""


@dataclass(frozen=True)
class WrittenMatrix:
    """A matrix ready to be set, gaps included."""

    columns: tuple[Label, ...]
    rows: tuple[tuple[Label, tuple[WrittenCell, ...], str], ...]
    """Each row's label, cells and total; the total is empty where there is none."""
    totals: bool = False
    shaded: bool = False


GAP = WrittenCell("", "gap")


def written(matrix: Matrix, notation: Notation) -> WrittenMatrix:
    """Write a matrix.

    Parameters
    ----------
    matrix
        The part that is shown.
    notation
        How the language writes numbers.
    """
    values = np.asarray(matrix.values, np.float64)
    finite = np.isfinite(values)
    largest = float(np.abs(values).max(initial=0.0, where=finite))
    whole = bool((values[finite] == np.round(values[finite])).all()) and matrix.look == "plain"
    decimals = 0 if whole else decimals_for(largest, notation.decimals)
    cells = [
        [_cell(matrix, (a, b), notation, (decimals, largest)) for b in range(values.shape[1])]
        for a in range(values.shape[0])
    ]
    totals = ["" if matrix.totals is None else notation.fixed(float(t), notation.decimals) for t in _totals(matrix)]
    across = _gaps(matrix.cols)
    down = _gaps(matrix.rows)
    rows = [
        (label, tuple(_spread(row, across)), total)
        for label, row, total in zip(labels(matrix.rows), cells, totals, strict=True)
    ]
    columns = tuple(Label(None) if k is None else labels(matrix.cols)[k] for k in across)
    blank = (Label(None), tuple(GAP for _ in across), "")
    lines = tuple(blank if k is None else rows[k] for k in down)
    return WrittenMatrix(columns, lines, matrix.totals is not None, matrix.look == "shaded")


def labels(axis: Axis) -> list[Label]:
    """The names of the rows or columns shown."""
    return [Label(index + 1, "" if axis.labels is None else axis.labels[k]) for k, index in enumerate(axis.indices)]


def _cell(matrix: Matrix, at: tuple[int, int], notation: Notation, scale: tuple[int, float]) -> WrittenCell:
    decimals, largest = scale
    value, marked = float(matrix.values[at]), matrix.marked == at
    exact = repr(value).replace(".", notation.decimal)
    if matrix.forbidden is not None and matrix.forbidden[at]:
        return WrittenCell("·", "forbidden", None, "−∞" if math.isinf(value) else "0", marked)
    if matrix.look == "plain":
        return WrittenCell(notation.fixed(value, decimals), "live", None, exact, marked)
    # An allowed weight is never 0: e to the power of a finite score only underflowed.
    text = "~0" if value == 0 else notation.fixed(value, decimals)
    share = value / largest if math.isfinite(value) and largest > 0 else None
    return WrittenCell(text, "live", share, exact, marked)


def _totals(matrix: Matrix) -> list[float]:
    return [0.0] * len(matrix.rows.indices) if matrix.totals is None else [float(total) for total in matrix.totals]


def _gaps(axis: Axis) -> list[int | None]:
    """The places of the indices shown, and None where some are left out."""
    found: list[int | None] = []
    before = -1
    for k, index in enumerate(axis.indices):
        if index != before + 1 and (k > 0 or index > 0) and len(axis.indices) > 1:
            found.append(None)
        found.append(k)
        before = index
    return found


def _spread(row: list[WrittenCell], places: list[int | None]) -> list[WrittenCell]:
    return [GAP if k is None else row[k] for k in places]
