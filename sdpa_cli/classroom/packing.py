"""An exercise as bytes: known by what is in it, and the same on every machine that grades it."""

from __future__ import annotations

import hashlib
import tempfile
from atexit import register
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.reading import FILE, read_exercise

_PARTS = (FILE, "cases", "starter")
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Packed:
    """An exercise's folder."""

    name: str
    files: tuple[tuple[str, bytes], ...]
    """By their paths in the folder, in alphabetical order."""

    @property
    def sha256(self) -> str:
        """What tells it from every other, and from itself before a change."""
        return digest(self.name.encode(), *(part for path, data in self.files for part in (path.encode(), data)))


def pack(exercise: Exercise) -> Packed:
    """All that grading an exercise reads. Its texts are not of it: a better hint changes no grade.

    Raises
    ------
    InputError
        When that is more than any exercise needs.
    """
    parts = (exercise.folder / name for name in _PARTS)
    paths = sorted(path for part in parts for path in ([part] if part.is_file() else part.rglob("*")) if path.is_file())
    if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
        message = f"{exercise.folder} holds more than {_MOST_BYTES >> 20} MiB"
        raise InputError(Problem("exercise", message, "a folder with nothing but the exercise in it"))
    files = tuple((path.relative_to(exercise.folder).as_posix(), path.read_bytes()) for path in paths)
    return Packed(exercise.name, files)


@cache
def unpack(packed: Packed) -> Exercise:
    """The exercise; once in a process, which tidies up when it ends."""
    place = tempfile.TemporaryDirectory(prefix="sdpa-exercise-")
    register(place.cleanup)
    folder = Path(place.name) / packed.name
    for name, data in packed.files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return read_exercise(folder)


def digest(*parts: bytes) -> str:
    """The SHA-256 of parts, told apart by their lengths."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()
