"""Files as they lie in a folder or an archive: named, and read only when they are wanted."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sdpa_cli.errors import InputError, Problem
from sdpa_cli.sandbox import read_source, unreadable
from sdpa_cli.sandbox.reading import MAX_SOURCE

IGNORED = frozenset(
    {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".git", "__pycache__", ".ipynb_checkpoints", ".venv", ".sdpa"}
)
"""Names that systems and tools leave behind: never anybody's work."""
MOST_ENTRIES = 200_000
MOST_OF_ONE = 500
"""Files of one student in a folder, where there are too many; an exercise asks for a handful."""
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

    Where there are more than `MOST_ENTRIES`, only `MOST_OF_ONE` of each student, those nearest the top: one packed-up
    data set must not end the run of all.

    Raises
    ------
    InputError
        When it cannot be listed, or holds more than any class hands in.
    """
    found: list[Entry] = []
    counts: Counter[tuple[str, ...]] = Counter()
    depth, crowded = _depth_of_owners(folder), False
    for entry in _walk(folder):
        if crowded and counts[entry.path[:depth]] >= MOST_OF_ONE:
            continue
        counts[entry.path[:depth]] += 1
        found.append(entry)
        if len(found) > MOST_ENTRIES:
            if crowded:
                raise too_many(str(folder))
            crowded = True
            found, counts = _first_of_each(found, depth)
    return tuple(sorted(found, key=lambda entry: entry.path))


def _first_of_each(entries: list[Entry], depth: int) -> tuple[list[Entry], Counter[tuple[str, ...]]]:
    """The first `MOST_OF_ONE` files of each student, and how many each then has."""
    counts: Counter[tuple[str, ...]] = Counter()
    kept = []
    for entry in entries:
        owner = entry.path[:depth]
        if counts[owner] < MOST_OF_ONE:
            counts[owner] += 1
            kept.append(entry)
    return kept, counts


def _depth_of_owners(folder: Path) -> int:
    """How far down the students lie: within a single folder, which then is the export, one step farther."""
    try:
        inside = [path for path in folder.iterdir() if path.is_dir() and not ignored(path.name)]
    except OSError:  # whoever walks it is told
        return 1
    return 2 if len(inside) == 1 else 1


def too_many(where: str) -> InputError:
    """Refuse what no class hands in."""
    return unreadable(where, "unreadable.too-many", f"holds more than {MOST_ENTRIES} files", most=MOST_ENTRIES)


def most_bytes(name: str) -> int:
    """How long a file of that name may be."""
    return MOST_NESTED_BYTES if name.lower().endswith(".zip") else MAX_SOURCE


def ignored(name: str) -> bool:
    """Whether a name is of those that nobody hands in. ``._x`` is macOS's shadow of a file."""
    return name in IGNORED or name.startswith("._")


def _walk(folder: Path) -> Iterator[Entry]:
    """Every file, those nearest the top first."""
    waiting: deque[tuple[Path, tuple[str, ...]]] = deque([(folder, ())])
    while waiting:
        place, above = waiting.popleft()
        try:
            inside = sorted(os.scandir(place), key=lambda one: one.name)
        except OSError as error:
            if not above:
                raise InputError(Problem("cannot-read", f"{folder} cannot be read: {error.strerror}")) from None
            yield Entry(above, partial(_refuse, above[-1], str(error.strerror)))
            continue
        for one in inside:
            path = (*above, one.name)
            if ignored(one.name):
                continue
            if not one.is_dir(follow_symlinks=False):
                yield Entry(path, partial(read_source, Path(one.path), most_bytes(one.name)))
            elif len(above) < _DEEPEST:
                waiting.append((Path(one.path), path))


def _refuse(name: str, error: str) -> bytes:
    raise unreadable(name, "unreadable.not-listed", f"cannot be listed: {error}", error=error)
