"""From an exercise's folder to an `Exercise`, with every problem of its files told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sdpa_cli.cases import Case, load_case
from sdpa_cli.cases.files import read_text
from sdpa_cli.cases.source import Source, Steps
from sdpa_cli.cases.yaml_files import read_source
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Check, Exercise, Function
from sdpa_cli.grading.kinds.laws import READS, LawRule
from sdpa_cli.grading.kinds.proof_blocks import ProofRule
from sdpa_cli.grading.kinds.written import ChoiceRule
from sdpa_cli.grading.proofs import MOST_BLOCKS
from sdpa_cli.grading.schema import COMMON, EXERCISE, Cases, filled, kind_of

FILE = "exercise.yaml"
Values = Mapping[str, Any]


def read_exercise(folder: Path) -> Exercise:
    """Read an exercise.

    Parameters
    ----------
    folder
        With ``exercise.yaml``, ``cases/``, ``texts/``, ``starter/`` and the statement.

    Returns
    -------
    Exercise

    Raises
    ------
    InputError
        With every problem of the definition and its cases, each at its place.
    """
    problems: list[Problem] = []
    path = folder / FILE
    source = Source(str(path), read_text(path, str(path)), folder)
    values = read_source(source, EXERCISE.read, problems)
    if problems or values is None:
        raise InputError(*problems)
    cases = _Cases(folder / "cases", problems)
    checks = tuple(_check(one, partial(cases, ("checks", i))) for i, one in enumerate(values["checks"]))
    problems += _contradictions(checks, values)
    if problems:
        places = source.locate_all(problem.path for problem in problems)
        raise InputError(*dict.fromkeys(one if one.place else one.at(places[one.path]) for one in problems))
    given = values.get("function")
    function = Function(**given) if given else None
    seconds = filled(EXERCISE.fields, values)["seconds"]
    return Exercise(folder.name, folder, values["files"], function, seconds, checks, cases.used)


class _Cases:
    """The cases of an exercise by name, each loaded once: laws and values then share the calls they need."""

    def __init__(self, folder: Path, problems: list[Problem]) -> None:
        self._folder, self._problems = folder, problems
        self._loaded: dict[str, Case] = {}

    @property
    def used(self) -> frozenset[str]:
        """The names of those that were loaded."""
        return frozenset(self._loaded)

    def __call__(self, named_in: Steps, name: str) -> Case:
        if name not in self._loaded:
            path = self._folder / f"{name}.yaml"
            try:
                self._loaded[name] = _plain(load_case(path), path)
            except InputError as error:
                # What a case file says of itself has its place there; that there is none is told where it is named.
                self._problems += [one if one.place else replace(one, path=named_in) for one in error.problems]
                self._loaded[name] = None  # type: ignore[assignment]  # never used: the problems are raised
        return self._loaded[name]


def _plain(case: Case, path: Path) -> Case:
    """A case whose Q, K and V are all there is to it, so that a function can be called with them."""
    more = {"X": case.layer, "score": case.score, "alibi": case.alibi, "cache": case.cached, "decode": case.decode}
    named = [name for name, value in more.items() if value]
    if named:
        message = f"{path} has {', '.join(named)}, which no function of an exercise is given"
        raise InputError(Problem("exercise", message, "a case of Q, K, V, mask, bias, scale and softcap"))
    return case


def _check(given: Values, cases: Cases) -> Check:
    kind = kind_of(given)
    values = filled((*kind.fields, *COMMON), given)
    return Check(
        name=values["id"],
        rule=kind.make(values, cases),
        points=values["points"],
        bonus=values["bonus"],
        needs=values["needs"],
        hints=values.get("hints"),
        visibility=values["visibility"],
    )


def _contradictions(checks: tuple[Check, ...], values: Values) -> Iterator[Problem]:
    """What is wrong although every field by itself is right, and where it stands."""
    seen: set[str] = set()
    for i, check in enumerate(checks):
        here: Steps = ("checks", i)
        if check.name in seen:
            yield _wrong(f"two checks are called {check.name}", (*here, "id"))
        for k, need in enumerate(check.needs):
            if need not in seen:
                yield _wrong(f"{check.name} needs {need}, which is no check before it", (*here, "needs", k))
        seen.add(check.name)
        yield from _rule_problems(check, values["files"], here)
    yield from _function_problems(checks, values)


def _function_problems(checks: tuple[Check, ...], values: Values) -> Iterator[Problem]:
    function = values.get("function")
    for i, (check, given) in enumerate(zip(checks, values["checks"], strict=True)):
        rule = check.rule
        if function is None and kind_of(given).needs_function:
            yield _wrong("a check of code needs a function", ("checks", i))
            return
        if function is not None and isinstance(rule, LawRule) and READS[rule.law] not in function["returns"]:
            message = f"{check.name}: the law {rule.law} needs a function that returns {READS[rule.law]}"
            yield _wrong(message, ("checks", i, "law"))
    if function is not None and function["file"] not in values["files"]:
        message = f"the function's file {function['file']} is not among the files that are handed in"
        yield _wrong(message, ("function", "file"))


def _rule_problems(check: Check, files: tuple[str, ...], here: Steps) -> Iterator[Problem]:
    rule = check.rule
    file = getattr(rule, "file", None)
    if file is not None and file not in files:
        yield _wrong(f"{check.name} reads {file}, which is not among the files that are handed in", here)
    if isinstance(rule, ChoiceRule) and rule.right not in rule.options:
        yield _wrong(f"{check.name}: the right answer {rule.right} is none of its options", (*here, "right"))
    if isinstance(rule, ProofRule):
        blocks: Steps = (*here, "blocks")
        if len(rule.proof.needs) > MOST_BLOCKS:
            yield _wrong(f"{check.name} has more than {MOST_BLOCKS} blocks", blocks)
        if set(rule.proof.needs) & set(rule.proof.distractors):
            yield _wrong(f"{check.name}: a block of the proof is a distractor, too", (*here, "distractors"))
        try:
            rule.proof.ancestors()
        except ValueError as error:
            yield _wrong(f"{check.name}: {error}", blocks)


def _wrong(message: str, steps: Steps) -> Problem:
    return Problem("exercise", message, path=steps)
