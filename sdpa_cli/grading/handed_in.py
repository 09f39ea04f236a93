"""What a submission consists of: an exercise's files as bytes, and what is wrong with those that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.notebooks import Notebook, read_notebook
from sdpa_cli.sandbox import read_source


@dataclass(frozen=True)
class Target:
    """A function of an installed module, ``package.module:function``, in place of a file."""

    module: str
    function: str


@dataclass(frozen=True)
class HandedIn:
    """A submission."""

    files: Mapping[str, bytes]
    """The exercise's files that could be read, by their names there."""
    unreadable: Mapping[str, Problem] = field(default_factory=dict)
    notebooks: Mapping[str, Notebook] = field(default_factory=dict)
    """For each file that came out of a notebook, that notebook."""
    target: Target | None = None
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Where each file was, for messages."""

    def path(self, file: str) -> Path | None:
        """Where a file is, or should have been; None for a function of an installed module."""
        return self.paths.get(file)

    def shown(self, file: str) -> str:
        """What to call a file."""
        if self.target is not None:
            return f"{self.target.module}:{self.target.function}"
        return str(self.paths.get(file, file))


def hand_in(exercise: Exercise, place: Path) -> HandedIn:
    """Collect an exercise's files.

    Parameters
    ----------
    exercise
        Says which files are handed in.
    place
        A folder with them; or one of them, whose neighbours count too. A file of any other name stands for the one
        of its kind, and a notebook for every Python file that is missing beside it or left as it was given.

    Raises
    ------
    InputError
        When a file is of no kind that is handed in.
    """
    folder = place if place.is_dir() else place.parent
    chosen = {file: folder / file for file in exercise.files}
    notebook = None
    if place.is_dir():
        notebook = next(iter(sorted(folder.glob("*.ipynb"))), None)
    elif place.suffix == ".ipynb" and any(file.endswith(".py") for file in exercise.files):
        notebook = place
    else:
        chosen[_meant(exercise, place)] = place
    found = _Collected()
    for file, path in chosen.items():
        found.take(file, path)
    if notebook is not None:
        _take_notebook(exercise, notebook, found)
    return HandedIn(found.files, found.unreadable, found.notebooks, None, found.paths)


def _meant(exercise: Exercise, place: Path) -> str:
    """Which of the exercise's files a file stands for, whatever its name."""
    if place.name in exercise.files:
        return place.name
    alike = [file for file in exercise.files if Path(file).suffix == place.suffix]
    function = exercise.function
    if function is not None and function.file in alike:
        return function.file
    if len(alike) != 1:
        message = f"{place} is none of the files of {exercise.name}"
        raise InputError(Problem("not-handed-in", message, ", ".join(exercise.files)))
    return alike[0]


def is_untouched(exercise: Exercise, handed_in: HandedIn) -> bool:
    """Whether every file is still as it was given."""
    starters = {file: exercise.starter / file for file in exercise.files}
    given = {file: path.read_bytes() for file, path in starters.items() if path.is_file()}
    return handed_in.target is None and handed_in.files == given and not handed_in.unreadable


class _Collected:
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.unreadable: dict[str, Problem] = {}
        self.notebooks: dict[str, Notebook] = {}
        self.paths: dict[str, Path] = {}

    def take(self, file: str, path: Path) -> None:
        """Read one file, if it is there."""
        self.paths[file] = path
        if not path.exists() and not path.is_symlink():
            return
        try:
            self.files[file] = read_source(path)
        except InputError as error:
            self.unreadable[file] = error.problems[0]


def _take_notebook(exercise: Exercise, path: Path, found: _Collected) -> None:
    wanted = [file for file in exercise.files if file.endswith(".py") and not _is_work(exercise, file, found)]
    if not wanted:
        return
    found.paths |= dict.fromkeys(wanted, path)
    try:
        notebook = read_notebook(read_source(path), path.name)
    except InputError as error:
        found.unreadable |= dict.fromkeys(wanted, error.problems[0])
        return
    for file in wanted:
        found.files[file] = notebook.source
        found.notebooks[file] = notebook


def _is_work(exercise: Exercise, file: str, found: _Collected) -> bool:
    """Whether a file is there and no longer what the student was given."""
    starter = exercise.starter / file
    return file in found.files and not (starter.is_file() and starter.read_bytes() == found.files[file])
