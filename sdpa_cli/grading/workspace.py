"""A student's folder: one folder per exercise, and what the tool remembers about it in ``.sdpa``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.case_texts import case_text
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.report import Report, Status
from sdpa_cli.grading.statements import statement

STATE = ".sdpa"
_SETTINGS, _PROGRESS, _HINTS, _BACKUP = "workspace.json", "progress.json", "hints.json", "backup"


@dataclass(frozen=True)
class Progress:
    """How far one exercise has come, when it was last checked."""

    points: float
    max_points: float
    complete: bool
    failed: tuple[str, ...]
    """The checks that had failed, in their order."""


@dataclass(frozen=True)
class LaidOut:
    """What was done about one exercise's files."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]


@dataclass(frozen=True)
class Workspace:
    """A folder that `sdpa init` has made."""

    folder: Path

    @property
    def state(self) -> Path:
        """Where the tool keeps what it remembers."""
        return self.folder / STATE

    @property
    def language(self) -> str | None:
        """The language that was chosen for it."""
        found = self._read(_SETTINGS).get("language")
        return found if isinstance(found, str) else None

    @property
    def exercises(self) -> Path | None:
        """The folder of exercises it was made from; None for the tool's own."""
        found = self._read(_SETTINGS).get("exercises")
        return Path(found) if isinstance(found, str) else None

    def progress(self) -> dict[str, Progress]:
        """How far each exercise has come."""
        try:
            found = self._read(_PROGRESS).items()
            return {name: Progress(**{**entry, "failed": tuple(entry["failed"])}) for name, entry in found}
        except (TypeError, KeyError, AttributeError):
            return {}  # written by another version, or by hand: it is only remembered, not needed

    def remember(self, report: Report) -> None:
        """Keep how far an exercise has come."""
        failed = tuple(item.check for item in report.items if item.status is Status.FAILED and item.hints)
        now = Progress(report.points, report.max_points, report.complete, failed)
        entries = {name: asdict(entry) for name, entry in self.progress().items()}
        self._write(_PROGRESS, entries | {report.exercise: asdict(now)})

    def hint_level(self, exercise: str, ladder: str) -> int:
        """How many of a ladder's hints have been given."""
        level = self._read(_HINTS).get(f"{exercise}.{ladder}", 0)
        return level if isinstance(level, int) else 0

    def remember_hint(self, exercise: str, ladder: str, level: int) -> None:
        """Keep how many of a ladder's hints have been given."""
        self._write(_HINTS, {**self._read(_HINTS), f"{exercise}.{ladder}": level})

    def save_cases(self, report: Report, title: Mapping[str, str]) -> dict[str, Path]:
        """Write the failing input of each check as a case file; where each of them is.

        Parameters
        ----------
        report
            With the failing inputs.
        title
            What each check is called.
        """
        paths = {}
        for item in report.items:
            path = self.state / f"{report.exercise}-{item.check}.yaml"
            if item.status is Status.FAILED and item.finding.case is not None:
                text = case_text(item.finding.case, f"{report.exercise}: {title[item.check]}")
                _replace(path, text.encode("utf-8"))
                paths[item.check] = path
            else:
                _remove(path)
        if not paths:
            with suppress(OSError):  # where it is not empty, or is not there
                self.state.rmdir()
        return paths

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self.state / name).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        _replace(self.state / name, (json.dumps(values, indent=1) + "\n").encode())


def find_workspace(start: Path) -> Workspace | None:
    """The workspace that a folder lies in."""
    folders = (
        folder for folder in (start.resolve(), *start.resolve().parents) if (folder / STATE / _SETTINGS).is_file()
    )
    return next((Workspace(folder) for folder in folders), None)


def make_workspace(folder: Path, language: str, exercises: Path | None) -> Workspace:
    """Make a folder a workspace, or say anew which language it speaks.

    Raises
    ------
    InputError
        When it cannot be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(Problem("not-a-folder", f"{folder} is a file", "a folder"))
    found = Workspace(folder)
    settings = {"language": language} | ({} if exercises is None else {"exercises": str(exercises.resolve())})
    found._write(_SETTINGS, settings)
    return found


def lay_out(exercise: Exercise, workspace: Workspace, language: str) -> LaidOut:
    """Write an exercise's statement and starter files. What is there already stays as it is."""
    written, kept = [], []
    for path, data in _files(exercise, workspace.folder / exercise.name, language):
        if path.exists():
            kept.append(path)
        else:
            _replace(path, data)
            written.append(path)
    return LaidOut(tuple(written), tuple(kept))


def set_back(exercise: Exercise, workspace: Workspace) -> Path | None:
    """Move a student's files of an exercise aside, so that they can be laid out anew; to which folder."""
    folder = workspace.folder / exercise.name
    if not folder.is_dir():
        return None
    number = 1
    while (backup := workspace.state / _BACKUP / f"{exercise.name}-{number}").exists():
        number += 1
    backup.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(backup)
    return backup


def _files(exercise: Exercise, folder: Path, language: str) -> Iterator[tuple[Path, bytes]]:
    yield folder / "README.md", statement(exercise, language).encode("utf-8")
    for path in sorted(exercise.starter.iterdir()):
        if path.is_file():
            yield folder / path.name, path.read_bytes()


def _remove(path: Path) -> None:
    try:
        if path.exists():  # a file system that is only read refuses to remove what is not there
            path.unlink()
    except OSError as error:
        raise InputError(Problem("cannot-write", f"{path} cannot be removed: {error.strerror}")) from None


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole, or leave it as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.new")
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        raise InputError(Problem("cannot-write", f"{path} cannot be written: {error.strerror}")) from None
