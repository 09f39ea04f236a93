"""An exercise as data: what is handed in, which function it is about, and its checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sdpa_cli.languages import Texts, parse

if TYPE_CHECKING:
    from sdpa_cli.grading.attempt import Attempt
    from sdpa_cli.grading.report import Finding, Visibility


@dataclass(frozen=True)
class Function:
    """The function that an exercise asks for."""

    name: str
    file: str
    arguments: tuple[str, ...]
    """What it is called with, in order: names of quantities of a case."""
    options: tuple[str, ...] = ()
    """What it is called with by name, where the case has it."""
    returns: tuple[str, ...] = ("output", "weights")
    """What it gives back: names of quantities of a case."""

    @property
    def module(self) -> str:
        """The name under which a test imports it."""
        return self.file.removesuffix(".py")


class Rule(Protocol):
    """What a check demands: one of the kinds, with its settings."""

    def judge(self, attempt: Attempt) -> Finding:
        """Hold it against what was handed in."""


@dataclass(frozen=True, eq=False)
class Check:
    """One line of an exercise's report."""

    name: str
    rule: Rule
    points: float = 0.0
    bonus: float = 0.0
    needs: tuple[str, ...] = ()
    """Checks that must have passed before."""
    hints: str | None = None
    """The key of its ladder of hints."""
    visibility: Visibility = "visible"


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise, read from its folder."""

    name: str
    folder: Path
    files: tuple[str, ...]
    """What is handed in."""
    function: Function | None
    seconds: float
    """How long one call may take."""
    checks: tuple[Check, ...]
    cases: frozenset[str] = frozenset()
    """The names of those that its checks use."""

    def texts(self, language: str) -> Texts:
        """Its titles, hints, blocks and choices in a language."""
        return _texts(self.folder / "texts" / f"{language}.yaml", language)

    def statement(self, language: str) -> str:
        """What there is to do, as Markdown."""
        return (self.folder / statement_name(language)).read_text("utf-8")

    @property
    def starter(self) -> Path:
        """The folder with the files that a student begins with."""
        return self.folder / "starter"

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)


@cache
def _texts(path: Path, language: str) -> Texts:
    return parse(path.read_text("utf-8"), language)


def statement_name(language: str) -> str:
    """The file that holds an exercise's statement in a language."""
    return "README.md" if language == "en" else f"README.{language}.md"
