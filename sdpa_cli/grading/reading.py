"""From an exercise's folder to an `Exercise`, with every problem of its files told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sdpa_cli.cases import Case, load_case
from sdpa_cli.cases.yaml_files import read_document
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Check, Exercise, Function
from sdpa_cli.grading.kinds.laws import READS, LawRule
from sdpa_cli.grading.kinds.proof_blocks import ProofRule
from sdpa_cli.grading.kinds.written import ChoiceRule
from sdpa_cli.grading.proofs import MOST_BLOCKS
from sdpa_cli.grading.schema import EXERCISE, kind_of

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
    values = read_document(path, EXERCISE.read, problems)
    if problems or values is None:
        raise InputError(*problems)
    cases = _Cases(folder / "cases", path, problems)
    checks = tuple(_check(one, cases) for one in values["checks"])
    problems += [Problem("exercise", f"{path}: {message}") for message in _contradictions(checks, values)]
    if problems:
        raise InputError(*dict.fromkeys(problems))
    given = values.get("function")
    function = Function(**given) if given else None
    return Exercise(folder.name, folder, values["files"], function, values.get("seconds", 5.0), checks)


class _Cases:
    """The cases of an exercise by name, each loaded once: laws and values then share the calls they need."""

    def __init__(self, folder: Path, named_in: Path, problems: list[Problem]) -> None:
        self._folder, self._named_in, self._problems = folder, named_in, problems
        self._loaded: dict[str, Case] = {}

    def __call__(self, name: str) -> Case:
        if name not in self._loaded:
            path = self._folder / f"{name}.yaml"
            try:
                self._loaded[name] = _plain(load_case(path), path)
            except InputError as error:
                self._problems += error.problems
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


def _check(values: Values, cases: _Cases) -> Check:
    return Check(
        name=values["id"],
        rule=kind_of(values).make(values, cases),
        points=values.get("points", 0.0),
        bonus=values.get("bonus", 0.0),
        needs=values.get("needs", ()),
        hints=values.get("hints"),
        visibility=values.get("visibility", "visible"),
    )


def _contradictions(checks: tuple[Check, ...], values: Values) -> Iterator[str]:
    """What is wrong although every field by itself is right."""
    seen: set[str] = set()
    for check in checks:
        if check.name in seen:
            yield f"two checks are called {check.name}"
        for need in check.needs:
            if need not in seen:
                yield f"{check.name} needs {need}, which is no check before it"
        seen.add(check.name)
        yield from _rule_problems(check, values["files"])
    function = values.get("function")
    returns = function["returns"] if function else ()
    for check in checks if function else ():
        if isinstance(check.rule, LawRule) and READS[check.rule.law] not in returns:
            yield f"{check.name}: the law {check.rule.law} needs a function that returns {READS[check.rule.law]}"
    if function and function["file"] not in values["files"]:
        yield f"the function's file {function['file']} is not among the files that are handed in"
    if function is None and any(kind_of(one).needs_function for one in values["checks"]):
        yield "a check of code needs a function"


def _rule_problems(check: Check, files: tuple[str, ...]) -> Iterator[str]:
    rule = check.rule
    file = getattr(rule, "file", None)
    if file is not None and file not in files:
        yield f"{check.name} reads {file}, which is not among the files that are handed in"
    if isinstance(rule, ChoiceRule) and rule.right not in rule.options:
        yield f"{check.name}: the right answer {rule.right} is none of its options"
    if isinstance(rule, ProofRule):
        if len(rule.proof.needs) > MOST_BLOCKS:
            yield f"{check.name} has more than {MOST_BLOCKS} blocks"
        if set(rule.proof.needs) & set(rule.proof.distractors):
            yield f"{check.name}: a block of the proof is a distractor, too"
        try:
            rule.proof.ancestors()
        except ValueError as error:
            yield f"{check.name}: {error}"
