"""A class for programs: canonical JSON, and CSV with a line for each student."""

from __future__ import annotations

import json
from typing import Any

from sdpa_cli import __version__
from sdpa_cli.classroom.results import ClassResult, Result
from sdpa_cli.classroom.saying import class_speaker, notes_of, remarks_of, told
from sdpa_cli.classroom.summary import summary
from sdpa_cli.classroom.tables import Table
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.inert import block, cell, line

SCHEMA_VERSION = 1


def json_text(found: ClassResult, language: str) -> str:
    """The class as canonical JSON: keys in order, no clock, so that the same class gives the same bytes."""
    speaker = class_speaker(language, found.exercise)
    figures = summary(found)
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "sdpa", "version": __version__, "versions": found.versions},
        "exercise": found.exercise.name,
        "sandbox": found.sandbox,
        "hidden_cases": found.hidden_cases,
        "language": language,
        "max_points": found.max_points,
        "submissions": [_submission(one, found, speaker) for one in found.results],
        "summary": {
            "standings": {standing.value: count for standing, count in figures.standings.items()},
            "mean": figures.mean,
            "median": figures.median,
            "faults": {name: len(who) for name, who in figures.faults},
            "checks": {one.check: {str(k): v for k, v in sorted(one.counts.items())} for one in figures.checks},
        },
        "alike": [[_name(found.results[at]) for at in group] for group in found.alike],
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _submission(result: Result, found: ClassResult, speaker: Speaker) -> dict[str, Any]:
    return {
        "student": _name(result),
        "ids": [line(one) for one in result.student.ids],
        "status": result.standing.value,
        "points": result.points,
        "max_points": found.max_points,
        "open_points": result.open_points,
        "file": line(result.place) or None,
        "files": list(result.files),
        "sha256": result.sha256 or None,
        "late": result.late,
        "earlier": [line(one) for one in result.earlier],
        "remarks": [line(one) for one in remarks_of(result, speaker)],
        "fault": result.fault,
        "needs_person": result.needs_person,
        "printed": block(result.record.report.printed) if result.record is not None else "",
        "items": [_item(item, result, speaker) for item in result.items],
    }


def _item(item: FeedbackItem, result: Result, speaker: Speaker) -> dict[str, Any]:
    assert result.record is not None
    return {
        "check": item.check,
        "title": speaker.title(item.check),
        "status": str(item.status),
        "earned": item.earned,
        "possible": item.possible,
        "bonus": item.bonus,
        "message": block("\n".join(told(item, speaker))) or None,
        "stage": item.finding.stage,
        "fault": item.finding.fault,
        "case": result.record.cases.get(item.check),
        "visibility": item.visibility,
    }


def csv_text(found: ClassResult, language: str) -> str:
    """A line for each student. What strangers wrote is no formula in it."""
    speaker = class_speaker(language, found.exercise)
    header = ("student", "id", "email", "status", "points", "max_points", "open_points", "late", "file", "sha256")
    rows = [(*_columns(one, found), one.fault or "", _failed(one), _remarks(one, speaker)) for one in found.results]
    return Table((*header, "fault", "failed_checks", "remarks"), tuple(rows)).text()


def _columns(one: Result, found: ClassResult) -> tuple[str, ...]:
    points = "" if one.points is None else f"{one.points:g}"
    numbers = (points, f"{found.max_points:g}", f"{one.open_points:g}", "yes" if one.late else "")
    return (
        cell(_name(one)),
        cell(next((known for known in one.student.ids if "@" not in known), "")),
        cell(next((known for known in one.student.ids if "@" in known), "")),
        one.standing.value,
        *numbers,
        cell(one.place),
        one.sha256,
    )


def _failed(one: Result) -> str:
    return " ".join(item.check for item in one.items if item.status is Status.FAILED)


def _remarks(one: Result, speaker: Speaker) -> str:
    return cell("; ".join(notes_of(one, speaker)))


def _name(one: Result) -> str:
    return line(one.student.name)
