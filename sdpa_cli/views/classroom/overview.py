"""The class on one page: points, failing checks, faults, who needs a person, what is alike, everybody in a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from sdpa_cli.classroom.results import ClassResult, Result
from sdpa_cli.classroom.saying import class_speaker, heading, notes_of, reasons_to_look, standing_words
from sdpa_cli.classroom.summary import CheckCount, Summary, summary
from sdpa_cli.grading.report import Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.frame import page, sorting_script
from sdpa_cli.views.classroom.inert import line

_BAR_HEIGHT = 160


def overview_html(found: ClassResult, language: str, links: Iterable[str]) -> str:
    """The page.

    Parameters
    ----------
    found
        The class.
    language
        The page's.
    links
        Where each result's feedback is, relative to the page.
    """
    speaker = class_speaker(language, found.exercise)
    name = speaker("page.title", exercise=heading(speaker, found.exercise))
    body = "".join(_body(found, summary(found), speaker, list(links)))
    return page(name, language, f"<h1>{escape(name)}</h1>\n{body}", sorting_script()).replace(
        "<main>", "<main class='wide'>", 1
    )


def _body(found: ClassResult, figures: Summary, speaker: Speaker, links: list[str]) -> Iterator[str]:
    yield f"<p class='note'>{escape(speaker('page.facts', sandbox=found.sandbox, versions=found.versions))} "
    yield f"{escape(speaker('page.hidden-yes' if found.hidden_cases else 'page.hidden-no'))}</p>\n"
    yield from _counts(found, figures, speaker)
    yield f"<h3>{escape(speaker('page.distribution'))}</h3>\n{_columns(figures, speaker)}"
    yield f"<h3>{escape(speaker('page.checks'))}</h3>\n{_checks(figures.checks, speaker)}"
    yield f"<h3>{escape(speaker('page.faults'))}</h3>\n{_faults(found, figures, speaker, links)}"
    yield f"<h3>{escape(speaker('page.person'))}</h3>\n{_people(found, figures, speaker, links)}"
    if found.alike:
        groups = "".join(f"<li>{_names(found, group, links)}</li>" for group in found.alike)
        yield f"<h3>{escape(speaker('page.alike'))}</h3><p>{escape(speaker('page.alike-note'))}</p><ul>{groups}</ul>\n"
    yield f"<h3 id='all'>{escape(speaker('page.all'))}</h3>\n{_everybody(found, speaker, links)}"


def _counts(found: ClassResult, figures: Summary, speaker: Speaker) -> Iterator[str]:
    yield f"<p>{escape(speaker('page.students', count=len(found.results)))}: "
    parts = [(standing, count) for standing, count in figures.standings.items() if count]
    yield ", ".join(
        f"<span class='standing-{one.name.lower()}'>{count} {escape(standing_words(one, speaker, count))}</span>"
        for one, count in parts
    )
    if figures.mean is not None and figures.median is not None:
        mean, middle = round(figures.mean, 2), round(figures.median, 2)
        key = "page.mean-bonus" if found.has_bonus else "page.mean"
        yield f"; {escape(speaker(key, mean=mean, median=middle, possible=found.max_points))}"
    yield ".</p>\n"


def _columns(figures: Summary, speaker: Speaker) -> str:
    """The distribution; each column says its own numbers to a screen reader."""
    most = max((one.count for one in figures.bins), default=0) or 1
    shown = []
    for one in figures.bins:
        words = escape(speaker("page.bin", count=one.count, low=one.low, high=one.high), quote=True)
        height = max(1, round(_BAR_HEIGHT * one.count / most))
        bar = "<rect class='bar' width='100%' height='100%'/>"
        drawing = (
            f"<svg width='100%' height='{height}' role='img' aria-label='{words}'><title>{words}</title>{bar}</svg>"
        )
        low = f"<span class='low' aria-hidden='true'>{escape(speaker.number(round(one.low, 2)))}</span>"
        shown.append(f"<li><span aria-hidden='true'>{one.count or ''}</span>{drawing}{low}</li>")
    return f"<ul class='columns'>{''.join(shown)}</ul>\n"


def _checks(checks: tuple[CheckCount, ...], speaker: Speaker) -> str:
    rows = []
    for one in sorted(checks, key=lambda check: -check.failed):
        total = one.failed + one.counts.get(Status.PASSED, 0)
        if not one.failed:
            continue
        share = round(100 * one.failed / total, 1)
        bars = "".join(f"<rect class='{kind}' width='{w}' height='10'/>" for kind, w in (("rail", 100), ("bar", share)))
        bar = f"<svg viewBox='0 0 100 10' preserveAspectRatio='none' aria-hidden='true'>{bars}</svg>"
        words = escape(speaker("page.check-count", failed=one.failed, total=total))
        rows.append(
            f"<tr><td>{escape(speaker.title(one.check))}</td><td class='n'>{words}</td><td class='bars'>{bar}</td></tr>"
        )
    if not rows:
        return f"<p>{escape(speaker('page.nobody'))}</p>\n"
    return f"<div class='scroll'><table class='list'><tbody>{''.join(rows)}</tbody></table></div>\n"


def _faults(found: ClassResult, figures: Summary, speaker: Speaker, links: list[str]) -> str:
    if not figures.faults:
        return f"<p>{escape(speaker('page.no-faults'))}</p>\n"
    shown = "".join(
        f"<details><summary>{escape(speaker('page.fault-count', count=len(who), fault=name))}</summary>"
        f"<p>{_names(found, who, links)}</p></details>"
        for name, who in figures.faults
    )
    return f"<div class='faults'>{shown}</div>\n"


def _people(found: ClassResult, figures: Summary, speaker: Speaker, links: list[str]) -> str:
    if not figures.for_a_person:
        return f"<p>{escape(speaker('page.nobody'))}</p>\n"
    items = []
    for at in figures.for_a_person:
        said = escape("; ".join(map(line, reasons_to_look(found.results[at], speaker))))
        items.append(f"<li>{_link(found.results[at], links[at])}: {said}</li>")
    return f"<ul>{''.join(items)}</ul>\n"


def _names(found: ClassResult, numbers: tuple[int, ...], links: list[str]) -> str:
    return "; ".join(_link(found.results[at], links[at]) for at in numbers)


def _link(result: Result, link: str) -> str:
    return f"<a href='{escape(link, quote=True)}'>{escape(line(result.student.name))}</a>"


def _everybody(found: ClassResult, speaker: Speaker, links: list[str]) -> str:
    columns = (
        ("feedback.student", ""),
        ("feedback.status", ""),
        ("feedback.points", "n"),
        ("page.fault", ""),
        ("page.failed-checks", "n"),
        ("page.remarks", ""),
    )
    heads = "".join(_head(speaker(key), side, speaker) for key, side in columns)
    rows = "".join(_row(one, speaker, link) for one, link in zip(found.results, links, strict=True))
    table = f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"
    return f"<div class='scroll'><table class='list sortable'>{table}</table></div>\n"


def _head(name: str, side: str, speaker: Speaker) -> str:
    label = escape(speaker("page.sort", column=name), quote=True)
    shown = escape(name)
    button = f"<button type='button' hidden title='{label}'>{shown}</button>"
    return f"<th scope='col' class='{side}'><span>{shown}</span>{button}</th>"


def _row(result: Result, speaker: Speaker, link: str) -> str:
    failed = sum(item.status is Status.FAILED for item in result.items) if result.items else ""
    points = "" if result.points is None else repr(result.points)
    shown = "" if result.points is None else escape(speaker.number(result.points))
    standing = (
        f"<td class='standing-{result.standing.name.lower()}'>{escape(standing_words(result.standing, speaker))}</td>"
    )
    remarks = escape("; ".join(map(line, notes_of(result, speaker))))
    middle = f"<td class='n' data-value='{points}'>{shown}</td><td>{result.fault or ''}</td><td class='n'>{failed}</td>"
    return f"<tr><td>{_link(result, link)}</td>{standing}{middle}<td>{remarks}</td></tr>"
