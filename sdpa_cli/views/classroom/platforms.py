"""What learning platforms read back: Moodle's worksheet and Canvas's gradebook filled in, and Gradescope's results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from sdpa_cli.classroom.names import bare
from sdpa_cli.classroom.results import ClassResult, Result, Standing
from sdpa_cli.classroom.roster import Kind, Roster, is_points_row
from sdpa_cli.classroom.saying import class_speaker, heading, remarks_of, told
from sdpa_cli.classroom.tables import Table
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.report import FeedbackItem, Status
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.classroom.inert import block, cell, line

# Moodle writes its headers in the site's language. These are what the columns are called in ours.
_GRADES = {"grade", "osztalyzat", "pont", "pontszam", "ertekeles", "karakter", "bedømmelse"}
_MAXIMA = {"maximumgrade", "maximalispontszam", "maximalisosztalyzat", "maksimumkarakter", "maksimalkarakter"}
_COMMENTS = {
    *("feedbackcomments", "feedbackkommentarer"),
    *("visszajelzomegjegyzesek", "visszajelzesmegjegyzesei", "visszajelzesmegjegyzesek"),
}
_FIXED = {"student", "id", "sisuserid", "sisloginid", "integrationid", "rootaccount", "section"}
_MOST_NAMED = 8


def filled_roster(found: ClassResult, column: str | None, language: str) -> tuple[str, str] | None:
    """The name and text of the class list, filled in; None where it is no platform's.

    Parameters
    ----------
    found
        The class, with its list.
    column
        The one to fill, where its name cannot be guessed.
    language
        Of comments, for students without a language of their own.

    Raises
    ------
    InputError
        When it is not clear which column is to be filled.
    """
    grade = grade_column(found.roster, found.exercise, column)
    if found.roster is None or grade is None:
        return None
    if found.roster.kind is Kind.MOODLE:
        return "moodle.csv", "\ufeff" + _moodle(found.roster.table, found, grade, language).text()
    return "canvas.csv", _canvas(found.roster.table, found, grade).text()


def grade_column(roster: Roster | None, exercise: Exercise, column: str | None) -> int | None:
    """The column of a platform's list that grades go into; None where the list is no platform's.

    Raises
    ------
    InputError
        When it is not clear which, or when there is none of that name.
    """
    if roster is None or roster.kind is Kind.OWN:
        if column is not None:
            message = "--column is for a list that is filled in, and there is none"
            raise InputError(Problem("which-column", message, "--roster with a Moodle worksheet or a Canvas gradebook"))
        return None
    table, word = roster.table, bare(exercise.name)
    if roster.kind is Kind.MOODLE:
        grade = _column(table, column, lambda name: bare(name) in _GRADES) or _left_of_maximum(table)
    else:
        grade = _column(table, column, lambda name: "(" in name and word in map(bare, name.replace("(", " ").split()))
    if grade is None:
        raise _which_column("it is not clear which column of the class list holds the grades", table.header)
    return grade


def _moodle(table: Table, found: ClassResult, grade: int, language: str) -> Table:
    most = table.column(lambda name: bare(name) in _MAXIMA) or grade + 1
    comments = table.column(lambda name: bare(name) in _COMMENTS)
    rows = [list(map(_harmless, row)) for row in table.rows]
    for result in _listed(found):
        row = rows[result.student.row or 0]
        if result.final_points is not None:
            # Moodle takes nothing above the maximum: a bonus can make up for lost points, and no more.
            points = min(result.final_points, found.max_points)
            row[grade] = _scaled(points, found.max_points, row[most] if most < len(row) else "")
        if comments is not None and result.record is not None:
            speaker = class_speaker(result.student.language or language, found.exercise)
            row[comments] = escape(cell(_comment(result, speaker)))
    return table.filled(rows)


def _left_of_maximum(table: Table) -> int | None:
    """The column before the first that holds the same number everywhere: before the maximum stands the grade."""
    for at in range(3, len(table.header)):
        values = {row[at].strip() for row in table.rows}
        if len(values) == 1 and (_number(next(iter(values))) or 0) > 0:
            return at - 1
    return None


def _canvas(table: Table, found: ClassResult, grade: int) -> Table:
    """Only whom a grade is for and the one column: whatever else were there, Canvas would take for news."""
    kept = [at for at, name in enumerate(table.header) if bare(name) in _FIXED]
    worth = next((row[grade] for row in table.rows if is_points_row(row)), "")
    grades = {result.student.row: result.final_points for result in _listed(found)}
    rows = []
    for at, row in enumerate(table.rows):
        points = grades.get(at)
        value = row[grade] if points is None else _scaled(points, found.max_points, worth)
        # The first cell is what the reader sees; Canvas goes by the numbers after it.
        rows.append(
            [row[kept[0]] if is_points_row(row) else _harmless(row[kept[0]]), *(row[k] for k in kept[1:]), value]
        )
    return table.filled(rows, [table.header[at] for at in (*kept, grade)])


def _column(table: Table, wanted: str | None, guess: Callable[[str], bool]) -> int | None:
    if wanted is None:
        matching = [at for at, name in enumerate(table.header) if guess(name)]
        return matching[0] if len(matching) == 1 else None
    at = table.column(lambda name: name.strip() == wanted.strip() or name.startswith(f"{wanted.strip()} ("))
    if at is None:
        raise _which_column(f"there is no column {wanted.strip()} in the class list", table.header)
    return at


def _which_column(message: str, header: Sequence[str]) -> InputError:
    return InputError(Problem("which-column", message, f"--column with one of: {', '.join(header)}"))


def resembles_a_platform_s(roster: Roster) -> bool:
    """Whether a list of one's own has a column of grades, as if it were to be filled in."""
    return roster.kind is Kind.OWN and roster.table.column(lambda name: bare(name) in _GRADES | _MAXIMA) is not None


def _scaled(points: float, possible: float, worth: str) -> str:
    """Points on the platform's own scale, with its decimal sign."""
    most = _number(worth)
    value = points if most is None or not possible else points * most / possible
    shown = f"{round(value, 2):g}"
    return shown.replace(".", ",") if "," in worth else shown


def _number(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _listed(found: ClassResult) -> list[Result]:
    return [result for result in found.results if result.student.row is not None]


def _harmless(text: str) -> str:
    """A cell as it was, unless it would be a formula; a dash and numbers below zero are none."""
    return text if text.strip() in ("", "-") or _number(text) is not None or cell(text) == line(text) else cell(text)


def _comment(result: Result, speaker: Speaker) -> str:
    """What fits into a cell: which checks failed, and the first reason."""
    failed = [item for item in result.items if item.status is Status.FAILED]
    parts = [speaker.title(item.check) for item in failed[:_MOST_NAMED]]
    reason = told(failed[0], speaker)[:1] if failed else []
    return "; ".join(
        [
            *remarks_of(result, speaker),
            *([f"{speaker('feedback.failed')}: {' / '.join(parts)}"] if parts else []),
            *reason,
        ]
    )


def gradescope_text(found: ClassResult, result: Result, language: str) -> str:
    """Gradescope's ``results.json`` for one submission.

    No test is hidden, since Gradescope would then hide the total, too: hidden checks say in general words what went
    wrong, here as everywhere.
    """
    speaker = class_speaker(result.student.language or language, found.exercise)
    document = {
        "score": result.points or 0.0,
        "output": "\n".join([heading(speaker, found.exercise), *map(line, remarks_of(result, speaker))]),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_gradescope_test(number, item, speaker) for number, item in enumerate(result.items, 1)],
        "extra_data": {"sandbox": found.sandbox, "sha256": result.sha256, "standing": result.standing.value},
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _gradescope_test(number: int, item: FeedbackItem, speaker: Speaker) -> dict[str, Any]:
    test: dict[str, Any] = {
        "number": str(number),
        "name": speaker.title(item.check),
        "max_score": item.possible,
        "score": item.earned,
        "output": block("\n".join(told(item, speaker))),
        "visibility": "visible",
        "tags": [item.check],
    }
    if item.status in (Status.PASSED, Status.FAILED):
        test["status"] = str(item.status)
    return test


def only_result(found: ClassResult) -> Result:
    """The one submission that Gradescope has given.

    Raises
    ------
    InputError
        When there are several, or the tool has failed: then there must be no score.
    """
    if len(found.results) != 1:
        raise InputError(Problem("several", f"--gradescope is for one submission; here are {len(found.results)}"))
    result = found.results[0]
    if result.standing is Standing.ERROR:
        raise InputError(Problem("tool-failed", "the tool itself failed, so there are no results to write"))
    return result
