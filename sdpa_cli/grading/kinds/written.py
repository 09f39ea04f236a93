"""Written answers with a right value: matrices, numbers, choices; and what only a person can judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpa_cli.attention.difference import Tolerance, compare
from sdpa_cli.cases import Case
from sdpa_cli.cases.kinds import Kind, ListOf, Number
from sdpa_cli.cases.matrices import Matrix
from sdpa_cli.faults import CATALOGUE
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.comparing import cell
from sdpa_cli.grading.fields import Pick
from sdpa_cli.grading.quantities import PER_ROW, Array, engine_inputs, of_recipe, right
from sdpa_cli.grading.report import Finding, Status, failed, passed, reason, say


def unanswered(attempt: Attempt, file: str, key: str) -> Finding | None:
    """What to say of an answer that is not there or cannot be read; None where it can."""
    answers = attempt.answers(file)
    if answers.missing:
        return failed(say("file.missing", file=file))
    if (problem := answers.problem(key)) is not None:
        place = str(problem.place or attempt.handed_in.shown(file))
        extra = [say("answer.expected", expected=problem.expected)] if problem.expected else []
        extra += [say("answer.hint", hint=problem.hint)] if problem.hint else []
        return failed(say("answer.problem", place=place, problem=reason(problem)), *extra)
    value = answers.values.get(key)
    if value is None or (isinstance(value, tuple) and not value):
        return failed(say("answer.missing", file=attempt.handed_in.shown(file), key=key))
    return None


@dataclass(frozen=True, eq=False)
class AnswerRule:
    """A quantity of a case, worked out and written down: of the right attention, or of a fault's."""

    file: str
    key: str
    quantity: str
    case: Case
    tolerance: Tolerance
    fault: str | None = None
    row: int | None = None
    """Only this row of the quantity, counted from 1: a single number."""

    def questions(self) -> Mapping[str, Kind]:
        """A matrix, a list with a number for each row, or one number."""
        if self.row is not None:
            return {self.key: Number()}
        return {self.key: ListOf(Number(), "[0.5, 1.5]") if self.quantity in PER_ROW else Matrix(elsewhere=())}

    def judge(self, attempt: Attempt) -> Finding:
        """Compare."""
        if (finding := unanswered(attempt, self.file, self.key)) is not None:
            return finding
        answers = attempt.answers(self.file)
        actual = np.asarray(answers.values[self.key], np.float64)
        expected = self._expected()
        if actual.shape != expected.shape:
            shape = say("answer.shape", key=self.key, found=actual.shape, expected=expected.shape)
            comma = answers.decimal_comma(self.key)
            return failed(shape, *([] if comma is None else [say("answer.hint", hint=comma)]))
        found = compare(actual, expected, self.tolerance)
        if found is None:
            return passed()
        if self.row is not None:
            return failed(say("answer.number", key=self.key, actual=found.actual))
        wrong = {name: value for name, value in cell(self.key, found).items() if name not in ("expected", "error")}
        return failed(say("answer.differs", **wrong), part=self.quantity)

    def _expected(self) -> Array:
        if self.fault is None:
            found = right(self.case, (self.quantity,))
        else:
            found = of_recipe(CATALOGUE[self.fault].recipe, engine_inputs(self.case), (self.quantity,))
        values = found[self.quantity]
        return np.asarray(values if self.row is None else values[self.row - 1])


@dataclass(frozen=True)
class ChoiceRule:
    """One of several answers; why each wrong one is wrong stands in the exercise's texts."""

    file: str
    key: str
    options: tuple[str, ...]
    right: str

    def questions(self) -> Mapping[str, Kind]:
        """One of the options."""
        return {self.key: Pick(self.options)}

    def judge(self, attempt: Attempt) -> Finding:
        """Whether it is the right one, and if not, why not."""
        if (finding := unanswered(attempt, self.file, self.key)) is not None:
            return finding
        chosen = attempt.answers(self.file).values[self.key]
        if chosen == self.right:
            return passed()
        return failed(say("choice.wrong", chosen=chosen), say(f"options.{self.key}.{chosen}.why-not"))


@dataclass(frozen=True)
class ReaderRule:
    """What only a person can judge. Its points stay open; they are never guessed."""

    file: str

    def judge(self, attempt: Attempt) -> Finding:
        """Open, if there is something to read."""
        if self.file not in attempt.handed_in.files:
            return failed(say("file.missing", file=self.file))
        return Finding(Status.OPEN, messages=(say("reader.needed"),))
