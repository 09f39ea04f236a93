"""Checks of code against right values: on given cases, on drawn ones, and what must be refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import Case
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.comparing import difference, ending, has_nan, not_returned, returned
from sdpa_cli.grading.drawing import drawn_cases
from sdpa_cli.grading.quantities import per_case, right
from sdpa_cli.grading.report import Finding, Status, failed, passed, say
from sdpa_cli.sandbox import Fault, Kind


@dataclass(frozen=True, eq=False)
class ValueRule:
    """The function must give the right values on these cases, which run from small to large."""

    cases: tuple[Case, ...]
    tolerance: Tolerance

    def judge(self, attempt: Attempt) -> Finding:
        """The first case that fails."""
        # Every case is called, even after one has failed: all of them are evidence for the diagnosis.
        found = [_compared(attempt, case, self.tolerance) for case in self.cases]
        return next((finding for finding in found if finding is not None), None) or passed()


@dataclass(frozen=True, eq=False)
class DrawnRule:
    """The function must give the right values on cases drawn from a seed that the instructor keeps."""

    count: int
    masks: tuple[str, ...]
    tolerance: Tolerance

    def judge(self, attempt: Attempt) -> Finding:
        """The first case that fails; open while there is no seed."""
        if attempt.seed is None:
            return Finding(Status.OPEN, messages=(say("hidden.later"),))
        cases = drawn_cases(attempt.seed, self.count, self.masks)
        return ValueRule(cases, self.tolerance).judge(attempt)


@dataclass(frozen=True, eq=False)
class RaisesRule:
    """The function must refuse these cases, or what is left of them once they are spoiled."""

    cases: tuple[Case, ...]
    exception: str
    spoil: str

    def judge(self, attempt: Attempt) -> Finding:
        """The first case that it takes."""
        found = (self._refused(attempt, case) for case in self.cases)
        return next((finding for finding in found if finding is not None), None) or passed()

    def _refused(self, attempt: Attempt, case: Case) -> Finding | None:
        outcome = attempt.call(_spoiled(case, self.spoil)) if self.spoil else attempt.observe(case, must_raise=True)
        shown = None if self.spoil else case
        if outcome.kind is Kind.RETURNED:
            key = f"raises.returned-{self.spoil or 'forbidden'}"
            return failed(say(key, function=attempt.called, exception=self.exception), case=shown)
        if outcome.kind is not Kind.RAISED or outcome.error is None:
            return failed(ending(attempt, outcome), case=shown)
        if not _is_a(outcome.error, self.exception):
            messages = (say("raises.other", exception=self.exception), ending(attempt, outcome))
            return failed(*messages, case=shown)
        return None


def _compared(attempt: Attempt, case: Case, tolerance: Tolerance) -> Finding | None:
    outcome = attempt.observe(case)
    expected = right(case, attempt.function.returns)
    if has_nan(expected) and outcome.error is not None and _is_a(outcome.error, "ValueError"):
        return None  # refusing what is not finite is no way to hide it
    message = not_returned(attempt, outcome)
    if message is not None:
        return failed(message, case=case)
    actual = returned(outcome, attempt.function)
    assert actual is not None
    return difference(case, actual, expected, tolerance)


def _is_a(error: Fault, wanted: str) -> bool:
    """Whether an exception is one of the wanted kind, as far as names tell."""
    return wanted in (error.type, *error.bases)


@per_case
def _spoiled(case: Case, how: str) -> Case:
    return SPOILS[how](case)


SPOILS: Mapping[str, Callable[[Case], Case]] = {
    "key-column": lambda case: replace(case, k=case.k[..., :-1]),
    "value-row": lambda case: replace(case, v=case.v[..., :-1, :]),
}
"""How the shapes of a case are brought to disagree. The mask stays: what is spoiled is never computed here."""
