"""Grids of cells set as aligned lines of Rich text, whose columns never shrink."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from sdpa_cli.views.excerpts import GAP, INDENT, Page, column_widths
from sdpa_cli.views.glyphs import flush_right, width
from sdpa_cli.views.matrices import Cell, Grid

HEADER = "bold"
QUIET = "dim"


def table_lines(grid: Grid, page: Page) -> Iterator[Text]:
    """One line for the column labels and one for each row.

    Parameters
    ----------
    grid
        The cells.
    page
        Its heat map shades the cells that have a share.
    """
    widths = column_widths(grid, page.heat)
    labels = max((width(row.label) for row in grid.rows), default=0)
    totals = max((width(row.total) for row in grid.rows), default=0)
    head = Text().append(flush_right(grid.corner if labels else "", INDENT + labels) + " " * GAP, style=QUIET)
    for label, cells in zip(grid.columns, widths, strict=True):
        head.append(_field(Cell(label), cells, page), style=HEADER)
    if totals:
        head.append(f" {page.glyphs.bar} ", style=QUIET).append(flush_right("sum", totals), style=HEADER)
    yield _trimmed(head)
    for row in grid.rows:
        line = Text(" " * INDENT).append(flush_right(row.label, labels), style=HEADER).append(" " * GAP)
        for cell, cells in zip(row.cells, widths, strict=True):
            line.append(_field(cell, cells, page), style=page.heat.style(cell.share))
        if totals:
            line.append(f" {page.glyphs.bar} ", style=QUIET).append(flush_right(row.total, totals), style=QUIET)
        yield _trimmed(line)


def _trimmed(line: Text) -> Text:
    line.rstrip()
    return line


def _field(cell: Cell, cells: int, page: Page) -> str:
    return flush_right(page.heat.text(cell.text, cell.share), cells - 1) + " "
