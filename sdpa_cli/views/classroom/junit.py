"""A class as JUnit's XML: a suite for each student, a case for each check."""

from __future__ import annotations

from sdpa_cli.classroom.results import ClassResult, Result, Standing
from sdpa_cli.classroom.saying import class_speaker, remarks_of, standing_words, told
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.inert import attribute, xml


def junit_text(found: ClassResult, language: str) -> str:
    """The whole class. It says nothing of times: the same class gives the same bytes."""
    speaker = class_speaker(language, found.exercise)
    suites = "".join(_suite(at, one, found, speaker) for at, one in enumerate(found.results, 1))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suites}</testsuites>\n'


def _suite(at: int, result: Result, found: ClassResult, speaker: Speaker) -> str:
    counts = {
        "tests": len(result.items) or 1,
        "failures": sum(item.status is Status.FAILED for item in result.items),
        "errors": sum(item.status is Status.ERROR for item in result.items) or int(_is_error(result)),
        "skipped": sum(item.status in (Status.SKIPPED, Status.OPEN) for item in result.items)
        or int(_is_missing(result)),
    }
    shown = " ".join(f'{name}="{count}"' for name, count in counts.items())
    # The number keeps two students of one name apart: readers count only the first of several equal names.
    group = f"{found.exercise.name}.{at}.{result.student.name}".replace("/", " ")
    cases = "".join(_case(item, group, speaker) for item in result.items) or _no_grade(result, group, speaker)
    printed = result.record.report.printed if result.record is not None else ""
    out = f"<system-out>{xml(printed)}</system-out>\n" if printed else ""
    return f"<testsuite name={attribute(group)} {shown}>\n{cases}{out}</testsuite>\n"


def _is_missing(result: Result) -> bool:
    return not result.items and result.standing is Standing.MISSING


def _is_error(result: Result) -> bool:
    return not result.items and result.standing is not Standing.MISSING


def _no_grade(result: Result, group: str, speaker: Speaker) -> str:
    message = "; ".join([standing_words(result.standing, speaker), *remarks_of(result, speaker)])
    kind = "skipped" if _is_missing(result) else "error"
    return (
        f'<testcase classname={attribute(group)} name="submission"><{kind} message={attribute(message)}/></testcase>\n'
    )


def _case(item: FeedbackItem, group: str, speaker: Speaker) -> str:
    head = f"<testcase classname={attribute(group)} name={attribute(f'{item.check}: {speaker.title(item.check)}')}"
    if item.status is Status.PASSED:
        return f"{head}/>\n"
    lines = told(item, speaker)
    first = attribute(lines[0] if lines else "")
    if item.status in (Status.SKIPPED, Status.OPEN):
        return f"{head}><skipped message={first}/></testcase>\n"
    kind = "failure" if item.status is Status.FAILED else "error"
    text = xml("\n".join(lines))
    return f"{head}><{kind} message={first}>{text}</{kind}></testcase>\n"
