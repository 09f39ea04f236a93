"""Where exercises are: those that come with the tool, or those of a folder."""

from __future__ import annotations

from pathlib import Path

import sdpa_cli
from sdpa_cli.cases.nodes import nearest
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.reading import FILE, read_exercise
from sdpa_cli.grading.workspace import Workspace


def own_exercises() -> Path:
    """The folder of the exercises that come with the tool: in a wheel inside the package, in a checkout beside it."""
    package = Path(sdpa_cli.__file__).parent
    inside = package / "exercises"
    return inside if inside.is_dir() else package.parent / "exercises"


def exercises_for(given: Path | None, workspace: Workspace | None) -> Path:
    """The folder of exercises that is meant: the one given, else the workspace's, else the tool's own."""
    return given or (workspace.exercises if workspace is not None else None) or own_exercises()


def names_in(folder: Path) -> tuple[str, ...]:
    """The exercises of a folder, in alphabetical order."""
    if not folder.is_dir():
        raise InputError(Problem("no-folder", f"{folder} is no folder of exercises"))
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{FILE}")))


def unknown(what: str, name: str, known: tuple[str, ...], hint: str | None = None) -> Problem:
    """That something is not known by a name, what is, and which of it may have been meant."""
    near = nearest(name, known)
    expected = f"one of {', '.join(known)}" if known else None
    return Problem(f"no-{what}", f"there is no {what} {name}", expected, f"did you mean {near}?" if near else hint)


def find_exercise(folder: Path, name: str) -> Exercise:
    """The exercise of that name, in upper or lower case, or as a shell completes the name of its folder.

    Raises
    ------
    InputError
        When there is none, or it cannot be read.
    """
    names = names_in(folder)
    meant = name.rstrip("/\\").casefold()
    found = next((known for known in names if known.casefold() == meant), None)
    if found is None:
        hint = None if names else f"an exercise is a folder with a file {FILE}; {folder} has none"
        if names and Path(name).suffix:
            first = Path(name).parts[0]
            hint = f"say before a file which exercise it is of, such as {first if first in names else names[0]} {name}"
        raise InputError(unknown("exercise", name, names, hint))
    return read_exercise(folder / found)
