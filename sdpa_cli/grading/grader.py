"""Exercise × submission → report: every check in turn, then the diagnosis of what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.comparing import ending
from sdpa_cli.grading.diagnosis import Evidence, diagnose, evidence_of
from sdpa_cli.grading.exercise import Check, Exercise
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.kinds.laws import LawRule
from sdpa_cli.grading.kinds.values import DrawnRule, RaisesRule, ValueRule
from sdpa_cli.grading.report import (
    CELLS,
    LOADS,
    FeedbackItem,
    Finding,
    Message,
    Report,
    Status,
    failed,
    reason,
    say,
)
from sdpa_cli.grading.stages import read_numbers, stage_of_fault
from sdpa_cli.sandbox import Kind, Sandbox

CODE_RULES = (ValueRule, DrawnRule, RaisesRule, LawRule)


@dataclass(frozen=True)
class Wanted:
    """What of an exercise is to be graded."""

    only: tuple[str, ...] = ()
    """These checks, and those they need; all when empty."""
    seed: int | None = None
    """Of hidden cases; without one, hidden checks stay open."""
    hurried: bool = False
    """Whether the first timeout is the last call, for the whole submission is graded again alone before it counts."""


def grade(exercise: Exercise, handed_in: HandedIn, box: Sandbox, wanted: Wanted = Wanted()) -> Report:
    """Grade a submission.

    Parameters
    ----------
    exercise, handed_in
        What is graded, by which checks.
    box
        Where its code runs.
    wanted
        Which checks.

    Returns
    -------
    Report
    """
    attempt = Attempt(exercise, handed_in, box, wanted.seed, hurried=wanted.hurried)
    # A submission's numbers may be anything; what comes of computing with them is compared, not warned of.
    with closing(attempt), np.errstate(all="ignore"):
        items = _items(attempt, _selected(exercise.checks, wanted.only), wanted.seed)
        if any(item.status is Status.FAILED for item in items):
            items = _explained(attempt, items)
    level = f"{box.level.name} ({box.level.means})" if exercise.function else ""
    return Report(exercise.name, tuple(items), level, "".join(dict.fromkeys(attempt.printed)))


def _selected(checks: tuple[Check, ...], only: tuple[str, ...]) -> list[Check]:
    if not only:
        return list(checks)
    needed = set(only)
    for check in reversed(checks):
        if check.name in needed:
            needed.update(check.needs)
    return [check for check in checks if check.name in needed]


def _items(attempt: Attempt, checks: Iterable[Check], seed: int | None) -> list[FeedbackItem]:
    items: list[FeedbackItem] = []
    status: dict[str, Status] = {}
    broken = None
    if attempt.exercise.function is not None:
        broken = _not_loaded(attempt)
        if broken is not None:
            items.append(FeedbackItem(LOADS, broken, 0.0))
        if attempt.left_out:
            items.append(FeedbackItem(CELLS, failed(*_left_out(attempt)), 0.0))
    for check in checks:
        finding = _judged(attempt, check, status, broken is not None, seed)
        status[check.name] = finding.status
        items.append(FeedbackItem(check.name, finding, check.points, check.bonus, check.visibility, check.hints))
    return items


def _judged(attempt: Attempt, check: Check, status: dict[str, Status], broken: bool, seed: int | None) -> Finding:
    if check.visibility == "hidden" and seed is None:
        return Finding(Status.OPEN, messages=(say("hidden.later"),))
    if broken and isinstance(check.rule, CODE_RULES):
        return Finding(Status.SKIPPED, messages=(say("skipped.loads"),))
    missing = [need for need in check.needs if status.get(need) is not Status.PASSED]
    if missing:
        return Finding(Status.SKIPPED, messages=(say("skipped.needs", needs=tuple(missing)),))
    if check.visibility == "hidden":
        attempt.show_hidden()
    try:
        return check.rule.judge(attempt)
    except Exception as error:  # whatever the tool does wrong must not become a student's lost point
        return Finding(Status.ERROR, messages=(say("error.tool", type=type(error).__name__, message=str(error)),))


def _not_loaded(attempt: Attempt) -> Finding | None:
    """Why the function's file cannot be used; None where it can."""
    file = attempt.function.file
    if (problem := attempt.problem(file)) is not None:
        return failed(say("file.unreadable", problem=reason(problem)))
    if attempt.handed_in.target is None and file not in attempt.handed_in.files:
        return failed(say("file.missing", file=file))
    outcome = attempt.load()
    if outcome.kind is Kind.RETURNED:
        return None
    shown = attempt.handed_in.shown(file)
    return failed(say("file.does-not-load", file=shown, why=ending(attempt, outcome, Path(shown).name)))


def _left_out(attempt: Attempt) -> Iterator[Message]:
    """Each cell that was left out, and why."""
    notebook = attempt.handed_in.notebooks[attempt.function.file]
    for one in attempt.left_out:
        yield say("file.cell-left-out", cell=one.cell, why=ending(attempt, one.outcome, notebook.name))


def _explained(attempt: Attempt, items: list[FeedbackItem]) -> list[FeedbackItem]:
    """Each failed check of code with the fault, the stage and whatever its numbers say."""
    if attempt.exercise.function is None or any(item.check == LOADS for item in items):
        return items
    attempt.forget_hidden()
    _gather(attempt)
    evidence = evidence_of(attempt.calls, attempt.function)
    fault = diagnose(evidence, attempt.function.returns)
    return [_with_diagnosis(attempt, item, fault, evidence) for item in items]


def _gather(attempt: Attempt) -> None:
    """Call the function on every case of the exercise, whether its check was due or not: more cases, less doubt."""
    seen = {id(call.case) for call in attempt.calls}
    for check in attempt.exercise.checks:
        rule = check.rule
        if isinstance(rule, ValueRule) or (isinstance(rule, RaisesRule) and not rule.spoil):
            for case in rule.cases:
                if id(case) not in seen:
                    attempt.observe(case, must_raise=isinstance(rule, RaisesRule))


def _with_diagnosis(
    attempt: Attempt, item: FeedbackItem, fault: str | None, evidence: tuple[Evidence, ...]
) -> FeedbackItem:
    finding = item.finding
    if item.status is not Status.FAILED or finding.case is None or item.check in (LOADS, CELLS):
        return item
    rule = attempt.exercise.check(item.check).rule
    if fault is not None and stage_of_fault(fault, finding.case) is not None:
        stage = stage_of_fault(fault, finding.case)
        return replace(item, finding=replace(finding, fault=fault, stage=stage))
    if not isinstance(rule, ValueRule):
        return item
    return replace(item, finding=_read(attempt, finding, rule.tolerance, evidence))


def _read(attempt: Attempt, finding: Finding, tolerance: Tolerance, evidence: tuple[Evidence, ...]) -> Finding:
    case = finding.case
    one = next((one for one in evidence if one.case is case), None)
    if case is None or one is None:
        return finding
    reading = read_numbers(case, one.actual, tolerance)
    return replace(finding, stage=reading.stage, messages=finding.messages + reading.messages)
