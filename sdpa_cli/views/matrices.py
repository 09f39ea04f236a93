"""The cells of a matrix as text: what each holds, how its number is written, and how strongly it is shaded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from sdpa_cli.computing import Computed, Matrix, window
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.numbers import cell_text, decimals_for

ROW_LABEL_CELLS = 16
COLUMN_LABEL_CELLS = 12
CORNER = "q\\k"
"""Queries below, keys beside: no wider than the indent and the label of a single digit."""
REASONS = {
    "causal": "causal",
    "window": "window",
    "padding": "padding",
    "given": "given",
    "segment": "another document",
    "sparse": "sparse",
}
"""What forbids a key, in words; their first letters are its signs."""


@dataclass(frozen=True)
class Cell:
    """One number as it is written."""

    text: str
    share: float | None = None
    """A weight's share of the largest weight shown; None where nothing is to be shaded."""


@dataclass(frozen=True)
class Row:
    """One row: its label, its cells, and what its weights sum to."""

    label: str
    cells: tuple[Cell, ...]
    total: str = ""


@dataclass(frozen=True)
class Grid:
    """Some rows and columns of one matrix, written out."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    largest: float = 0.0
    """The largest absolute value among them."""
    corner: str = ""
    """What rows and columns stand for, where they would look alike."""
    legend: tuple[str, ...] = ()
    """What the signs in its cells stand for."""


@dataclass(frozen=True)
class Part:
    """Which part of which matrix: ``name`` at one index of the leading axes, at some rows and columns (0-based)."""

    name: Matrix
    leading: tuple[int, ...]
    rows: tuple[int, ...]
    cols: tuple[int, ...]


def written(computed: Computed, part: Part, precision: int | None, glyphs: Glyphs) -> Grid:
    """Read a part of a matrix and write its numbers; nothing else of scores or weights is computed.

    Parameters
    ----------
    computed, part
        What to read.
    precision
        Digits after the point; None is as many as these numbers need.
    glyphs
        The signs for forbidden cells, and what labels may hold.
    """
    rows, cols = np.array(part.rows, np.intp), np.array(part.cols, np.intp)
    if part.name == "mask":
        return _drawn(computed, part, glyphs)
    values = window(computed, part.name, part.leading)(rows, cols)
    forbidden = np.zeros(values.shape, np.bool_)
    totals = [""] * len(rows)
    largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
    decimals = decimals_for(largest) if precision is None else precision
    if part.name in ("scores", "weights"):
        forbidden = window(computed, "mask", part.leading)(rows, cols)
    if part.name == "weights":
        sums = computed.attention.at(*part.leading).row_sums(rows=rows)
        totals = [cell_text(float(total), 4 if precision is None else precision) for total in sums]
        write = partial(_weight, largest=largest, decimals=decimals)
    else:
        write = partial(_number, decimals=decimals)
    dead = Cell(glyphs.forbidden)
    cells = [
        tuple(dead if no else write(float(value)) for value, no in zip(line, off, strict=True))
        for line, off in zip(values, forbidden, strict=True)
    ]
    labels = [_label(computed.case.query_labels, i, ROW_LABEL_CELLS, glyphs) for i in part.rows]
    return Grid(_column_labels(computed, part, glyphs), tuple(map(Row, labels, cells, totals)), largest, _corner(part))


def _drawn(computed: Computed, part: Part, glyphs: Glyphs) -> Grid:
    """The mask as a picture: the signs of all that forbids a key to a query, and a tick where it is allowed."""
    reasons = computed.attention.at(*part.leading).reasons(np.array(part.rows, np.intp), np.array(part.cols, np.intp))
    used = {REASONS[name]: cells for name, cells in reasons.items() if cells.any()}
    rows = []
    for i, row in enumerate(part.rows):
        why = ["".join(name[0] for name, cells in used.items() if cells[i, j]) for j in range(len(part.cols))]
        label = _label(computed.case.query_labels, row, ROW_LABEL_CELLS, glyphs)
        rows.append(Row(label, tuple(Cell(signs or glyphs.tick) for signs in why)))
    legend = tuple(f"{name[0]} {name}" for name in used)
    return Grid(_column_labels(computed, part, glyphs), tuple(rows), corner=_corner(part), legend=legend)


def _number(value: float, decimals: int) -> Cell:
    return Cell(cell_text(value, decimals))


def _weight(value: float, largest: float, decimals: int) -> Cell:
    # An allowed weight is never 0: e to the power of a finite score only underflowed.
    text = "~0" if value == 0 else cell_text(value, decimals)
    return Cell(text, value / largest if math.isfinite(value) and largest > 0 else None)


def _label(labels: tuple[str, ...] | None, index: int, limit: int, glyphs: Glyphs) -> str:
    return str(index + 1) if labels is None else glyphs.shown(labels[index], limit)


def _corner(part: Part) -> str:
    return CORNER if part.name in ("mask", "scores", "weights") else ""


def _column_labels(computed: Computed, part: Part, glyphs: Glyphs) -> tuple[str, ...]:
    labels = computed.case.key_labels if part.name in ("mask", "scores", "weights") else None
    return tuple(_label(labels, j, COLUMN_LABEL_CELLS, glyphs) for j in part.cols)
