"""Kinds of value that only exercises hold: names of various things, lists that hold something, and answers."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.kinds import Choice, ListOf, Text
from sdpa_cli.cases.nodes import named, read_scalar
from sdpa_cli.cases.numbers import NotUnderstood, shown
from sdpa_cli.cases.source import Steps
from sdpa_cli.grading.report import CELLS, LOADS

_CHECK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_FILE = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class Name(Text):
    """A text that has to be a name of some sort."""

    fits: Callable[[str], bool]
    expected: str

    def read(self, cursor: Cursor, steps: Steps) -> str | None:
        """Take one name."""
        return read_scalar(cursor, steps, self._parse)

    def _parse(self, text: str) -> str:
        if not self.fits(text):
            raise NotUnderstood(f"{shown(text)} cannot be used here", self.expected)
        return text


@dataclass(frozen=True)
class SomeOf(ListOf):
    """A list with at least one item."""

    def read(self, cursor: Cursor, steps: Steps) -> tuple[Any, ...] | None:
        """Take the list; None if it is empty, or any item is wrong."""
        event = cursor.peek()
        found = super().read(cursor, steps)
        if found == ():
            cursor.report(event, "empty", f"{named(steps)} is empty", steps=steps, expected=f"such as {self.example}")
            return None
        return found


@dataclass(frozen=True)
class Pick(Choice):
    """One of several answers to a question, in upper or lower case: a hint at one could be the answer, or a trap."""

    @property
    def due(self) -> str:
        """The answers there are, in a form that every language has."""
        return f"one of: {', '.join(self.options)}"

    def meant(self, text: str) -> str | None:
        """The answer that a text is; None where it is none."""
        alike = (option for option in self.options if option.casefold() == text.casefold())
        return super().meant(text) or next(alike, None)

    def hint(self, text: str) -> str | None:
        """None at all."""
        return None


CHECK_NAME = Name(
    lambda text: bool(_CHECK.fullmatch(text)) and text not in (LOADS, CELLS),
    f"a name of letters, digits and hyphens, other than {LOADS} and {CELLS}",
)
FILE_NAME = Name(lambda text: bool(_FILE.fullmatch(text)), "the name of a file, without a folder")
FUNCTION_NAME = Name(lambda text: text.isidentifier() and not keyword.iskeyword(text), "a name that Python accepts")
