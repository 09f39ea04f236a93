"""The table form: a computed case as people read it in a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from sdpa_cli.computing import Computed, Matrix
from sdpa_cli.views.excerpts import INDENT, Page, Shown, excerpt, left_out, sections
from sdpa_cli.views.glyphs import glyphs_for
from sdpa_cli.views.heat import Heat, heat_for
from sdpa_cli.views.matrices import Grid
from sdpa_cli.views.numbers import brief
from sdpa_cli.views.summary import formula, place_words, summary, title
from sdpa_cli.views.tables import HEADER, QUIET, table_lines
from sdpa_cli.views.verification import verdict_lines
from sdpa_cli.views.wrapping import BETWEEN_PARTS, parts_in_lines

# What the name of a setting takes.
NAME_CELLS = 8
# What stands before a verdict, and before what explains it.
VERDICT_CELLS, DETAIL_CELLS = 2, 4


def page_for(console: Console) -> Page:
    """What a console can show."""
    glyphs = glyphs_for(console.encoding)
    return Page(console.width, glyphs, heat_for(None if console.no_color else console.color_system, glyphs))


def table_pieces(results: Iterable[Computed], shown: Shown, console: Console) -> Iterator[str]:
    """Each case as this console shows it, escape sequences and all.

    Parameters
    ----------
    results, shown
        What was computed, and what of it the reader asks for.
    console
        Its width, colours and encoding decide the look; nothing is written to it.
    """
    page = page_for(console)
    for number, result in enumerate(results):
        for line in itertools.chain([Text()] if number else [], case_lines(result, shown, page)):
            with console.capture() as capture:
                # Lines are set to the page already: Rich must neither wrap nor cut them.
                console.print(line, soft_wrap=True, highlight=False)
            yield capture.get()


def case_lines(computed: Computed, shown: Shown, page: Page) -> Iterator[Text]:
    """The lines of a computed case: title, summary, matrices, verdicts."""
    yield Text(title(computed, page.glyphs), style=HEADER)
    for name, words in summary(computed, page.glyphs):
        for k, line in enumerate(parts_in_lines(words, page.width - NAME_CELLS)):
            yield Text.assemble((f"{'' if k else name:<{NAME_CELLS}}", QUIET), line)
    for name, leading in sections(computed, shown):
        yield Text()
        yield from _matrix_lines(computed, name, leading, shown, page)
    if words := left_out(computed, shown):
        yield Text()
        yield Text(f"{page.glyphs.ellipsis} {words}", style=QUIET)
    if computed.verdicts:
        yield Text()
        yield from _verdicts(computed, page)


def _matrix_lines(
    computed: Computed, name: Matrix, leading: tuple[int, ...], shown: Shown, page: Page
) -> Iterator[Text]:
    page = page if name == "weights" else replace(page, heat=Heat())
    found = excerpt(computed, name, leading, shown, page)
    heading = Text.assemble((name, HEADER), f"  {formula(computed, name, page.glyphs)}")
    place = Text(", ".join(place_words(computed, name, leading)))
    yield from _beside([part for part in (heading, place, _legend(found.grids, page)) if part], page)
    for grid in found.grids:
        yield from table_lines(grid, page)
    if found.legend:
        yield Text(f"  {BETWEEN_PARTS.join(found.legend)}", style=QUIET)
    for words in found.hidden:
        yield Text(f"  {page.glyphs.ellipsis} {words}", style=QUIET)


def _beside(parts: list[Text], page: Page) -> Iterator[Text]:
    """Parts of a heading beside each other, as far as there is room, and then on lines of their own."""
    line, *others = parts
    for part in others:
        if line.cell_len + len(BETWEEN_PARTS) + part.cell_len > page.width:
            yield line
            line = Text(" " * INDENT).append_text(part)
        else:
            line = line.append(BETWEEN_PARTS).append_text(part)
    yield line


def _legend(grids: tuple[Grid, ...], page: Page) -> Text:
    """What the shades of a heat map mean."""
    if not page.heat.styles or not grids:
        return Text()
    legend = Text().append("0 ", style=QUIET)
    for style in page.heat.styles:
        legend.append("  ", style=style)
    return legend.append(f" {brief(grids[0].largest)}", style=QUIET)


def _verdicts(computed: Computed, page: Page) -> Iterator[Text]:
    for verdict in computed.verdicts:
        first, *others = verdict_lines(computed, verdict, page.glyphs)
        holds = verdict.difference is None
        sign = Text(page.glyphs.tick if holds else page.glyphs.cross, style="bold green" if holds else "bold red")
        for k, line in enumerate(parts_in_lines(first, page.width - VERDICT_CELLS)):
            yield sign.append(f" {line}", style="not bold default") if k == 0 else Text(f"{' ' * VERDICT_CELLS}{line}")
        for words in others:
            for line in parts_in_lines(words, page.width - DETAIL_CELLS):
                yield Text(f"{' ' * DETAIL_CELLS}{line}")
