"""Hints, one level at a time: for the first check that had failed, or for one that is named."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdpa_cli.cases.nodes import nearest
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.library import exercises_for, find_exercise
from sdpa_cli.grading.saying import Speaker, speaker
from sdpa_cli.grading.workspace import Workspace, find_workspace
from sdpa_cli.languages import choose

LEVELS = 3


@dataclass(frozen=True)
class Hint:
    """One hint."""

    check: str
    ladder: str
    """The key of the hints that it is one of."""
    level: int
    text: str

    @property
    def is_last(self) -> bool:
        """Whether no other follows."""
        return self.level == LEVELS


@dataclass(frozen=True)
class Given:
    """What came of asking for a hint."""

    exercise: Exercise
    hint: Hint | None
    speaker: Speaker
    workspace: Workspace | None = None
    """Where it is kept that it was given; without one, the next hint is this one again."""
    unkept: InputError | None = None
    """Why that could not be written down."""


def ask(name: str, check: str | None, exercises: Path | None, language: str | None, here: Path) -> Given:
    """The next hint for an exercise of the workspace one is in.

    Raises
    ------
    InputError
        When there is no such exercise or check.
    """
    workspace = find_workspace(here)
    chosen = choose(language or (workspace.language if workspace is not None else None))
    exercise = find_exercise(exercises_for(exercises, workspace), name)
    hint = next_hint(exercise, workspace, chosen, check)
    unkept = None if hint is None or workspace is None else _unkept(exercise, hint, workspace)
    return Given(exercise, hint, speaker(chosen, exercise), workspace, unkept)


def _unkept(exercise: Exercise, hint: Hint, workspace: Workspace) -> InputError | None:
    """Keep that a hint was given; why not, where nothing can be written."""
    try:
        workspace.remember_hint(exercise.name, hint.ladder, hint.level)
    except InputError as error:
        return error
    return None


def next_hint(exercise: Exercise, workspace: Workspace | None, language: str, check: str | None = None) -> Hint | None:
    """The next hint.

    Parameters
    ----------
    exercise
        For which exercise.
    workspace
        Remembers what has failed, and which hints were given. Without one it is the first hint of the first check.
    language
        In which language.
    check
        For which check; None for the first that had failed.

    Returns
    -------
    Hint or None
        None where every check has passed.

    Raises
    ------
    InputError
        When there is no such check, or no hint for it.
    """
    with_hints = [one.name for one in exercise.checks if one.hints]
    if check is None:
        found = workspace.progress().get(exercise.name) if workspace is not None else None
        failed = [name for name in found.failed if name in with_hints] if found is not None else with_hints
        if not failed:
            return None
        check = failed[0]
    if check not in with_hints:
        near = nearest(check, tuple(with_hints))
        hint = f"did you mean {near}?" if near else None
        message = f"there is no hint for {check}"
        raise InputError(Problem("no-hint", message, f"one of {', '.join(with_hints)}", hint))
    ladder = exercise.check(check).hints
    assert ladder is not None
    level = min(LEVELS, 1 + (workspace.hint_level(exercise.name, ladder) if workspace is not None else 0))
    return Hint(check, ladder, level, exercise.texts(language)(f"hints.{ladder}.{level}"))
