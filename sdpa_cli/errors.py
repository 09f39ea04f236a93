"""What the tool says when something is wrong: the exit codes, and one diagnostic that carries its own place and cure.

The lowest room of the house: it imports nothing from the others.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self


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
        told = (
            f"{problem.place}: {problem.message}" if problem.place else problem.message for problem in self.problems
        )
        return "; ".join(told)

    def located(self, locate: Callable[[tuple[str | int, ...]], Place]) -> Self:
        """The same error, each problem at the place where its path leads.

        Parameters
        ----------
        locate
            From a problem's path to its place.
        """
        error = copy(self)
        error.problems = tuple(problem.at(locate(problem.path)) for problem in self.problems)
        return error


class InputError(SdpaError, ValueError):
    """The values given cannot be computed with. A `ValueError`, so NumPy users may catch it as one."""
