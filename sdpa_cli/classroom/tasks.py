"""What a worker is asked: one submission, one exercise, one seed, one level of confinement; its answer is a text."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from atexit import register
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from sdpa_cli import __version__
from sdpa_cli.classroom.choosing import NOTEBOOK
from sdpa_cli.classroom.packing import Packed, digest, unpack
from sdpa_cli.classroom.records import to_text
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import HandedIn, hand_in
from sdpa_cli.sandbox import Level, Sandbox, SandboxError

Files = tuple[tuple[str, bytes], ...]
Reasons = tuple[tuple[str, Problem], ...]


@dataclass(frozen=True)
class Task:
    """One submission to be graded; all of it can be sent to another machine."""

    exercise: Packed
    files: Files
    """By the exercise's names, in alphabetical order."""
    unreadable: Reasons
    """Why a file could not be read."""
    seed: int | None
    level: Level
    versions: str
    """Of everything that a grade depends on; a worker must have the same."""

    @property
    def sha256(self) -> str:
        """What tells this submission from every other."""
        return submission_sha256(self.files, self.unreadable)

    @property
    def key(self) -> str:
        """What the grade depends on. The same key, the same record."""
        parts = (self.sha256, self.exercise.sha256, self.versions, repr(self.seed), self.level.name)
        return digest(*(part.encode() for part in parts))

    @property
    def size(self) -> int:
        """Bytes that it holds."""
        return sum(len(data) for _, data in self.files)


def submission_sha256(files: Files, unreadable: Reasons) -> str:
    """The digest of what was handed in; of a single file that is the file's own, as ``sha256sum`` gives it."""
    if len(files) == 1 and not unreadable:
        return hashlib.sha256(files[0][1]).hexdigest()
    parts = [part for name, data in files for part in (name.encode(), data)]
    return digest(*parts, b"", *(part.encode() for name, problem in unreadable for part in (name, problem.message)))


def versions() -> str:
    """The versions here."""
    return f"sdpa {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"


def secret(seed: str | None) -> int | None:
    """The number that hidden cases are drawn from, for an instructor's word.

    Raises
    ------
    InputError
        When the word is empty, as where a variable was not set: everybody could draw those cases.
    """
    if seed is None:
        return None
    if not seed.strip():
        hint = "without --seed, hidden checks stay open"
        raise InputError(Problem("seed", "the seed is empty", "a word that only you know", hint))
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16], "big")


def best_level() -> Level:
    """How well submissions are confined here."""
    with Sandbox() as box:
        return box.level


def grade_task(task: Task) -> str:
    """Grade a submission in this process's sandbox.

    Returns
    -------
    str
        The record's canonical text.

    Raises
    ------
    InputError
        When this worker is not what the others are.
    SandboxError
        When the sandbox fails. The next task gets a new one.
    """
    if task.versions != versions():
        message = f"a worker has {versions()}; the grades are to be made by {task.versions}"
        raise InputError(Problem("worker-differs", message, hint="install the same versions everywhere"))
    exercise = _last(unpack(task.exercise))
    with tempfile.TemporaryDirectory(prefix="sdpa-submission-") as name:
        handed_in = _laid_out(exercise, task, Path(name))
        try:
            report = grade(exercise, handed_in, _box(task.level), Wanted(seed=task.seed, hurried=True))
        except SandboxError:
            _box.cache_clear()
            raise
    if report.broken:
        _box.cache_clear()
    return to_text(report)


@cache
def _box(level: Level) -> Sandbox:
    """One sandbox, with one warm interpreter, for all submissions of a process."""
    box = Sandbox(level)
    register(box.close)
    return box


@cache
def _last(exercise: Exercise) -> Exercise:
    """The exercise with its hidden checks after all others: what a submission saw there, it can tell in no other."""
    return replace(exercise, checks=tuple(sorted(exercise.checks, key=lambda check: check.visibility == "hidden")))


def _laid_out(exercise: Exercise, task: Task, folder: Path) -> HandedIn:
    """The submission as `hand_in` finds it in a folder; messages then call files by their names alone."""
    known = {*exercise.files, NOTEBOOK}
    for name, data in task.files:
        if name not in known:  # names are the tool's, never a student's
            raise ValueError(f"{name!r} is no file of {exercise.name}")
        (folder / name).write_bytes(data)
    handed_in = hand_in(exercise, folder)
    problems = {name: problem for name, problem in task.unreadable if name != NOTEBOOK}
    return replace(handed_in, paths={}, unreadable={**handed_in.unreadable, **problems})
