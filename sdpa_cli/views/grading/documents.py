"""What was found, for programs: JSON, JUnit's XML, and the annotations of GitHub's workflows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from sdpa_cli.grading.checking import Checked
from sdpa_cli.grading.report import FeedbackItem, Message, Status
from sdpa_cli.grading.saying import Speaker

SCHEMA_VERSION = 1
# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]+)")


def json_text(checked: Iterable[Checked]) -> str:
    """One JSON document. Indices in it are counted from 0."""
    checked = list(checked)
    levels = [one.report.sandbox for one in checked if one.report.sandbox]
    document = {
        "schema_version": SCHEMA_VERSION,
        "sandbox": levels[0] if levels else None,
        "exercises": [_exercise(one) for one in checked],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _exercise(checked: Checked) -> dict[str, Any]:
    report = checked.report
    return {
        "exercise": report.exercise,
        "points": report.points,
        "max_points": report.max_points,
        "open_points": report.open_points,
        "complete": report.complete,
        "printed": report.printed,
        "items": [_item(item, checked) for item in report.items],
    }


def _item(item: FeedbackItem, checked: Checked) -> dict[str, Any]:
    finding = item.finding
    found = finding.difference
    return {
        "check": item.check,
        "title": checked.speaker.title(item.check),
        "status": str(item.status),
        "earned": item.earned,
        "possible": item.possible,
        "bonus": item.bonus,
        "message": message_of(item, checked.speaker) or None,
        "stage": finding.stage,
        "fault": finding.fault,
        "case": checked.cases.get(item.check),
        "visibility": item.visibility,
        "difference": None
        if found is None
        else {
            "part": finding.part,
            "index": list(found.index),
            "expected": _number(found.expected),
            "actual": _number(found.actual),
            "error": _number(found.error),
            "limit": _number(found.limit),
            "count": found.count,
            "total": found.total,
        },
    }


def message_of(item: FeedbackItem, speaker: Speaker) -> str:
    """Everything that a check has to say, a line each."""
    lines = [speaker.say(message) for message in item.finding.messages]
    if item.finding.stage is not None:
        lines.append(speaker("stage.first", stage=speaker(f"stage.{item.finding.stage}")))
    if item.finding.fault is not None and item.finding.case is not None:
        lines.append(speaker("view.fault", fault=item.finding.fault))
    return "\n".join(lines)


def _number(value: float) -> float | str:
    """JSON has no NaN and no infinity; as text, Python's `float` reads them."""
    return value if value - value == 0 else str(value)


def junit_text(checked: Iterable[Checked]) -> str:
    """JUnit's XML: a suite per exercise, a case per check."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n' + "".join(map(_suite, checked)) + "</testsuites>\n"


def _suite(checked: Checked) -> str:
    items = checked.report.items
    counts = {
        "tests": len(items),
        "failures": sum(item.status is Status.FAILED for item in items),
        "errors": sum(item.status is Status.ERROR for item in items),
        "skipped": sum(item.status in (Status.SKIPPED, Status.OPEN) for item in items),
    }
    shown = " ".join(f'{name}="{count}"' for name, count in counts.items())
    name = checked.report.exercise
    cases = "".join(_case(item, name, checked.speaker) for item in items)
    printed = f"<system-out>{_xml(checked.report.printed)}</system-out>\n" if checked.report.printed else ""
    return f"<testsuite name={_attribute(name)} {shown}>\n{cases}{printed}</testsuite>\n"


def _case(item: FeedbackItem, exercise: str, speaker: Speaker) -> str:
    # GitLab counts only the first of several cases with one name: the check's own name keeps them apart.
    name = _attribute(f"{item.check}: {speaker.title(item.check)}")
    head = f"<testcase classname={_attribute(f'sdpa.{exercise}')} name={name}"
    if item.status is Status.PASSED:
        return f"{head}/>\n"
    message = message_of(item, speaker)
    if item.status in (Status.SKIPPED, Status.OPEN):
        return f"{head}><skipped message={_attribute(message)}/></testcase>\n"
    kind = "failure" if item.status is Status.FAILED else "error"
    first = _attribute(message.split("\n")[0])
    return f"{head}><{kind} message={first}>{_xml(message)}</{kind}></testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"::": "&#58;&#58;"})


def _xml(text: str) -> str:
    # A line that begins with two colons would command GitHub's runner where the XML lands in its log.
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"::": "&#58;&#58;"})


def github_text(checked: Iterable[Checked]) -> str:
    """One workflow command for each check that failed."""
    return "".join(_annotation(item, one) for one in checked for item in one.report.items)


def _annotation(item: FeedbackItem, checked: Checked) -> str:
    if item.status not in (Status.FAILED, Status.ERROR):
        return ""
    properties = {**_place(item), "title": f"{checked.report.exercise} {checked.speaker.title(item.check)}"}
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::error {shown}::{_data(message_of(item, checked.speaker))}\n"


def _place(item: FeedbackItem) -> dict[str, str]:
    """File and line of the student's that a check speaks of, if it speaks of one."""
    found = (_PLACE.fullmatch(place) for message in item.finding.messages for place in _places(message))
    return next((match.groupdict() for match in found if match), {})


def _places(message: Message) -> Iterator[str]:
    for name, value in message.values.items():
        if isinstance(value, Message):
            yield from _places(value)
        elif name == "place":
            yield str(value)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
