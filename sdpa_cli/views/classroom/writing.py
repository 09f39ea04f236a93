"""All reports of a class, written into its folder; each file is replaced whole."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from sdpa_cli.classroom.names import bare
from sdpa_cli.classroom.results import ClassResult, Result
from sdpa_cli.views.classroom.documents import csv_text, json_text
from sdpa_cli.views.classroom.feedback import feedback_html, feedback_markdown
from sdpa_cli.views.classroom.junit import junit_text
from sdpa_cli.views.classroom.overview import overview_html
from sdpa_cli.views.classroom.platforms import filled_roster
from sdpa_cli.views.files import replacing

FEEDBACK = "feedback"
_MOST_LETTERS = 48
_SPELLED = str.maketrans(
    {"æ": "ae", "ø": "oe", "å": "aa", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i"}
)
"""How their languages spell å, and the letters that are no plain one with a mark, in the alphabet from a to z."""


def write_reports(found: ClassResult, folder: Path, language: str, column: str | None) -> None:
    """Write them.

    Parameters
    ----------
    found
        The class.
    folder
        Where to.
    language
        Of the class's reports; a student's feedback is in the language that the list gives them.
    column
        The column of the class list to fill.
    """
    for name, text in _reports(found, language, column):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(text.encode("utf-8", "replace"))


def _reports(found: ClassResult, language: str, column: str | None) -> Iterator[tuple[str, str]]:
    filled = filled_roster(found, column, language)
    if filled is not None:
        yield filled
    yield "report.json", json_text(found, language)
    yield "report.csv", "\ufeff" + csv_text(found, language)
    yield "junit.xml", junit_text(found, language)
    names = file_names(found.results)
    for name, result in zip(names, found.results, strict=True):
        yield f"{FEEDBACK}/{name}.md", feedback_markdown(found, result, language)
        yield f"{FEEDBACK}/{name}.html", feedback_html(found, result, language)
    yield "report.html", overview_html(found, language, [f"{FEEDBACK}/{name}.html" for name in names])


def file_names(results: tuple[Result, ...]) -> list[str]:
    """A name for each student's files: letters and digits of theirs, told apart by number where they are the same."""
    taken: set[str] = set()
    names = []
    for result in results:
        parts = [result.student.name, *result.student.ids[:1]]
        stem = "-".join(filter(None, (_plain(part) for part in parts)))[:_MOST_LETTERS] or "student"
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name)
        names.append(name)
    return names


def _plain(text: str) -> str:
    spelled = unicodedata.normalize("NFC", text).casefold().translate(_SPELLED)
    return "".join(char for char in bare(spelled) if char.isascii())
