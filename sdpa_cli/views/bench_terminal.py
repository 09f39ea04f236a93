"""A benchmark report in a terminal: the table, the charts, the exponents, and what to know about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from sdpa_cli.benchmarking.report import Report, Row, Status
from sdpa_cli.views.bench_cells import (
    CAPTION,
    COLUMNS,
    NUMERIC,
    SLOPE_COLUMNS,
    SUMMARY_COLUMNS,
    by_workload,
    cells,
    charts,
    circumstances,
    notes,
    shape_words,
    slope_cells,
    summary_cells,
)
from sdpa_cli.views.bench_plot import plot_lines
from sdpa_cli.views.glyphs import glyphs_for

_CHARTS = 2
"""How many a terminal shows: time and memory of the first series. The HTML form has them all."""
_OURS = "streaming"
_WIDTHS = (12, 11, 8, 8, 11, 7, 13)
"""Of the engine's name and of each figure."""


def table_text(report: Report, console: Console) -> str:
    """The report as this console shows it, escape sequences and all; nothing is written to it."""
    glyphs = glyphs_for(console.encoding)
    with console.capture() as capture:
        for part in _parts(report, console.width):
            console.print(part, highlight=False, markup=False)
    text = capture.get()
    trimmed = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return trimmed.encode(glyphs.encoding, "replace").decode(glyphs.encoding)


def _parts(report: Report, width: int) -> Iterator[RenderableType]:
    for label, words in circumstances(report):
        yield Text.assemble((f"{label:<14}", "dim"), words)
    for workload, rows in by_workload(report.rows):
        yield Text.assemble("\n", (workload.name, "bold"), f"  {shape_words(workload)}")
        yield _figures(rows)
    yield Text(f"\n{CAPTION}", style="dim")
    for chart in charts(report)[:_CHARTS]:
        yield ""
        yield from plot_lines(chart, width)
    if report.slopes:
        yield _table("How cost grows with T", SLOPE_COLUMNS, map(slope_cells, report.slopes))
    if report.summaries:
        yield _table("Time over another's time", SUMMARY_COLUMNS, map(summary_cells, report.summaries))
    yield ""
    for words in notes(report):
        yield Text(words, style="yellow")


def _figures(rows: Sequence[Row]) -> Table:
    """One workload. Widths are fixed, so that all workloads stand under one another."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for column, cells_wide in zip(("engine", *COLUMNS), _WIDTHS, strict=True):
        table.add_column(column, justify="left" if column == "engine" else "right", width=cells_wide, no_wrap=True)
    for row in rows:
        found = row.measurement
        style = "bold" if found.engine == _OURS else "" if found.status is Status.OK else "yellow"
        table.add_row(found.engine, *cells(row), style=style)
    return table


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(
        box=None, padding=(0, 1, 0, 0), header_style="dim", title=f"\n{title}", title_style="bold", title_justify="left"
    )
    for column in columns:
        table.add_column(column, no_wrap=True, justify="right" if column in NUMERIC else "left")
    for row in rows:
        table.add_row(*row)
    return table
