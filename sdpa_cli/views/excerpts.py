"""The part of a matrix that there is room for, as grids of cells, and what is left out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdpa_cli.computing import Computed, Matrix, axes_of, deciding_axes, shape_of
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

    matrices: tuple[Matrix, ...] = ("scores", "weights", "heads", "concatenated", "output")
    """Of these, those that a result has."""
    rows: Selection | None = None
    cols: Selection | None = None
    precision: int | None = None
    heads: Selection | None = None

    def of(self, computed: Computed) -> tuple[Matrix, ...]:
        """The matrices to be shown of a result, in the order of its computation."""
        return tuple(name for name in computed.matrices if name in self.matrices)

    def leading(self, computed: Computed, name: Matrix) -> list[Sequence[int]]:
        """For each leading axis of a matrix, the indices to be shown."""
        axes = zip(axes_of(computed, name), shape_of(computed, name), strict=False)
        return [
            self.heads.within(size) if axis == "head" and self.heads is not None else range(size) for axis, size in axes
        ]


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

    @property
    def legend(self) -> tuple[str, ...]:
        """What the signs in the cells stand for."""
        return self.grids[0].legend if self.grids else ()


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
    *_, height, breadth = shape_of(computed, name)
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
        gap = CELL_PADDING + width(page.heat.text(page.glyphs.ellipsis, None))
        fitting = columns_that_fit(widths, breadth, available, gap)
        runs = [middle_hidden(len(widths), fitting).indices]
        cols = middle_hidden(breadth, fitting)
    grids = tuple(_with_ellipses(_pick(grid, run), rows.gap, cols.gap, page.glyphs) for run in runs)
    return Excerpt(grids, (*_hidden("row", "--rows", rows, height), *_hidden("column", "--cols", cols, breadth)))


def sections(computed: Computed, shown: Shown) -> Iterator[tuple[Matrix, tuple[int, ...]]]:
    """The matrices that are shown, head by head, each with an index of its leading axes."""
    for group in _groups(computed, shown):
        deciding = {name: deciding_axes(computed, name) for name in group}
        drawn = set()
        for leading, name in itertools.product(_visible(_choices(computed, shown, group), shown)[0], group):
            # Heads that share their mask share its picture.
            picture = name, *(leading[axis] for axis in deciding[name])
            if picture not in drawn:
                yield name, leading
            drawn.add(picture)


def left_out(computed: Computed, shown: Shown) -> str:
    """In words, the heads that are not shown for want of room."""
    for group in _groups(computed, shown):
        choices = _choices(computed, shown, group)
        visible, hidden = _visible(choices, shown)
        if hidden:
            several = {axis for axis, indices in zip(axes_of(computed, group[0]), choices, strict=True) if indices[1:]}
            kind = "heads" if "head" in several else "batch entries"
            return f"{hidden} of {len(visible) + hidden} {kind} not shown: --format json has them all"
    return ""


def _groups(computed: Computed, shown: Shown) -> list[list[Matrix]]:
    """The matrices that are shown: those of each head, which stand together, and those of all heads."""
    names = shown.of(computed)
    per_head = [name for name in names if axes_of(computed, name) == axes_of(computed, "scores")]
    return [group for group in (per_head, [name for name in names if name not in per_head]) if group]


def _choices(computed: Computed, shown: Shown, group: list[Matrix]) -> list[Sequence[int]]:
    """For each leading axis of a group, the indices that there is something to show of."""
    deciding = {axis for name in group for axis in deciding_axes(computed, name)}
    choices = enumerate(shown.leading(computed, group[0]))
    return [indices if axis in deciding else indices[:1] for axis, indices in choices]


def _visible(choices: list[Sequence[int]], shown: Shown) -> tuple[list[tuple[int, ...]], int]:
    every = list(itertools.product(*choices))
    visible = Visible(tuple(range(len(every)))) if shown.heads is not None else middle_hidden(len(every), HEADS)
    return [every[i] for i in visible.indices], len(visible.hidden)


def margin(grid: Grid, glyphs: Glyphs) -> int:
    """The cells of a line that are not columns: the indent, the label and the row sum."""
    labels = max((width(row.label) for row in grid.rows), default=0)
    totals = max((width(row.total) for row in grid.rows), default=0)
    return INDENT + labels + GAP + (len(f" {glyphs.bar} ") + totals if totals else 0)


def column_widths(grid: Grid, heat: Heat) -> list[int]:
    """The cells that each column takes, its padding included."""
    return [
        CELL_PADDING + max(width(heat.text(cell.text, cell.share)) for cell in (Cell(label), *cells))
        for label, cells in zip(grid.columns, _columns(grid), strict=True)
    ]


def _columns(grid: Grid) -> Iterator[tuple[Cell, ...]]:
    return (tuple(row.cells[j] for row in grid.rows) for j in range(len(grid.columns)))


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
