"""What came of a class: one result for every student, each with a standing that says whether its grade stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sdpa_cli.classroom.records import Record
from sdpa_cli.classroom.roster import Roster, Student
from sdpa_cli.classroom.similarity import Fingerprint
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.report import FeedbackItem, Message, Status


class Standing(StrEnum):
    """How it stands with a student's submission."""

    GRADED = "graded"
    MISSING = "missing"
    """Nothing was handed in."""
    UNREADABLE = "unreadable"
    """A file of it could not be read; whatever could be is graded."""
    ATTENTION = "needs attention"
    """A person must say whose it is, or which file counts; whatever could be is graded."""
    ERROR = "error"
    """The tool itself failed: there is no grade, and the next run tries again."""


@dataclass(frozen=True, eq=False)
class Result:
    """One student's."""

    student: Student
    standing: Standing
    place: str = ""
    """Where the submission was in the export."""
    files: tuple[str, ...] = ()
    """The exercise's files that were found."""
    sha256: str = ""
    earlier: tuple[str, ...] = ()
    """The places of the submissions before it."""
    late: bool = False
    remarks: tuple[Message, ...] = ()
    record: Record | None = None
    fingerprint: Fingerprint = frozenset()

    @property
    def items(self) -> tuple[FeedbackItem, ...]:
        """The checks' lines; none where there is no grade."""
        return self.record.report.items if self.record is not None else ()

    @property
    def points(self) -> float | None:
        """Points earned; None where there is no grade."""
        return self.record.report.points if self.record is not None else None

    @property
    def bonus(self) -> float:
        """Points among them beyond those of the checks."""
        return sum(item.bonus for item in self.items)

    @property
    def has_another_name(self) -> bool:
        """Whether a file of another name was taken for the function's."""
        return any(remark.key == "seat.taken-as" for remark in self.remarks)

    @property
    def final_points(self) -> float | None:
        """Points that may be entered without a person having looked."""
        return None if self.needs_person else self.points

    @property
    def open_points(self) -> float:
        """Points that nobody has judged yet, those of hidden checks without a seed among them."""
        return self.record.report.open_points if self.record is not None else 0.0

    @property
    def reader_points(self) -> float:
        """Points that a person has yet to give."""
        return sum(i.possible for i in self.items if i.status is Status.OPEN and i.visibility == "visible")

    @property
    def fault(self) -> str | None:
        """The catalogued fault that its numbers are."""
        own = (item.finding.fault for item in self.items if item.status is Status.FAILED and item.finding.stage)
        return next((fault for fault in own if fault is not None), None)

    @property
    def needs_person(self) -> bool:
        """Whether somebody has to look at it."""
        return self.standing not in (Standing.GRADED, Standing.MISSING) or self.reader_points > 0


@dataclass(frozen=True, eq=False)
class ClassResult:
    """A whole class, graded."""

    exercise: Exercise
    sandbox: str
    """How submissions were confined."""
    versions: str
    hidden_cases: bool
    """Whether there was a seed, so that hidden checks count."""
    results: tuple[Result, ...]
    alike: tuple[tuple[int, ...], ...] = ()
    """Groups of nearly identical submissions, by their place among the results."""
    roster: Roster | None = None

    @property
    def has_bonus(self) -> bool:
        """Whether somebody has earned one."""
        return any(one.bonus for one in self.results)

    @property
    def max_points(self) -> float:
        """Points without any bonus."""
        return sum(check.points for check in self.exercise.checks)
