"""What the tool says when something is wrong: the exit codes, and one diagnostic that carries its own place and cure.

The lowest room of the house: it imports nothing from the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self
from unicodedata import category, east_asian_width


class ExitCode(IntEnum):
    """The process's exit status, the same for every command."""

    OK = 0
    FAILED = 1
    """A check or an expectation did not hold."""
    BAD_INPUT = 2
    """The input or the command line is wrong."""
    INTERNAL = 3
    """The tool itself failed. Never the user's fault, never scored as a student's 0."""


@dataclass(frozen=True)
class Place:
    """A point in a text, counted from 1 as editors do."""

    file: str
    line: int
    column: int
    source: str = ""
    """The text of that line, without its line ending."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, what was expected and what to do."""

    code: str
    """A stable kebab-case name, such as ``shape-mismatch``."""
    message: str
    expected: str | None = None
    hint: str | None = None
    path: tuple[str | int, ...] = ()
    """Where in the case it sits, in the case's own letters and 0-based indices: ``("Q", 2, 0)``."""
    place: Place | None = None
    """Where in a text that is; filled in by whoever read the text."""

    def at(self, place: Place | None) -> Problem:
        """The same problem, with its place in a text."""
        return replace(self, place=place)


@dataclass(frozen=True, kw_only=True)
class Worded(Problem):
    """A problem that can be told in every language; its message is the English."""

    key: str
    """Of the text that says the message."""
    values: tuple[tuple[str, str | int], ...]
    """What fills that text, by name."""


class SdpaError(Exception):
    """Something the user must be told. Carries every problem found, not just the first.

    Parameters
    ----------
    *problems
        What is wrong, in the order to be shown. At least one.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__(*problems)

    def __str__(self) -> str:
        # For whoever sees a traceback: all that is known, a line for each problem.
        return "\n".join(map(_in_one_line, self.problems))

    def located(self, locate: Callable[[tuple[str | int, ...]], Place]) -> Self:
        """The same error, each problem at the place where its path leads.

        Parameters
        ----------
        locate
            From a problem's path to its place.
        """
        # Not copy.copy: libraries that send errors between processes, Dask among them, change what that does.
        error = type(self).__new__(type(self), *self.args)
        error.__dict__ |= self.__dict__
        error.problems = tuple(problem.at(locate(problem.path)) for problem in self.problems)
        return error


class InputError(SdpaError, ValueError):
    """The values given cannot be computed with. A `ValueError`, so NumPy users may catch it as one."""


def _in_one_line(problem: Problem) -> str:
    place = f"{problem.place}: " if problem.place else ""
    expected = f", expected {problem.expected}" if problem.expected else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{place}{problem.message}{expected}{hint}"


_SHOWN_WIDTH = 96
"""Columns of a source line that are shown; a longer one is cut around the place."""
_TAB = "    "


def render(problem: Problem) -> str:
    r"""The text that tells a problem: its place, the line with a caret below, what was expected and a hint.

    Plain text without a final line break. Characters that would steer a terminal are written out, whatever the file
    holds.

    Parameters
    ----------
    problem
        What is wrong.

    Returns
    -------
    str

    Examples
    --------
    >>> place = Place("case.yaml", 1, 10, "Q: [[1, 0x10]]")
    >>> print(render(Problem("value", "'0x10' is not a number", hint="write 16", place=place)))
    case.yaml:1:10: error: '0x10' is not a number
        Q: [[1, 0x10]]
                 ^
      hint: write 16
    """
    lines = [f"error: {problem.message}" if problem.place is None else f"{problem.place}: error: {problem.message}"]
    if problem.place is not None and problem.place.source.strip():
        lines += _excerpt(problem.place)
    if problem.expected:
        lines.append(f"  expected: {problem.expected}")
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join("".join(map(_visible, line)) for line in lines)


def _excerpt(place: Place) -> list[str]:
    """The source line, cut around the column where it is long, and a caret under the column."""
    first = max(0, place.column - 1 - _SHOWN_WIDTH)
    nearby = [_visible(character) for character in place.source[first : place.column - 1 + _SHOWN_WIDTH]]
    widths = [sum(map(_width, cell)) for cell in nearby]
    column = min(place.column - 1 - first, len(nearby))
    start, stop = _window(widths, column)
    before, after = "…" * (first + start > 0), "…" * (first + stop < len(place.source))
    indent = len(before) + sum(widths[start:column])
    return [f"    {before}{''.join(nearby[start:stop])}{after}", f"    {' ' * indent}^"]


def _window(widths: list[int], column: int) -> tuple[int, int]:
    """Which characters of a line to show: all if they fit, else those around a column."""
    start, stop = 0, len(widths)
    while sum(widths[start:column]) > _SHOWN_WIDTH // 2 and sum(widths[start:stop]) > _SHOWN_WIDTH:
        start += 1
    while sum(widths[start:stop]) > _SHOWN_WIDTH:
        stop -= 1
    return start, stop


def _visible(character: str) -> str:
    """A character as it may be shown: a tab as spaces, and what steers a terminal or cannot be seen as its code."""
    if character == "\t":
        return _TAB
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def _width(character: str) -> int:
    """How many columns of a terminal a character takes."""
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1
