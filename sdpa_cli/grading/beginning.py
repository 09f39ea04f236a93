"""`sdpa init`: laying out a workspace, setting an exercise back, and writing the skeleton of a new exercise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from shlex import quote

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.library import exercises_for, find_exercise, names_in, own_exercises
from sdpa_cli.grading.saying import PACKAGE, Speaker, speaker
from sdpa_cli.grading.workspace import LaidOut, find_workspace, lay_out, make_workspace, set_back
from sdpa_cli.languages import choose

SKELETON = "skeleton"
_STAND_IN = ".txt"
"""Ending of a skeleton's Python files, which are no modules of this package."""


@dataclass(frozen=True, eq=False)
class Begun:
    """What was written."""

    laid_out: dict[str, LaidOut]
    """By exercise."""
    speaker: Speaker
    backup: tuple[str, Path] | None = None
    """An exercise that was set back, and where its files are kept."""
    next_command: str = ""


def begin(folder: Path, reset: str | None, language: str | None, exercises: Path | None) -> Begun:
    """Write every exercise's files into a folder, or bring an existing workspace up to date.

    Parameters
    ----------
    folder
        Where to.
    reset
        An exercise whose files are to be moved aside first.
    language
        Of statements and feedback; None for the workspace's own, or the locale's.
    exercises
        A folder of exercises; None for the workspace's own, or the tool's.

    Raises
    ------
    InputError
        When it cannot be written there, or there is no such exercise.
    """
    before = find_workspace(folder) if folder.is_dir() else None
    if before is not None and before.folder != folder.resolve():
        message = f"{folder} lies in the workspace {before.folder}"
        raise InputError(Problem("nested-workspace", message, hint="run sdpa init there, or choose another folder"))
    chosen = choose(language or (before.language if before is not None else None))
    source = exercises_for(exercises, before)
    found = [find_exercise(source, name) for name in names_in(source)]
    again = None if reset is None else find_exercise(source, reset)
    workspace = make_workspace(folder, chosen, None if source == own_exercises() else source)
    voice = speaker(chosen)
    where = None if again is None else set_back(again, workspace)
    backup = None if again is None or where is None else (again.name, where)
    laid_out = {exercise.name: lay_out(exercise, workspace, chosen) for exercise in found}
    first = again.name if again is not None else next(iter(laid_out), "")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {quote(str(folder))} && "
    return Begun(laid_out, voice, backup, f"{enter}sdpa check {first}")


def begin_exercise(folder: Path, language: str | None) -> Begun:
    """Write the skeleton of a new exercise, and of its solution: small, complete, and to be written over.

    Raises
    ------
    InputError
        When the folder holds anything already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(Problem("not-empty", f"{folder} is there already", "a folder that is new or empty"))
    solution = folder.parent / f"{folder.name}-solution" / folder.name
    if solution.exists():
        raise InputError(Problem("not-empty", f"{solution} is there already", "a folder that is new"))
    root = files(PACKAGE) / SKELETON
    written = [*_copied(root / "exercise", folder), *_copied(root / "solution", solution)]
    command = f"sdpa prove {quote(str(solution.parent))} --exercises {quote(str(folder.parent))}"
    return Begun({folder.name: LaidOut(tuple(written), ())}, speaker(choose(language)), None, command)


def _copied(source: Traversable, target: Path) -> Iterator[Path]:
    for entry in source.iterdir():
        path = target / entry.name.removesuffix(_STAND_IN)
        if entry.is_dir():
            yield from _copied(entry, path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry.read_bytes())
            yield path
