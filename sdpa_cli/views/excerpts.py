"""The part of a matrix that there is room for, as grids of cells, and what is left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdpa_cli.computing import Computed, Matrix, shape_of
from sdpa_cli.views.glyphs import Glyphs, width
from sdpa_cli.views.heat import Heat
from sdpa_cli.views.matrices import Cell, Grid, Part, Row, written
from sdpa_cli.views.numbers import only
from sdpa_cli.views.windows import Selection, Visible, columns_that_fit, middle_hidden, panels

# More rows than this are shown only when asked for.
ROWS = 16
# Of more batch entries or heads than this, only the first and last are shown.
HEADS = 4
# Cells before and after the row label.
INDENT, GAP = 2, 1
# A space on each side: neighbouring cells of the heat map touch, their numbers do not.
CELL_PADDING = 2


@dataclass(frozen=True)
class Shown:
    """What a reader wants to see of a result."""

    matrices: tuple[Matrix, ...] = ("scores", "weights", "output")
    rows: Selection | None = None
    cols: Selection | None = None
    precision: int | None = None


@dataclass(frozen=True)
class Page:
    """Where it will be seen."""

    width: int
    glyphs: Glyphs
    heat: Heat


@dataclass(frozen=True)
class Excerpt:
    """What is shown of one matrix: one grid, or several where the columns asked for do not fit beside each other."""

    grids: tuple[Grid, ...]
    hidden: tuple[str, ...]
    """What is left out, each with the option that shows it."""


def excerpt(computed: Computed, name: Matrix, leading: tuple[int, ...], shown: Shown, page: Page) -> Excerpt:
    """The visible part of a matrix.

    Parameters
    ----------
    computed, name, leading
        The matrix: ``name`` at one index of the leading axes.
    shown
        What the reader asks for.
    page
        What there is room for.
    """
    *_, height, breadth = shape_of(computed.attention, name)
    rows = middle_hidden(height, ROWS) if shown.rows is None else Visible(shown.rows.within(height))
    # No column is narrower than three cells, so the page cannot hold more of them than this.
    near = middle_hidden(breadth, page.width // 3) if shown.cols is None else Visible(shown.cols.within(breadth))
    if breadth and not near.indices:
        return Excerpt((), (only(breadth, "column"),))
    grid = written(computed, Part(name, leading, rows.indices, near.indices), shown.precision, page.glyphs)
    available = page.width - margin(grid, page.glyphs)
    widths = column_widths(grid, page.heat)
    if shown.cols is not None:
        runs = panels(widths, available)
        cols = near
    else:
        fitting = columns_that_fit(widths, breadth, available, width(page.glyphs.ellipsis) + CELL_PADDING)
        runs = [middle_hidden(len(widths), fitting).indices]
        cols = middle_hidden(breadth, fitting)
    grids = tuple(_with_ellipses(_pick(grid, run), rows.gap, cols.gap, page.glyphs) for run in runs)
    return Excerpt(grids, (*_hidden("row", "--rows", rows, height), *_hidden("column", "--cols", cols, breadth)))


def shown_heads(computed: Computed) -> tuple[list[tuple[int, ...]], str]:
    """The leading indices that are shown, and in words those that are not."""
    sizes = shape_of(computed.attention, "output")[:-2]
    every = list(itertools.product(*map(range, sizes)))
    visible = middle_hidden(len(every), HEADS)
    if not visible.hidden:
        return every, ""
    kind = "heads" if len(sizes) == 2 else "batch entries"
    words = f"{len(visible.hidden)} of {len(every)} {kind} not shown: --format json has them all"
    return [every[i] for i in visible.indices], words


def margin(grid: Grid, glyphs: Glyphs) -> int:
    """The cells of a line that are not columns: the indent, the label and the row sum."""
    labels = max((width(row.label) for row in grid.rows), default=0)
    totals = max((width(row.total) for row in grid.rows), default=0)
    return INDENT + labels + GAP + (len(f" {glyphs.bar} ") + totals if totals else 0)


def column_widths(grid: Grid, heat: Heat) -> list[int]:
    """The cells that each column takes, its padding included."""
    return [
        CELL_PADDING
        + max([width(label), *(width(heat.text(row.cells[j].text, row.cells[j].share)) for row in grid.rows)])
        for j, label in enumerate(grid.columns)
    ]


def _pick(grid: Grid, columns: Sequence[int]) -> Grid:
    rows = tuple(replace(row, cells=tuple(row.cells[j] for j in columns)) for row in grid.rows)
    return replace(grid, columns=tuple(grid.columns[j] for j in columns), rows=rows)


def _with_ellipses(grid: Grid, row_gap: int | None, column_gap: int | None, glyphs: Glyphs) -> Grid:
    if column_gap is not None:
        sign = Cell(glyphs.ellipsis)
        rows = tuple(replace(row, cells=(*row.cells[:column_gap], sign, *row.cells[column_gap:])) for row in grid.rows)
        columns = (*grid.columns[:column_gap], glyphs.ellipsis, *grid.columns[column_gap:])
        grid = replace(grid, rows=rows, columns=columns)
    if row_gap is not None:
        between = Row(glyphs.ellipsis, (Cell(glyphs.ellipsis),) * len(grid.columns))
        grid = replace(grid, rows=(*grid.rows[:row_gap], between, *grid.rows[row_gap:]))
    return grid


def _hidden(what: str, option: str, visible: Visible, size: int) -> Iterator[str]:
    first, last = visible.hidden.start + 1, visible.hidden.stop
    if first == last:
        yield f"{what} {first} of {size} is hidden; {option} {first} shows it"
    elif first < last:
        yield f"{what}s {first} to {last} of {size} are hidden; {option} {first}:{last} shows them"
