"""What a student reads in the terminal: every check, why it failed, and the one thing to do next."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from sdpa_cli.errors import ExitCode
from sdpa_cli.grading.checking import Checked, Session
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.grading.workspace import Progress
from sdpa_cli.views.excerpts import Page
from sdpa_cli.views.glyphs import width
from sdpa_cli.views.tables import HEADER, QUIET
from sdpa_cli.views.terminal import page_for

MOST = 100
"""Lines are not set wider than this."""
INDENT = "     "
PRINTED_LINES = 20


def session_text(session: Session, console: Console) -> str:
    """A round of grading as this console shows it, escape sequences and all.

    Parameters
    ----------
    session
        What was found.
    console
        Its width, colours and encoding decide the look; nothing is written to it.
    """
    with console.capture() as capture:
        for line in session_lines(session, page_for(console)):
            line.rstrip()
            console.print(line, soft_wrap=True, highlight=False)
    return capture.get()


def session_lines(session: Session, page: Page) -> Iterator[Text]:
    """Each exercise, in one line where nothing has been done about it yet; then what is to be done next."""
    alone = len(session.checked) == 1
    for one, after in zip(session.checked, (*session.checked[1:], None), strict=True):
        if one.is_untouched and not alone:
            yield _heading(one, page)
        else:
            yield from checked_lines(one, page)
            yield from () if after is None else (Text(),)
    yield from _closing(session, page)


def checked_lines(checked: Checked, page: Page) -> Iterator[Text]:
    """Heading, checks, and what the code printed."""
    yield _heading(checked, page)
    seen: set[str] = set()
    items = checked.report.items
    for item, after in zip(items, (*items[1:], None), strict=True):
        yield _item_line(item, checked.speaker, page)
        if after is None or not _alike(item, after):
            yield from _details(item, checked, page, seen)
    if checked.report.printed:
        yield Text()
        yield Text(checked.speaker("view.printed"), style=HEADER)
        lines = checked.report.printed.splitlines()
        for line in lines[:PRINTED_LINES]:
            yield Text(f"  {page.glyphs.bar} {page.glyphs.shown(line, _room(page) - 4)}", style=QUIET)
        if len(lines) > PRINTED_LINES:
            yield Text(f"  {page.glyphs.bar} {page.glyphs.ellipsis}", style=QUIET)


def _heading(checked: Checked, page: Page) -> Text:
    speaker, report = checked.speaker, checked.report
    points = speaker("view.points", points=report.points, possible=report.max_points)
    title = speaker("title") if speaker.exercise is not None else ""
    return _spread(Text(f"{report.exercise}  {title}", style=HEADER), points, page)


def _alike(item: FeedbackItem, after: FeedbackItem) -> bool:
    """Whether both were skipped, or failed, for one reason, which then is said once, beneath the last of them."""
    if item.status is not after.status or item.status not in (Status.SKIPPED, Status.FAILED):
        return False
    # Where there is a failing input, each has its own.
    cases = (item.finding.case, after.finding.case)
    return cases == (None, None) and item.finding.messages == after.finding.messages


def _item_line(item: FeedbackItem, speaker: Speaker, page: Page) -> Text:
    sign, style = {
        Status.PASSED: (page.glyphs.tick, "bold green"),
        Status.FAILED: (page.glyphs.cross, "bold red"),
        Status.ERROR: ("!", "bold magenta"),
        Status.SKIPPED: ("-", QUIET),
        Status.OPEN: ("?", "bold cyan"),
    }[item.status]
    left = Text(" ").append(sign, style=style).append(f" {speaker.title(item.check)}", style="not bold default")
    return _spread(left, _points(item, speaker), page)


def _points(item: FeedbackItem, speaker: Speaker) -> str:
    if item.bonus:
        return speaker("view.bonus", bonus=item.earned)
    if not item.possible:
        return ""
    earned = speaker("view.open") if item.status is Status.OPEN else speaker.number(item.earned)
    return f"{earned}/{speaker.number(item.possible)}"


def _details(item: FeedbackItem, checked: Checked, page: Page, seen: set[str]) -> Iterator[Text]:
    """Why it did not pass; a fault that was named before is not explained again."""
    speaker, finding = checked.speaker, item.finding
    style = "" if item.status is Status.FAILED else QUIET
    if item.status is Status.PASSED:
        return
    for message in finding.messages:
        yield from _wrapped(speaker.say(message), page, style)
    if item.status is not Status.FAILED or finding.case is None:
        return
    case = checked.cases.get(item.check)  # None where it could not be written down
    if finding.stage is not None and (finding.fault is None or finding.fault not in seen):
        yield from _wrapped(speaker("stage.first", stage=speaker(f"stage.{finding.stage}")), page)
    if finding.fault is None and case is not None:
        yield from _wrapped(speaker("view.case", path=case), page, QUIET)
    elif finding.fault is not None and finding.fault not in seen:
        seen.add(finding.fault)
        yield from _wrapped(speaker("view.fault", fault=finding.fault), page, "bold")
        if case is not None:
            yield Text(f"{INDENT}sdpa explain {quote(case)} --fault {finding.fault}", style="bold")


def _closing(session: Session, page: Page) -> Iterator[Text]:
    speaker, step = session.speaker, session.step
    yield Text()
    level = next((one.report.sandbox for one in session.checked if one.report.sandbox), "")
    if level:
        yield Text(speaker("view.sandbox", level=level), style=QUIET)
    if left_out := {file: None for one in session.checked for file in one.left_out}:
        yield Text(speaker("view.function-alone", files=", ".join(left_out)), style=QUIET)
    if session.litter is not None:
        yield Text(speaker("view.litter", path=session.litter), style=QUIET)
    open_points = sum(one.report.open_points for one in session.checked)
    if open_points:
        yield Text(speaker("view.open-points", points=float(open_points)), style=QUIET)
    first = max(width(speaker("view.progress")), width(speaker("view.next")))
    if session.progress:
        parts = [_progress(name, entry, page, speaker) for name, entry in session.progress.items()]
        yield Text(f"{speaker('view.progress'):<{first}}  ", style=QUIET).append("  ".join(parts), style="not dim")
    if step.command is not None or step.file is not None:
        said = step.command or speaker("view.next-start", path=step.file)
        yield Text(f"{speaker('view.next'):<{first}}  ", style=QUIET).append(said, style="bold not dim")
    elif session.exit_code is ExitCode.OK:
        yield Text(speaker("view.all-done"), style="bold green")


def _progress(name: str, entry: Progress, page: Page, speaker: Speaker) -> str:
    if not entry.max_points:
        return f"{name} -"
    sign = f" {page.glyphs.tick}" if entry.complete else ""
    return f"{name} {speaker.number(entry.points)}/{speaker.number(entry.max_points)}{sign}"


def _spread(left: Text, right: str, page: Page) -> Text:
    """Two texts at the two ends of a line."""
    gap = _room(page) - width(left.plain) - width(right)
    return left.append(" " * max(1, gap)).append(right, style="not bold default") if right else left


def _wrapped(text: str, page: Page, style: str = "") -> Iterator[Text]:
    for line in wrap(page.glyphs.shown(text), _room(page) - len(INDENT), break_on_hyphens=False) or [""]:
        yield Text(INDENT + line, style=style)


def _room(page: Page) -> int:
    return max(40, min(MOST, page.width))
