"""A graded class in the terminal: standings, points, what failed most, which faults, and who needs a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text

from sdpa_cli.classroom.results import ClassResult, Standing
from sdpa_cli.classroom.saying import class_speaker, heading, reasons_to_look, standing_words
from sdpa_cli.classroom.summary import Summary, summary
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.platforms import resembles_a_platform_s
from sdpa_cli.views.excerpts import Page
from sdpa_cli.views.tables import HEADER, QUIET
from sdpa_cli.views.terminal import page_for
from sdpa_cli.views.wrapping import parts_in_lines

_MOST = 8
_LABEL = 40
_STYLES = {
    Standing.GRADED: "green",
    Standing.MISSING: QUIET,
    Standing.UNREADABLE: "red",
    Standing.ATTENTION: "yellow",
    Standing.ERROR: "magenta",
}


def class_text(found: ClassResult, written: Path, language: str, stream: TextIO) -> str:
    """The class as the stream can show it.

    Parameters
    ----------
    found
        The class.
    written
        Where the reports are.
    language
        In which to speak.
    stream
        Where it will go: its kind decides colours, width and signs.
    """
    console = Console(file=stream)
    speaker = class_speaker(language, found.exercise)
    with console.capture() as capture:
        for one in _lines(found, summary(found), speaker, page_for(console)):
            console.print(one, soft_wrap=True, highlight=False)
        console.print(Text(speaker("terminal.written", path=written)), soft_wrap=True, highlight=False)
    return capture.get()


def _lines(found: ClassResult, figures: Summary, speaker: Speaker, page: Page) -> Iterator[Text]:
    yield Text(page.glyphs.shown(speaker("page.title", exercise=heading(speaker, found.exercise))), style=HEADER)
    yield Text(page.glyphs.shown(speaker("page.facts", sandbox=found.sandbox, versions=found.versions)), style=QUIET)
    hidden = sum(check.points for check in found.exercise.checks if check.visibility == "hidden")
    if hidden and not found.hidden_cases:
        yield Text(speaker("terminal.hidden", points=hidden, possible=found.max_points))
    yield from _of_the_list(found, speaker, page)
    handed_in = [one for one in found.results if one.place]
    if len(handed_in) > 1 and all(one.has_another_name for one in handed_in):
        yield from _hanging("", speaker("terminal.other-names", exercise=found.exercise.name), page, 0)
    yield Text()
    for standing, count in figures.standings.items():
        if count:
            yield Text.assemble((f"{count:5d} ", _STYLES[standing]), standing_words(standing, speaker, count))
    if figures.mean is not None and figures.median is not None:
        mean, middle = round(figures.mean, 2), round(figures.median, 2)
        key = "page.mean-bonus" if found.has_bonus else "page.mean"
        yield Text(f"      {speaker(key, mean=mean, median=middle, possible=found.max_points)}")
        yield from _distribution(figures, speaker, page)
    failing = sorted((one for one in figures.checks if one.failed), key=lambda one: -one.failed)
    rows = [(one.failed, page.glyphs.shown(speaker.title(one.check))) for one in failing]
    yield from _section(speaker("page.checks"), rows, speaker, page)
    yield from _section(speaker("page.faults"), [(len(who), name) for name, who in figures.faults], speaker, page)
    yield from _people(found, figures, speaker, page)
    if found.alike:
        groups = [(len(group), _names(found, group, page)) for group in found.alike]
        yield from _section(speaker("page.alike"), groups, speaker, page)
    yield Text()


def _of_the_list(found: ClassResult, speaker: Speaker, page: Page) -> Iterator[Text]:
    """What was not understood of the class list, where more may have been meant than was taken from it."""
    if found.roster is None:
        return
    if found.roster.unread and not any(student.ids for student in found.roster.students):
        columns = page.glyphs.shown(", ".join(found.roster.unread))
        yield from _hanging("", speaker("terminal.names-only", columns=columns), page, 0)
    if resembles_a_platform_s(found.roster):
        yield from _hanging("", speaker("terminal.own-list"), page, 0)


def _distribution(figures: Summary, speaker: Speaker, page: Page) -> Iterator[Text]:
    """A bar a bin, as long as it has students."""
    yield Text()
    yield Text(speaker("page.distribution"), style=HEADER)
    most = max(one.count for one in figures.bins)
    for one in figures.bins:
        length = 0 if not most else round(_LABEL * one.count / most) or int(one.count > 0)
        mark = page.glyphs.levels[-1] if page.glyphs.levels else "#"
        yield Text.assemble(
            f"  {speaker.number(round(one.low, 1)):>6}  ", (mark * length, "blue"), f" {one.count or ''}"
        )


def _section(title: str, rows: list[tuple[int, str]], speaker: Speaker, page: Page) -> Iterator[Text]:
    if not rows:
        return
    yield Text()
    yield Text(title, style=HEADER)
    for count, words in rows[:_MOST]:
        yield from _hanging(f"{count:5d} ", words, page, 6)
    if len(rows) > _MOST:
        yield Text(f"      {speaker('terminal.more', count=len(rows) - _MOST)}", style=QUIET)


def _people(found: ClassResult, figures: Summary, speaker: Speaker, page: Page) -> Iterator[Text]:
    if not figures.for_a_person:
        return
    yield Text()
    yield Text(speaker("page.person"), style=HEADER)
    for at in figures.for_a_person[:_MOST]:
        result = found.results[at]
        said = "; ".join(reasons_to_look(result, speaker))
        yield from _hanging("  ", page.glyphs.shown(f"{result.student.name}: {said}"), page, 4)
    if len(figures.for_a_person) > _MOST:
        yield Text(f"      {speaker('terminal.more', count=len(figures.for_a_person) - _MOST)}", style=QUIET)


def _names(found: ClassResult, group: tuple[int, ...], page: Page) -> str:
    return page.glyphs.shown("; ".join(found.results[at].student.name for at in group))


def _hanging(first: str, words: str, page: Page, indent: int) -> Iterator[Text]:
    """Words to the page's width, whatever stands before them, and the other lines further in."""
    for k, line in enumerate(parts_in_lines(words, page.width - indent)):
        yield Text(f"{' ' * indent if k else first}{line}")
