"""What one student gets to read: every check with its reason, in their language, as Markdown and as a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from sdpa_cli.classroom.results import ClassResult, Result
from sdpa_cli.classroom.saying import class_speaker, heading, notes_of, points_of, standing_words, told
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.frame import page
from sdpa_cli.views.classroom.inert import code, fenced, line

_SIGNS = {Status.PASSED: "✓", Status.FAILED: "✗", Status.ERROR: "!", Status.SKIPPED: "–", Status.OPEN: "?"}
_MOST_PRINTED = 200


def feedback_markdown(found: ClassResult, result: Result, language: str) -> str:
    """The feedback as Markdown. What the student wrote stands in code, where it is text and nothing else."""
    speaker = class_speaker(result.student.language or language, found.exercise)
    parts = [
        f"# {title(found, result, speaker)}",
        "\n".join(f"- {name}: {code(text)}" for name, text in facts(result, speaker)),
    ]
    if result.items:
        rows = [
            f"| {_SIGNS[i.status]} | {_cell(speaker.title(i.check))} | {points_of(i, speaker)} |" for i in result.items
        ]
        head = f"| | {speaker('feedback.check')} | {speaker('feedback.points')} |\n|---|---|---:|"
        parts.append("\n".join([head, *rows]))
    for item in reasons(result):
        parts.append(f"## {speaker.title(item.check)}")
        parts.append(fenced(told(item, speaker)))
    if result.fault is not None:
        parts.append(speaker("feedback.learn", command=f"`{command(result.fault)}`"))
    if result.reader_points:
        parts.append(speaker("feedback.open-points", points=result.reader_points))
    if printed := printed_lines(result):
        parts += [f"## {speaker('view.printed')}", fenced(printed)]
    if has_run(result):
        parts.append(speaker("view.sandbox", level=found.sandbox))
    return "\n\n".join(parts) + "\n"


def feedback_html(found: ClassResult, result: Result, language: str) -> str:
    """The feedback as one self-contained page."""
    speaker = class_speaker(result.student.language or language, found.exercise)
    name = title(found, result, speaker)
    return page(
        name,
        speaker.language,
        f"<div class='feedback'><h1>{escape(name)}</h1>\n{''.join(_body(found, result, speaker))}</div>\n",
    )


def title(found: ClassResult, result: Result, speaker: Speaker) -> str:
    """What was earned of what is possible."""
    exercise = heading(speaker, found.exercise)
    if result.points is None:
        return speaker("feedback.no-grade", exercise=exercise)
    values = {"exercise": exercise, "points": result.points, "possible": found.max_points}
    if result.bonus:
        return speaker("feedback.title-bonus", **values, bonus=result.bonus)
    return speaker("feedback.title", **values)


def facts(result: Result, speaker: Speaker) -> Iterator[tuple[str, str]]:
    """Whose it is, which file, how it stands."""
    yield speaker("feedback.student"), line(result.student.name)
    if result.place:
        yield speaker("feedback.file"), line(result.place)
    yield speaker("feedback.status"), standing_words(result.standing, speaker)
    for note in notes_of(result, speaker):
        yield speaker("page.remarks"), line(note)


def reasons(result: Result) -> list[FeedbackItem]:
    """The checks that have something to explain."""
    return [item for item in result.items if item.status in (Status.FAILED, Status.ERROR)]


def printed_lines(result: Result) -> list[str]:
    """What the submission printed."""
    lines = result.record.report.printed.splitlines() if result.record is not None else []
    return lines[:_MOST_PRINTED] + (["…"] if len(lines) > _MOST_PRINTED else [])


def has_run(result: Result) -> bool:
    """Whether there was code that ran in the sandbox."""
    return result.record is not None and bool(result.record.report.sandbox)


def command(fault: str) -> str:
    """What shows a fault beside the right computation."""
    return f"sdpa explain --fault {fault}"


def _cell(text: str) -> str:
    return line(text).replace("|", "\\|")


def _body(found: ClassResult, result: Result, speaker: Speaker) -> Iterator[str]:
    yield (
        "<dl>"
        + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts(result, speaker))
        + "</dl>\n"
    )
    if result.items:
        columns = ((speaker("feedback.check"), ""), (speaker("feedback.points"), "n"))
        heads = "".join(f"<th scope='col' class='{side}'>{escape(name)}</th>" for name, side in columns)
        table = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(_row(i, speaker) for i in result.items)}</tbody>"
        yield f"<div class='scroll'><table class='list'>{table}</table></div>\n"
    for item in reasons(result):
        yield f"<h2>{escape(speaker.title(item.check))}</h2>{_pre(told(item, speaker))}\n"
    if result.fault is not None:
        yield f"<p>{escape(speaker('feedback.learn', command=command(result.fault)))}</p>\n"
    if result.reader_points:
        yield f"<p>{escape(speaker('feedback.open-points', points=result.reader_points))}</p>\n"
    if printed := printed_lines(result):
        yield f"<h2>{escape(speaker('view.printed'))}</h2>{_pre(printed)}\n"
    if has_run(result):
        yield f"<p class='note'>{escape(speaker('view.sandbox', level=found.sandbox))}</p>\n"


def _row(item: FeedbackItem, speaker: Speaker) -> str:
    spoken = f"<span class='unseen'>{escape(speaker(f'feedback.{item.status}'))} </span>"
    sign = f"<span class='sign' aria-hidden='true'>{_SIGNS[item.status]}</span>{spoken}"
    points = escape(points_of(item, speaker))
    return (
        f"<tr class='{item.status}'><td>{sign}{escape(speaker.title(item.check))}</td><td class='n'>{points}</td></tr>"
    )


def _pre(lines: list[str]) -> str:
    return f"<pre><code>{escape(chr(10).join(map(line, lines)))}</code></pre>"
