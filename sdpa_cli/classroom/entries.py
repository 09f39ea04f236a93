"""Files as they lie in a folder or an archive: named, and read only when they are wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.sandbox import read_source
from sdpa_cli.sandbox.reading import MAX_SOURCE

IGNORED = frozenset(
    {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".git", "__pycache__", ".ipynb_checkpoints", ".venv", ".sdpa"}
)
"""Names that systems and tools leave behind: never anybody's work."""
MOST_ENTRIES = 200_000
MOST_NESTED_BYTES = 8 << 20
"""Of an archive that a student has handed in: its list of files must fit into memory, whatever it claims."""
_DEEPEST = 12


@dataclass(frozen=True, eq=False)
class Entry:
    """One file, not read yet."""

    path: tuple[str, ...]
    """Its names from the top on."""
    read: Callable[[], bytes]
    """Its bytes. Raises `InputError` where it is a link, a device, too long, or damaged."""

    @property
    def name(self) -> str:
        """Its own name."""
        return self.path[-1]

    def below(self, names: int) -> Entry:
        """The same file, seen from so many folders further down."""
        return Entry(self.path[names:], self.read)


def folder_entries(folder: Path) -> tuple[Entry, ...]:
    """What lies in a folder and beneath, in alphabetical order; no link is followed.

    Raises
    ------
    InputError
        When it cannot be listed, or holds more than any class hands in.
    """
    found = tuple(_walk(folder, ()))
    if len(found) > MOST_ENTRIES:
        raise too_many(str(folder))
    return found


def too_many(where: str) -> InputError:
    """Refuse what no class hands in."""
    return InputError(Problem("too-many-files", f"{where} holds more than {MOST_ENTRIES} files"))


def most_bytes(name: str) -> int:
    """How long a file of that name may be."""
    return MOST_NESTED_BYTES if name.lower().endswith(".zip") else MAX_SOURCE


def ignored(name: str) -> bool:
    """Whether a name is of those that nobody hands in. ``._x`` is macOS's shadow of a file."""
    return name in IGNORED or name.startswith("._")


def _walk(folder: Path, above: tuple[str, ...]) -> Iterator[Entry]:
    if len(above) > _DEEPEST:
        return
    try:
        inside = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError as error:
        if not above:
            raise InputError(Problem("cannot-read", f"{folder} cannot be read: {error.strerror}")) from None
        yield Entry(above, partial(_refuse, f"{above[-1]} cannot be listed: {error.strerror}"))
        return
    for one in inside:
        if ignored(one.name):
            continue
        path = (*above, one.name)
        if one.is_dir(follow_symlinks=False):
            yield from _walk(Path(one.path), path)
        else:
            yield Entry(path, partial(read_source, Path(one.path), most_bytes(one.name)))


def _refuse(message: str) -> bytes:
    raise InputError(Problem("unreadable-source", message))
