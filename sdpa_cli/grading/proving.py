"""Proving a course: starters fail, solutions pass, texts and cases are complete, and no file is there for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise, statement_name
from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import hand_in
from sdpa_cli.grading.hinting import LEVELS
from sdpa_cli.grading.kinds.written import ChoiceRule
from sdpa_cli.grading.library import names_in, own_exercises
from sdpa_cli.grading.reading import FILE, read_exercise
from sdpa_cli.grading.report import Status
from sdpa_cli.grading.statements import PLACE, blocks_and_options, text_key
from sdpa_cli.languages import LANGUAGES, placeholders
from sdpa_cli.sandbox import Sandbox

SEED = 20170612
"""Of the hidden cases that a solution is tried on."""
_IGNORED = {"__pycache__"}


@dataclass(frozen=True)
class Proof:
    """What was found out about one exercise; it is proved when there are no objections."""

    exercise: str
    objections: tuple[str, ...]


def prove_course(exercises: Path | None, solutions: Path, box: Sandbox) -> tuple[Proof, ...]:
    """Prove every exercise of a folder.

    Raises
    ------
    InputError
        When there is no such folder, or no exercise in it, or no folder with solutions.
    """
    if not solutions.is_dir():
        raise InputError(Problem("no-folder", f"{solutions} is no folder of solutions"))
    folder = exercises or own_exercises()
    names = names_in(folder)
    if not names:
        raise InputError(Problem("no-exercise", f"{folder} holds no exercise", f"folders with an {FILE}"))
    return tuple(prove(folder / name, solutions / name, box) for name in names)


def prove(folder: Path, solution: Path, box: Sandbox) -> Proof:
    """Prove one exercise.

    Parameters
    ----------
    folder
        The exercise.
    solution
        The folder with its solution.
    box
        Where code runs.
    """
    try:
        exercise = read_exercise(folder)
    except InputError as error:
        return Proof(folder.name, tuple(_with_place(problem.message, problem.place) for problem in error.problems))
    missing = tuple(_missing_files(exercise, solution))
    objections = [*missing, *_stray_files(exercise, solution), *_text_problems(exercise)]
    if not missing:
        objections += _starter_problems(exercise, box)
        objections += _solution_problems(exercise, solution, box)
    return Proof(exercise.name, tuple(objections))


def _with_place(message: str, place: object) -> str:
    return message if place is None else f"{place}: {message}"


def _missing_files(exercise: Exercise, solution: Path) -> Iterator[str]:
    for folder, expected in _expected(exercise, solution):
        yield from (f"{folder / name} is missing" for name in sorted(expected - _files(folder)))


def _stray_files(exercise: Exercise, solution: Path) -> Iterator[str]:
    for folder, expected in _expected(exercise, solution):
        yield from (f"{folder / name} belongs to nothing" for name in sorted(_files(folder) - expected))


def _expected(exercise: Exercise, solution: Path) -> Iterator[tuple[Path, set[str]]]:
    """Every file that an exercise consists of, and its solution; cases are those that a check uses."""
    statements = {statement_name(language) for language in LANGUAGES}
    texts = {f"texts/{language}.yaml" for language in LANGUAGES}
    starters = {f"starter/{file}" for file in exercise.files}
    cases = {f"cases/{name}.yaml" for name in exercise.cases}
    yield exercise.folder, {FILE, *statements, *texts, *starters, *cases}
    yield solution, set(exercise.files)


def _files(folder: Path) -> set[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and not _IGNORED.intersection(path.parts))
    return {path.relative_to(folder).as_posix() for path in paths}


def _text_problems(exercise: Exercise) -> Iterator[str]:
    """Texts that a language lacks or that nothing uses, and statements that differ in what they list."""
    wanted = set(_text_keys(exercise))
    listed = {f"{what}: {key}" for what, key in _lists(exercise)}
    for language in LANGUAGES:
        path = exercise.folder / "texts" / f"{language}.yaml"
        if not path.is_file() or not (exercise.folder / statement_name(language)).is_file():
            continue
        entries = exercise.texts(language).entries
        yield from (f"{path} lacks the text {key}" for key in sorted(wanted - set(entries)))
        yield from (f"{path}: nothing uses the text {key}" for key in sorted(set(entries) - wanted))
        yield from (f"{path}: {key} leaves something open" for key, text in entries.items() if _leaves_open(text))
        found = {f"{place['what']}: {place['key']}" for place in PLACE.finditer(exercise.statement(language))}
        if found != listed:
            path = exercise.folder / statement_name(language)
            yield f"{path} lists {sorted(found)}, and should list {sorted(listed)}"


def _leaves_open(text: str) -> bool:
    try:
        return bool(placeholders(text))
    except ValueError:
        return True


def _text_keys(exercise: Exercise) -> Iterator[str]:
    yield "title"
    for check in exercise.checks:
        yield f"checks.{check.name}"
        if check.hints is not None:
            yield from (f"hints.{check.hints}.{level}" for level in range(1, LEVELS + 1))
        if isinstance(check.rule, ChoiceRule):
            wrong = (option for option in check.rule.options if option != check.rule.right)
            yield from (f"options.{check.rule.key}.{option}.why-not" for option in wrong)
    for what, key in _lists(exercise):
        yield from (text_key(what, key, name) for name in blocks_and_options(exercise)[key])


def _lists(exercise: Exercise) -> Iterator[tuple[str, str]]:
    choices = {check.rule.key for check in exercise.checks if isinstance(check.rule, ChoiceRule)}
    for key in blocks_and_options(exercise):
        yield ("options" if key in choices else "blocks"), key


def _starter_problems(exercise: Exercise, box: Sandbox) -> Iterator[str]:
    for path in sorted(exercise.starter.glob("*.py")):
        try:
            ast.parse(path.read_bytes())
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: {error.msg}"
    report = grade(exercise, hand_in(exercise, exercise.starter), box)
    yield from (f"the starter passes {item.check}" for item in report.items if item.earned > 0)
    yield from (f"the tool fails at {item.check}" for item in report.items if item.status is Status.ERROR)


def _solution_problems(exercise: Exercise, solution: Path, box: Sandbox) -> Iterator[str]:
    report = grade(exercise, hand_in(exercise, solution), box, Wanted(seed=SEED))
    for item in report.items:
        if item.status is not Status.PASSED and item.status is not Status.OPEN:
            yield f"the solution does not pass {item.check}: {[message.key for message in item.finding.messages]}"
