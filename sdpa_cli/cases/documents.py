"""From one document to its case, or to everything that is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from yaml.events import ScalarEvent

from sdpa_cli.cases.building import build
from sdpa_cli.cases.case import Case
from sdpa_cli.cases.cursor import Cursor, Unreadable
from sdpa_cli.cases.nodes import is_null
from sdpa_cli.cases.schema import CASE
from sdpa_cli.cases.source import Source
from sdpa_cli.cases.syntax import glued_key
from sdpa_cli.errors import Problem

SHOWN_PROBLEMS = 20
"""Problems of one file that are told; the others are counted."""


def read_document(source: Source, given: dict[str, Any]) -> tuple[Case | None, list[Problem]]:
    """Read one document.

    Parameters
    ----------
    source
        The document.
    given
        Values of fields that replace the document's own.

    Returns
    -------
    case, problems
        No case where there are problems; these stand in reading order.
    """
    problems: list[Problem] = []
    case = None
    values, files = _values(source, problems)
    if values is not None:
        # What the file says about its own matrix says nothing about a mask that is none and replaces it.
        replaced = isinstance(given.get("mask"), str | dict)
        case, more = build(source, values | given | ({"mask_means": "forbidden"} if replaced else {}))
        problems += _placed(more, source)
    case = case and replace(case, files=files)
    return None if problems else case, sorted(problems, key=lambda problem: _reading_order(problem, source))


def read_override(source: Source) -> tuple[Any, list[Problem]]:
    """Read the value of one field, given on the command line.

    Parameters
    ----------
    source
        The value as a text of its own; its root is the field.

    Returns
    -------
    value, problems
        The value is None where there are problems.
    """
    problems: list[Problem] = []
    kind = next(field.kind for field in CASE.fields if (field.name,) == source.root)
    cursor = Cursor(source, problems)
    value = None
    try:
        event = cursor.begin()
        if event is None or is_null(event):
            problems.append(Problem("empty", f"{source.name} is empty", kind.words().replace("`", "")))
        else:
            value = kind.read(cursor, source.root)
            cursor.end()
    except Unreadable:
        value = None
    finally:
        cursor.close()
    return value, problems


def _placed(problems: list[Problem], source: Source) -> list[Problem]:
    """The problems at their places. Those that will only be counted are not looked up: there may be a million."""
    told, counted = problems[:SHOWN_PROBLEMS], problems[SHOWN_PROBLEMS:]
    places = source.locate_all(problem.path for problem in told) if told else {}
    return [*(problem.at(places[problem.path]) for problem in told), *counted]


def _reading_order(problem: Problem, source: Source) -> tuple[bool, int, int]:
    """From top to bottom; what is elsewhere, in a csv file or on the command line, comes last."""
    place = problem.place
    if place is None or place.file != source.name:
        return True, 0, 0
    return False, place.line, place.column


def _values(source: Source, problems: list[Problem]) -> tuple[dict[str, Any] | None, tuple[Path, ...]]:
    """What the fields of a document say, by name, and the files that matrices came from; None where it broke off."""
    cursor = Cursor(source, problems)
    try:
        event = cursor.begin()
        if event is None or is_null(event):
            problems.append(_empty(source))
        elif isinstance(event, ScalarEvent) and (glued := glued_key(source, event.start_mark)):
            problems.append(glued)
        else:
            values = CASE.read_partly(cursor, ())
            cursor.end()
            return values, tuple(cursor.files)
    except Unreadable:
        pass
    finally:
        cursor.close()
    return None, ()


def _empty(source: Source) -> Problem:
    hint = "remove the line ---" if source.document > 1 else None
    message = "there is no case here" if source.document > 1 else "the file is empty"
    return Problem("empty", message, f"at least {CASE.example}", hint, place=source.place(None))
