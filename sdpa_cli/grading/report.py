"""What grading finds: one item per check, and the report that adds them up. Totals are computed here alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from sdpa_cli.attention.difference import Difference
from sdpa_cli.cases import Case
from sdpa_cli.errors import Problem, Worded

Visibility = Literal["visible", "hidden"]
LOADS = "loads"
"""The check that no exercise lists and all of code need: the file is there and can be loaded."""
CELLS = "cells"
"""Likewise: every cell of a notebook runs. It stands in a report only where one does not, and costs no points."""
NO_VALUES: Mapping[str, Any] = MappingProxyType({})


class Status(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """The tool itself failed; nothing is known about the submission."""
    SKIPPED = "skipped"
    """A check that it needs did not pass."""
    OPEN = "open"
    """For a person to judge, or kept for the instructor's own run: no points yet, and none lost."""


@dataclass(frozen=True)
class Message:
    """Something to be said: the key of a text, and what fills it. Numbers stay numbers until a language writes them."""

    key: str
    values: Mapping[str, Any] = field(default_factory=lambda: NO_VALUES)


def say(key: str, /, **values: Any) -> Message:
    """A message."""
    return Message(key, values)


def reason(problem: Problem) -> Message | str:
    """What is wrong, for a message: to be said in the reader's language, or as it is where there is no text for it."""
    return Message(problem.key, dict(problem.values)) if isinstance(problem, Worded) else problem.message


@dataclass(frozen=True, eq=False)
class Finding:
    """What a check found."""

    status: Status
    share: float = 0.0
    """Of its points, 0 to 1."""
    messages: tuple[Message, ...] = ()
    part: str | None = None
    """Which of the returned values differs: ``weights``, ``output``."""
    difference: Difference | None = None
    stage: str | None = None
    """The first wrong step of the computation, where it can be told."""
    fault: str | None = None
    """The catalogued fault whose numbers the submission reproduces."""
    case: Case | None = None
    """The failing input."""


def passed(*messages: Message) -> Finding:
    """All is as it should be."""
    return Finding(Status.PASSED, 1.0, messages)


def failed(*messages: Message, share: float = 0.0, **details: Any) -> Finding:
    """Something is not, for the reasons given."""
    return Finding(Status.FAILED, share, messages, **details)


@dataclass(frozen=True, eq=False)
class FeedbackItem:
    """One check's line in a report."""

    check: str
    finding: Finding
    possible: float
    """Points that count towards the maximum; 0 for a bonus."""
    bonus: float = 0.0
    """Points beyond the maximum."""
    visibility: Visibility = "visible"
    hints: str | None = None
    """The key of its ladder of hints."""

    @property
    def status(self) -> Status:
        """How it ended."""
        return self.finding.status

    @property
    def earned(self) -> float:
        """Points, in quarters of the check: a finer share would tell how many right blocks a proof has."""
        quarters = int(self.finding.share * 4 + 1e-9)
        return (self.possible + self.bonus) * quarters / 4


@dataclass(frozen=True, eq=False)
class Report:
    """The grade of one submission of one exercise."""

    exercise: str
    items: tuple[FeedbackItem, ...]
    sandbox: str = ""
    """The level at which its code ran."""
    printed: str = ""
    """What the submission printed."""

    @property
    def points(self) -> float:
        """Points earned, any bonus included."""
        return sum(item.earned for item in self.items)

    @property
    def max_points(self) -> float:
        """Points without any bonus."""
        return sum(item.possible for item in self.items)

    @property
    def open_points(self) -> float:
        """Points that nobody has judged yet."""
        return sum(item.possible for item in self.items if item.status is Status.OPEN)

    @property
    def complete(self) -> bool:
        """Whether every point that can be checked here is there."""
        return all(item.earned >= item.possible for item in self.items if item.status is not Status.OPEN)

    @property
    def loaded(self) -> bool:
        """Whether the function's file was there and could be loaded."""
        return all(item.check != LOADS for item in self.items)

    @property
    def broken(self) -> bool:
        """Whether the tool itself failed somewhere."""
        return any(item.status is Status.ERROR for item in self.items)

    @property
    def diagnosed(self) -> FeedbackItem | None:
        """The first check on whose input a named fault can be seen."""
        return next((item for item in self.items if item.finding.fault is not None), None)

    @property
    def first_failed(self) -> FeedbackItem | None:
        """The first check with points to be had, the one to work on next."""
        return next((i for i in self.items if i.status is Status.FAILED and i.earned < i.possible), None)
