"""Where a case was read: its text, and the line and column of anything in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from sdpa_cli.errors import Place

Steps = tuple[str | int, ...]
"""A way into a case, key by key and index by index (0-based): ``("Q", 2, 0)``."""

# YAML's line breaks, which are more than an editor's.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class Mark(Protocol):
    """A position in a text as PyYAML gives it, counted from 0."""

    @property
    def line(self) -> int: ...  # noqa: D102
    @property
    def column(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Source:
    """One document of a case file, or one value given on the command line."""

    name: str
    """As messages show it: a path, ``<stdin>`` or ``--mask``."""
    text: str = field(repr=False)
    directory: Path = Path()
    """What file names in the text are relative to."""
    document: int = 1
    """Which document of its file this is, counted from 1."""
    first_line: int = 1
    """The line of the file on which this document begins, counted from 1."""
    replaced: Mapping[str, Source] = field(default_factory=dict)
    """Fields whose value was given elsewhere, and where."""
    root: Steps = ()
    """The path of what stands at the top of the text: that of a field, if the text is the value of one field."""

    def place(self, mark: Mark | None) -> Place:
        """The point of the file at one of PyYAML's marks; without one, its beginning."""
        line, column = (mark.line, mark.column) if mark else (0, 0)
        text = self._lines[line] if line < len(self._lines) else ""
        return Place(self.name, self.first_line + line, column + 1, text)

    def locate(self, steps: Steps) -> Place:
        """The point where the value at a path begins, or the value nearest above it that is there."""
        return self.locate_all([steps])[steps]

    def locate_all(self, paths: Iterable[Steps]) -> dict[Steps, Place]:
        """The points of several paths at once.

        Nothing is kept for this while a case is read: the text is parsed once more, only now that somebody asks.
        """
        from sdpa_cli.cases.locating import locate

        places: dict[Steps, Place] = {}
        wanted: dict[Source, list[Steps]] = {}
        for path in paths:
            wanted.setdefault(self.replaced.get(str(path[0]), self) if path else self, []).append(path)
        for source, given in wanted.items():
            found = locate(source, [path[len(source.root) :] for path in given])
            places |= {path: found[path[len(source.root) :]] for path in given}
        return places

    @cached_property
    def _lines(self) -> list[str]:
        return _BREAK.split(self.text)


def line_breaks(text: str) -> int:
    """How many line breaks a text holds, as YAML counts them."""
    return len(_BREAK.findall(text))
