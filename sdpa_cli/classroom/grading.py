"""`grade_class`: an exercise × an export × a list → everybody's result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from zipfile import is_zipfile

from sdpa_cli.classroom.archives import archive_entries
from sdpa_cli.classroom.entries import Entry, folder_entries
from sdpa_cli.classroom.gradebook import FILE, Gradebook
from sdpa_cli.classroom.layouts import Sorting, deliveries_in
from sdpa_cli.classroom.packing import pack
from sdpa_cli.classroom.results import ClassResult, Result
from sdpa_cli.classroom.roster import Roster
from sdpa_cli.classroom.running import Done, Terms, grade_seats
from sdpa_cli.classroom.seating import seats
from sdpa_cli.classroom.similarity import Fingerprint, alike, fingerprint
from sdpa_cli.classroom.tasks import secret, versions
from sdpa_cli.classroom.workers import Workers
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.sandbox import Level

_EXPECTED = "a folder of submissions, or the zip that the LMS exports"
LEAST_LEVEL = Level.L2
"""Below it, submissions could read each other and the answers: only on request."""


@dataclass(frozen=True)
class Order:
    """What is to be graded, and how."""

    exercise: Exercise
    submissions: Path
    """A folder or a zip archive."""
    roster: Roster | None = None
    seed: str | None = None
    level: Level | None = None
    """None is the best that the workers offer, and no less than `LEAST_LEVEL`."""
    sorting: Sorting = deliveries_in
    """How files are sorted into submissions."""


def grade_class(order: Order, output: Path, workers: Workers, note: Callable[[Done, int], None]) -> ClassResult:
    """Grade a class; what an earlier run into the same folder has done is not done again.

    Parameters
    ----------
    order
        What.
    output
        The folder of the gradebook.
    workers
        By whom.
    note
        Is told of every seat as it is finished, and how many there are.

    Raises
    ------
    InputError
        When submissions cannot be found, or not be confined as they must be.
    """
    entries = _without_reports(entries_of(order.submissions), order.submissions, output)
    found = order.sorting(entries, order.submissions.resolve().name, order.exercise.files)
    class_seats = seats(found, None if order.roster is None else order.roster.students)
    if not class_seats:
        raise InputError(Problem("no-submissions", f"{order.submissions} holds no submissions"))
    level = _agreed(order.level, workers.level())
    packed = pack(order.exercise)
    terms = Terms(order.exercise, packed, secret(order.seed), level, versions())
    results: dict[int, Result] = {}
    with Gradebook(output / FILE) as book, closing(grade_seats(class_seats, terms, book, workers)) as finished:
        for done in finished:
            results[done.number] = done.result
            note(done, len(class_seats))
    ordered = tuple(results[number] for number in range(len(class_seats)))
    return ClassResult(
        order.exercise,
        f"{level.name} ({level.means})",
        terms.versions,
        order.seed is not None,
        ordered,
        _alike(order.exercise, ordered),
        order.roster,
    )


def entries_of(path: Path) -> tuple[Entry, ...]:
    """The files in a folder or an archive."""
    if path.is_dir():
        return folder_entries(path)
    if path.is_file():
        if path.suffix.lower() != ".zip" and not is_zipfile(path):
            hint = f"one file of your own is graded by: sdpa check EXERCISE {path}"
            raise InputError(Problem("no-submissions", f"{path} is a single file", _EXPECTED, hint))
        return archive_entries(path)
    raise InputError(Problem("no-submissions", f"{path} is not there", _EXPECTED))


def _without_reports(entries: tuple[Entry, ...], submissions: Path, output: Path) -> tuple[Entry, ...]:
    """What was handed in: where the output lies among the submissions, the reports of all exercises are nobody's."""
    try:
        inside = output.resolve().relative_to(submissions.resolve()).parts
    except ValueError:
        return entries
    if not inside:
        return entries
    own = inside[:-1] or inside  # beside this exercise's folder are the other exercises'
    return tuple(entry for entry in entries if entry.path[: len(own)] != own)


def _agreed(asked: Level | None, best: Level) -> Level:
    """The level to grade at: the best by itself, a weaker one on request."""
    wanted = LEAST_LEVEL if asked is None else asked
    if best < wanted:
        message = f"the best sandbox here is {best.name} ({best.means})"
        hint = (
            "sdpa doctor says what is missing; --sandbox none grades none the less, and submissions can read each other"
        )
        raise InputError(Problem("sandbox-too-weak", message, f"{wanted.name} ({wanted.means})", hint))
    return best if asked is None else asked


def _alike(exercise: Exercise, results: tuple[Result, ...]) -> tuple[tuple[int, ...], ...]:
    prints: dict[int, Fingerprint] = {at: one.fingerprint for at, one in enumerate(results) if one.fingerprint}
    starters = sorted(exercise.starter.glob("*.py")) if exercise.starter.is_dir() else []
    return alike(prints, frozenset[int]().union(*(fingerprint(path.read_bytes()) for path in starters)))
