"""What one command line of `sdpa check` asks for: which exercises are graded, and what of whom."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.answers import AboutFile
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.grader import Wanted
from sdpa_cli.grading.handed_in import Target
from sdpa_cli.grading.library import exercises_for, find_exercise, names_in, unknown
from sdpa_cli.grading.targets import target_of
from sdpa_cli.grading.workspace import Workspace, find_workspace
from sdpa_cli.languages import choose


@dataclass(frozen=True)
class Job:
    """One exercise to be graded, and what of whom."""

    exercise: Exercise
    place: Path | Target
    workspace: Workspace | None = None
    """Where results are remembered; None where something else than its files is graded."""
    left_out: tuple[str, ...] = ()
    """Files of the exercise that are not asked for, since a function alone is graded."""


@dataclass(frozen=True)
class Asked:
    """The command line's own words."""

    exercise: str | None = None
    submission: str | None = None
    only: tuple[str, ...] = ()
    exercises: Path | None = None
    language: str | None = None


@dataclass(frozen=True)
class Work:
    """What one command line asks for."""

    jobs: tuple[Job, ...]
    wanted: Wanted
    language: str
    exercises: Path
    workspace: Workspace | None
    here: Path
    """What paths are shown relative to."""


def prepare(asked: Asked, here: Path) -> Work:
    """Find everything that a command line asks for.

    Raises
    ------
    InputError
        When it is not clear what is meant, or nothing is there.
    """
    workspace = find_workspace(here)
    exercises = exercises_for(asked.exercises, workspace)
    language = choose(asked.language or (workspace.language if workspace is not None else None))
    place = None if asked.submission is None else target_of(asked.submission) or Path(asked.submission)
    found = tuple(jobs(exercises, asked.exercise, place, workspace, here))
    known = tuple(dict.fromkeys(one.name for job in found for one in job.exercise.checks))
    if strange := [name for name in asked.only if name not in known]:
        raise InputError(*(unknown("check", name, known) for name in strange))
    return Work(found, Wanted(asked.only), language, exercises, workspace, here)


def jobs(
    exercises: Path, name: str | None, place: Path | Target | None, workspace: Workspace | None, here: Path
) -> list[Job]:
    """What is to be graded.

    Parameters
    ----------
    exercises
        The folder of exercises.
    name
        Which one; None for all that the workspace has.
    place
        A submission; None for the workspace's.
    workspace
        The student's.
    here
        What paths are shown relative to.

    Raises
    ------
    InputError
        When it is not clear what is meant, or nothing is there.
    """
    if place is not None:
        assert name is not None
        if isinstance(place, Path) and not place.exists():
            raise InputError(Problem("missing-file", f"{place} does not exist"))
        exercise = find_exercise(exercises, name)
        return [Job(exercise, place) if isinstance(place, Path) else _of_function(exercise, place)]
    if workspace is None:
        hint = "make one here with: sdpa init, or name the file: sdpa check F3 attention.py"
        raise InputError(Problem("no-workspace", "this folder is no workspace", hint=hint))
    names = [name] if name is not None else [one for one in names_in(exercises) if (workspace.folder / one).is_dir()]
    found = [find_exercise(exercises, one) for one in names]
    absent = [one.name for one in found if not (workspace.folder / one.name).is_dir()]
    if absent or not found:
        what = ", ".join(absent) or "any exercise"
        raise InputError(
            Problem("not-laid-out", f"the workspace has no folder for {what}", hint="write it with: sdpa init")
        )
    return [Job(one, Path(shown(workspace.folder / one.name, here)), workspace) for one in found]


def _of_function(exercise: Exercise, target: Target) -> Job:
    """The checks that a function by itself can pass: none of what is written into other files."""
    if exercise.function is None:
        message = f"{exercise.name} asks for no function"
        raise InputError(Problem("no-function", message, ", ".join(exercise.files)))
    kept = [check for check in exercise.checks if not isinstance(check.rule, AboutFile)]
    names = {check.name for check in kept}
    checks = tuple(replace(check, needs=tuple(need for need in check.needs if need in names)) for check in kept)
    left_out = tuple(file for file in exercise.files if file != exercise.function.file)
    return Job(replace(exercise, checks=checks), target, left_out=left_out)


def shown(path: Path, here: Path) -> str:
    """A path as it is to be typed."""
    relative = os.path.relpath(path, here)
    return str(path) if relative.startswith("..") and path.is_absolute() else relative
