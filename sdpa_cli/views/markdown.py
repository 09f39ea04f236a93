"""Markdown: the same excerpts as in the terminal, as tables to paste into a handout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sdpa_cli.computing import Computed
from sdpa_cli.views.excerpts import Page, Shown, excerpt, left_out, sections
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.heat import Heat
from sdpa_cli.views.matrices import Grid
from sdpa_cli.views.summary import formula, place_words, summary, title
from sdpa_cli.views.verification import verdict_lines

# A page of paper is as wide as a terminal of this many cells.
PAGE = Page(100, Glyphs("utf-8"), Heat())
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!~$&])")


def markdown_pieces(results: Iterable[Computed], shown: Shown) -> Iterator[str]:
    """One section for each case.

    Parameters
    ----------
    results, shown
        What was computed, and what of it the reader asks for.
    """
    for result in results:
        yield "".join(f"{line}\n" for line in _section(result, shown))


def _section(result: Computed, shown: Shown) -> Iterator[str]:
    yield from (f"## {_plain(title(result, PAGE.glyphs))}", "")
    yield from (f"- {name}: {_plain(words)}" for name, words in summary(result, PAGE.glyphs))
    for name, leading in sections(result, shown):
        found = excerpt(result, name, leading, shown, PAGE)
        place = "".join(f", {words}" for words in place_words(result, name, leading))
        yield from ("", f"**{name}**{place}: `{formula(result, name, PAGE.glyphs)}`")
        for grid in found.grids:
            yield ""
            yield from _table(grid)
        if found.legend:
            yield f"\n{'; '.join(found.legend)}"
        yield from (f"\n{PAGE.glyphs.ellipsis} {words}" for words in found.hidden)
    if words := left_out(result, shown):
        yield f"\n{PAGE.glyphs.ellipsis} {words}"
    if result.verdicts:
        yield ""
    for verdict in result.verdicts:
        sign = PAGE.glyphs.tick if verdict.difference is None else PAGE.glyphs.cross
        yield f"- {sign} {_plain('; '.join(verdict_lines(result, verdict, PAGE.glyphs)))}"
    yield ""


def _table(grid: Grid) -> Iterator[str]:
    totals = any(row.total for row in grid.rows)
    yield _line(_plain(grid.corner), [*map(_plain, grid.columns), *(["sum"] if totals else [])])
    yield _line("---", ["---:"] * (len(grid.columns) + totals))
    for row in grid.rows:
        cells = [_plain(cell.text) for cell in row.cells]
        yield _line(f"**{_plain(row.label)}**", [*cells, *([row.total] if totals else [])])


def _line(first: str, cells: list[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def _plain(text: str) -> str:
    """Text whose signs mean themselves in Markdown."""
    return MARKUP.sub(r"\\\1", text)
