"""Written answers: the YAML files that are handed in, read by the questions that an exercise asks in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sdpa_cli.cases.files import decode
from sdpa_cli.cases.groups import Field, Group
from sdpa_cli.cases.kinds import Kind
from sdpa_cli.cases.numbers import decimal_comma
from sdpa_cli.cases.source import Source
from sdpa_cli.cases.yaml_files import read_source
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.handed_in import HandedIn


@runtime_checkable
class AboutFile(Protocol):
    """A rule about a file beside the function's."""

    @property
    def file(self) -> str:
        """The file."""


@runtime_checkable
class Question(AboutFile, Protocol):
    """A rule that is answered under a key of a file."""

    def questions(self) -> Mapping[str, Kind]:
        """What stands under which key."""


@dataclass(frozen=True)
class Answers:
    """What a file says: the values that could be read, and what is wrong with the others."""

    values: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()
    missing: bool = False
    """Whether there is no such file."""
    source: Source | None = None
    """Its text, where it is one."""

    def problem(self, key: str) -> Problem | None:
        """What is wrong with one answer; of an answer that is not there, what may have kept it from being read."""
        own = next((p for p in self.problems if p.path and p.path[0] == key), None)
        if own is not None or key in self.values:
            return own
        stray = (p for p in self.problems if not p.path or p.code == "unknown-key")
        return next((p for p in stray if p.code != "unknown-key" or p.hint is None or key in p.hint), None)

    def decimal_comma(self, key: str) -> str | None:
        """What to do about an answer that may be written with decimal commas; nothing about any other."""
        if self.source is None:
            return None
        place = self.source.locate((key,))
        return decimal_comma(place.source[place.column - 1 :])


def questions_in(exercise: Exercise, file: str) -> dict[str, Kind]:
    """Everything that an exercise asks in a file, by key."""
    rules = [check.rule for check in exercise.checks]
    asked = [rule.questions() for rule in rules if isinstance(rule, Question) and rule.file == file]
    return {key: kind for questions in asked for key, kind in questions.items()}


def read_answers(exercise: Exercise, handed_in: HandedIn, file: str) -> Answers:
    """Read a file of answers."""
    if file in handed_in.unreadable:
        return Answers({}, (handed_in.unreadable[file],))
    if file not in handed_in.files:
        return Answers({}, missing=True)
    kinds = questions_in(exercise, file)
    group = Group(tuple(Field(key, kind, "") for key, kind in kinds.items()), f"{next(iter(kinds))}: …")
    problems: list[Problem] = []
    name = handed_in.shown(file)
    try:
        source = Source(name, decode(handed_in.files[file], name))
    except InputError as error:
        return Answers({}, error.problems)
    values = read_source(source, group.read_partly, problems)
    # An answer left empty, as the starter has it, is not given yet. That is no mistake.
    told = tuple(problem for problem in problems if problem.code != "empty")
    return Answers(values or {}, told, source=source)
