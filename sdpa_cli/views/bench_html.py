"""A benchmark report as one self-contained page, for light and dark screens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

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
from sdpa_cli.views.bench_svg import svg
from sdpa_cli.views.pages import page

_TITLE = "What attention costs on this machine"
# Okabe and Ito's palette, told apart with any colour vision; two of its colours are lightened on a dark page.
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1b1b1b; --quiet: #666; --rule: #ddd;
  --c0: #0072b2; --c1: #d55e00; --c2: #7a7a7a; --c3: #009e73; --c4: #b0588f; --c5: #b8860b; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --text: #e8e8e8; --quiet: #a0a0a0; --rule: #3a3d42;
  --c0: #56b4e9; --c1: #ff8c3b; --c2: #b0b0b0; --c3: #2fc99a; --c4: #e08bbd; --c5: #e6c229; } }
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 1200px;
  margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 10px; text-align: left; } thead th { border-bottom: 1px solid var(--rule); }
tbody th { padding-top: 10px; } tbody th span { color: var(--quiet); font-weight: normal; }
td.n, th.n { text-align: right; } tr.streaming td { font-weight: 600; } tr.not-ok td, .quiet { color: var(--quiet); }
.wide { overflow-x: auto; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 14px; }
dt { color: var(--quiet); } dd { margin: 0; }
.charts { display: flex; flex-wrap: wrap; gap: 16px; } figure { margin: 0; flex: 1 1 420px; max-width: 620px; }
svg { width: 100%; height: auto; } svg text { fill: var(--quiet); font-size: 12px; }
.grid { stroke: var(--rule); stroke-width: 1; } polyline { fill: none; stroke-width: 2; }
""" + "".join(
    f".c{n} polyline {{ stroke: var(--c{n}); }} .c{n} circle, .c{n} text {{ fill: var(--c{n}); }}\n" for n in range(6)
)
_PALETTE = 6
_FIGURES = ("engine", *COLUMNS)


def html_text(report: Report) -> str:
    """The page. It loads nothing, and what engines say about themselves is escaped."""
    return page(_TITLE, "en", _STYLE, "\n".join(_body(report)) + "\n")


def _body(report: Report) -> Iterator[str]:
    yield f"<h1>{_TITLE}</h1>"
    yield "<dl>"
    for label, words in circumstances(report):
        yield f"<dt>{label}</dt><dd>{escape(words)}</dd>"
    yield "</dl>"
    yield from _charts(report)
    if report.summaries:
        yield "<h2>Time over another's time</h2>"
        yield from _table(SUMMARY_COLUMNS, [_row(SUMMARY_COLUMNS, summary_cells(one)) for one in report.summaries])
    if report.slopes:
        yield "<h2>How cost grows with T</h2>"
        yield from _table(SLOPE_COLUMNS, [_row(SLOPE_COLUMNS, slope_cells(slope)) for slope in report.slopes])
    yield "<h2>All figures</h2>"
    yield from _table(_FIGURES, list(_figures(report)))
    yield f'<p class="quiet">{escape(CAPTION)}</p>'
    yield f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in notes(report))}</ul>"


def _charts(report: Report) -> Iterator[str]:
    engines = dict.fromkeys(row.measurement.engine for row in report.rows)
    colours = {engine: f"c{number % _PALETTE}" for number, engine in enumerate(engines)}
    yield '<div class="charts">'
    for chart in charts(report):
        yield f"<figure><figcaption>{escape(chart.title)}</figcaption>{svg(chart, colours)}</figure>"
    yield "</div>"


def _figures(report: Report) -> Iterator[str]:
    for workload, rows in by_workload(report.rows):
        heading = f"{escape(workload.name)} <span>{escape(shape_words(workload))}</span>"
        yield f'<tr><th colspan="{len(_FIGURES)}">{heading}</th></tr>'
        yield from (_figure(row) for row in rows)


def _figure(row: Row) -> str:
    found = row.measurement
    style = "not-ok" if found.status is not Status.OK else escape(found.engine)
    reason = f' title="{escape(found.reason)}"' if found.reason else ""
    return _row(_FIGURES, (found.engine, *cells(row)), f' class="{style}"{reason}')


def _table(columns: Sequence[str], rows: Sequence[str]) -> Iterator[str]:
    yield f'<div class="wide"><table><thead>{_row(columns, columns, tag="th")}</thead><tbody>'
    yield from rows
    yield "</tbody></table></div>"


def _row(columns: Sequence[str], values: Sequence[str], attributes: str = "", tag: str = "td") -> str:
    sides = ["n" if column in NUMERIC else "t" for column in columns]
    written = (f'<{tag} class="{side}">{escape(value)}</{tag}>' for side, value in zip(sides, values, strict=True))
    return f"<tr{attributes}>{''.join(written)}</tr>"
