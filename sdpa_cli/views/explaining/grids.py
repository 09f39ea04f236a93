"""Matrices and tables in a terminal: aligned, cut into panels where they are too wide, a marked cell in brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from sdpa_cli.explaining.trace import Matrix, Pair, Reasons, words
from sdpa_cli.views.excerpts import Page
from sdpa_cli.views.explaining.cells import Label, WrittenCell, WrittenMatrix, labels, written
from sdpa_cli.views.explaining.signs import fitted
from sdpa_cli.views.glyphs import flush_right, width
from sdpa_cli.views.heat import Heat
from sdpa_cli.views.tables import HEADER, QUIET
from sdpa_cli.views.windows import panels
from sdpa_cli.views.wrapping import in_lines, wrapped

if TYPE_CHECKING:
    from sdpa_cli.views.explaining.terminal import Setting

INDENT = "   "
TOKEN_CELLS = 12
BESIDE = 6
"""Spaces between two matrices that stand side by side."""


def matrix_lines(matrix: Matrix, setting: Setting) -> Iterator[Text]:
    """A matrix under its name."""
    name = setting.text(matrix.name)
    found = written(matrix, setting.voice.notation)
    for run in _panels(found, setting.page, name):
        yield from _lines(name, found, run, setting)


def pair_lines(pair: Pair, setting: Setting) -> Iterator[Text]:
    """Two matrices side by side, or one above the other where there is no room."""
    blocks = []
    for title, matrix in zip(pair.titles, (pair.right, pair.other), strict=True):
        found = written(matrix, setting.voice.notation)
        lines = [line for run in _panels(found, setting.page, "") for line in _lines("", found, run, setting)]
        blocks.append([Text(f"{INDENT}{setting.text(title)}", style=HEADER), *lines])
    left, right = blocks
    widest = max(width(line.plain) for line in left)
    if widest + BESIDE + max(width(line.plain) for line in right) > setting.page.width or len(left) != len(right):
        yield from left
        yield from right
        return
    for a, b in zip(left, right, strict=True):
        yield a.append(" " * (widest - width(a.plain) + BESIDE)).append_text(b)


def reason_lines(reasons: Reasons, setting: Setting) -> Iterator[Text]:
    """The mask drawn: for each cell the first letters of the rules that forbid it, and what they stand for."""
    tick = setting.page.glyphs.tick
    names = {name: setting.text(words(f"reason.{name}")) for row in reasons.cells for cell in row for name in cell}
    found = WrittenMatrix(
        tuple(labels(reasons.cols)),
        tuple(
            (label, tuple(WrittenCell("".join(names[name][0] for name in cell) or tick) for cell in row), "")
            for label, row in zip(labels(reasons.rows), reasons.cells, strict=True)
        ),
    )
    for run in _panels(found, setting.page, "M"):
        yield from _lines("M", found, run, setting)
    legend = [f"{name[0]} {name}" for name in names.values()] + [f"{tick} {setting.text(words('page.allowed'))}"]
    for line in in_lines(legend, setting.room - 2):
        yield Text(f"{INDENT}  {line}", style=QUIET)


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Iterator[Text]:
    """A table, its columns flush right under their names; each row a list of its own where that is too wide."""
    widths = [max(width(text) for text in column) for column in zip(columns, *rows, strict=True)]
    gap = next((gap for gap in (3, 2) if len(INDENT) + 2 + sum(widths) + gap * (len(widths) - 1) <= room), 0)
    if not gap:
        yield from _records(columns, rows, room - len(INDENT) - 4)
        return
    for k, row in enumerate([columns, *rows]):
        cells = (flush_right(text, cells) for text, cells in zip(row, widths, strict=True))
        yield Text(f"{INDENT}  {(' ' * gap).join(cells)}", style=HEADER if k == 0 else "")


def _records(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Iterator[Text]:
    names = max(map(width, columns))
    for k, row in enumerate(rows):
        if k:
            yield Text()
        for name, text in zip(columns, row, strict=True):
            for n, line in enumerate(wrapped(text, max(16, room - names))):
                lead = name if n == 0 else ""
                lead = f"{INDENT}  {lead}{' ' * (names - width(lead))}  "
                yield Text(lead, style=QUIET).append(line, style="not dim")


def _panels(found: WrittenMatrix, page: Page, name: str) -> list[Sequence[int]]:
    widths = _widths(found, page if found.shaded else replace(page, heat=Heat()))
    return panels(
        widths, page.width - max(_label_cells(found, page), width(name)) - len(INDENT) - (12 if found.totals else 0)
    )


def _lines(name: str, found: WrittenMatrix, run: Sequence[int], setting: Setting) -> Iterator[Text]:
    page = setting.page
    if not found.shaded:
        page = replace(page, heat=Heat())
    widths, margin = _widths(found, page), _label_cells(found, page)
    margin = max(margin, width(name))
    totals = max([width(total) for _, _, total in found.rows] + [width(setting.text(words("page.sum")))])
    head = Text(f"{INDENT}{name}{' ' * (margin - width(name))}", style=HEADER)
    for k in run:
        head.append(flush_right(_label(found.columns[k], page), widths[k] - 1) + " ")
    if found.totals:
        head.append(f" {page.glyphs.bar} ").append(flush_right(setting.text(words("page.sum")), totals))
    yield _trimmed(head)
    for label, cells, total in found.rows:
        line = Text(INDENT).append(flush_right(_label(label, page), margin), style=HEADER)
        for k in run:
            line.append(_field(cells[k], widths[k], page), style=page.heat.style(cells[k].share))
        if found.totals:
            line.append(f" {page.glyphs.bar} ", style=QUIET).append(flush_right(total, totals), style=QUIET)
        yield _trimmed(line)


def _label(label: Label, page: Page) -> str:
    if label.number is None:
        return page.glyphs.ellipsis
    return f"{label.number} {page.glyphs.shown(label.token, TOKEN_CELLS)}".rstrip()


def _label_cells(found: WrittenMatrix, page: Page) -> int:
    return max(width(_label(label, page)) for label, _, _ in found.rows)


def _widths(found: WrittenMatrix, page: Page) -> list[int]:
    """The cells that each column takes: a blank or a bracket on either side of its text."""
    return [
        2 + max([width(_label(label, page)), *(width(_text(row[k], page)) for _, row, _ in found.rows)])
        for k, label in enumerate(found.columns)
    ]


def _text(cell: WrittenCell, page: Page) -> str:
    if cell.kind != "live":
        return page.glyphs.forbidden if cell.kind == "forbidden" else page.glyphs.ellipsis
    return page.heat.text(fitted(cell.text, page.glyphs.encoding), cell.share)


def _field(cell: WrittenCell, cells: int, page: Page) -> str:
    text = _text(cell, page)
    return flush_right(f"[{text}]" if cell.marked else f"{text} ", cells)


def _trimmed(line: Text) -> Text:
    line.rstrip()
    return line
