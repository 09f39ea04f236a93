"""The vocabulary the case schema is written in: what kinds of value a field may hold.

Each kind reads itself from a cursor, publishes itself as JSON Schema and says in a few words what it is. Reading takes
exactly one node and gives None where that node is not what it should be, with the problem noted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

from yaml.events import CollectionEndEvent, Event, MappingStartEvent, ScalarEvent, SequenceStartEvent

from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.numbers import NULLS, NotUnderstood, flag, number, shown, whole
from sdpa_cli.cases.source import Steps

Json = dict[str, Any]
T = TypeVar("T")


class Kind(Protocol):
    """What a field may hold."""

    def read(self, cursor: Cursor, steps: Steps) -> Any:
        """Take one node; its value, or None with the problem noted."""

    def json_schema(self) -> Json:
        """The same rule as JSON Schema."""

    def words(self) -> str:
        """The same rule in a few words of Markdown."""


@dataclass(frozen=True)
class Number:
    """A finite number within bounds."""

    least: float | None = None
    above: float | None = None

    def read(self, cursor: Cursor, steps: Steps) -> float | None:
        """Take one number."""
        return read_scalar(cursor, steps, self._parse)

    def json_schema(self) -> Json:
        """As JSON Schema."""
        bounds = {"minimum": self.least, "exclusiveMinimum": self.above}
        return {"type": "number", **{key: bound for key, bound in bounds.items() if bound is not None}}

    def words(self) -> str:
        """In words."""
        if self.least is not None:
            return f"number ≥ {self.least:g}"
        return "number" if self.above is None else f"number > {self.above:g}"

    def _parse(self, text: str) -> float:
        value = number(text)
        high_enough = (self.least is None or value >= self.least) and (self.above is None or value > self.above)
        if not high_enough or value - value != 0:
            raise NotUnderstood(f"{shown(text)} is out of range", f"a finite {self.words()}")
        return value


@dataclass(frozen=True)
class Integer:
    """A whole number within bounds."""

    least: int | None = None

    def read(self, cursor: Cursor, steps: Steps) -> int | None:
        """Take one whole number."""
        return read_scalar(cursor, steps, self._parse)

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"type": "integer"} if self.least is None else {"type": "integer", "minimum": self.least}

    def words(self) -> str:
        """In words."""
        return "whole number" if self.least is None else f"whole number ≥ {self.least}"

    def _parse(self, text: str) -> int:
        value = whole(text)
        if self.least is not None and value < self.least:
            raise NotUnderstood(f"{shown(text)} is out of range", f"a {self.words()}")
        return value


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def read(self, cursor: Cursor, steps: Steps) -> bool | None:
        """Take ``true`` or ``false``."""
        return read_scalar(cursor, steps, flag)

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"type": "boolean"}

    def words(self) -> str:
        """In words."""
        return "`true` or `false`"


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    def read(self, cursor: Cursor, steps: Steps) -> str | None:
        """Take one of the words, with or without quotes."""
        event = take_scalar(cursor, steps, f"one of: {', '.join(self.options)}")
        if event is None or event.value in self.options:
            return None if event is None else str(event.value)
        cursor.report(
            event,
            "choice",
            f"{named(steps)} is {shown(event.value)}",
            steps=steps,
            expected=f"one of: {', '.join(self.options)}",
            hint=nearest(event.value, self.options),
        )
        return None

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"enum": list(self.options)}

    def words(self) -> str:
        """In words."""
        return " or ".join(f"`{option}`" for option in self.options)


@dataclass(frozen=True)
class Text:
    """Text as it stands in the file: ``1.50`` and ``no`` are just these characters."""

    def read(self, cursor: Cursor, steps: Steps) -> str | None:
        """Take a text, with or without quotes."""
        event = take_scalar(cursor, steps, "text")
        return None if event is None else str(event.value)

    def json_schema(self) -> Json:
        """As JSON Schema. Editors see ``1.50`` as a number and ``no`` as a word; both are text here."""
        return {"type": ["string", "number", "boolean"]}

    def words(self) -> str:
        """In words."""
        return "text"


@dataclass(frozen=True)
class ListOf:
    """A list of values of one kind."""

    item: Kind
    example: str

    def read(self, cursor: Cursor, steps: Steps) -> tuple[Any, ...] | None:
        """Take the list; None if any item is wrong."""
        event = cursor.peek()
        if not isinstance(event, SequenceStartEvent):
            report_kind(cursor, event, steps, f"a list such as {self.example}")
            cursor.skip()
            return None
        cursor.next()
        items: list[Any] = []
        while not isinstance(cursor.peek(), CollectionEndEvent):
            items.append(self.item.read(cursor, (*steps, len(items))))
        cursor.next()
        return None if any(item is None for item in items) else tuple(items)

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"type": "array", "items": self.item.json_schema()}

    def words(self) -> str:
        """In words."""
        return f"list of {self.item.words()}"


def read_scalar(cursor: Cursor, steps: Steps, parse: Callable[[str], T]) -> T | None:
    """Take one unquoted scalar and parse it; None with the problem noted where that fails."""
    event = take_scalar(cursor, steps, None)
    return None if event is None else parsed(cursor, event, steps, parse)


def parsed(cursor: Cursor, event: ScalarEvent, steps: Steps, parse: Callable[[str], T]) -> T | None:
    """Parse a scalar that was taken; None with the problem noted where that fails."""
    try:
        value = parse(event.value)
    except NotUnderstood as problem:
        advice = {"expected": problem.expected, "hint": problem.hint}
        cursor.report(event, "value", f"{named(steps)}: {problem.message}", steps=steps, **advice)
        return None
    if event.style:
        message = f"{named(steps)}: {shown(event.value)} is text, because it stands in quotes"
        cursor.report(event, "quoted", message, steps=steps, hint=f"write {event.value} without quotes")
        return None
    return value


def take_scalar(cursor: Cursor, steps: Steps, expected: str | None) -> ScalarEvent | None:
    """Take one scalar; None with the problem noted where a list or mapping stands."""
    event = cursor.peek()
    if isinstance(event, ScalarEvent):
        cursor.next()
        return event
    report_kind(cursor, event, steps, expected or "a single value")
    cursor.skip()
    return None


def report_kind(cursor: Cursor, event: Event, steps: Steps, expected: str, hint: str | None = None) -> None:
    """Note that a value is a list, a mapping or a single value where something else is due."""
    if isinstance(event, ScalarEvent):
        found = "empty" if is_null(event) else shown(event.value)
    else:
        found = "a mapping" if isinstance(event, MappingStartEvent) else "a list"
    cursor.report(event, "kind", f"{named(steps)} is {found}", steps=steps, expected=expected, hint=hint)


def is_null(event: Event) -> bool:
    """Whether nothing, or YAML's word for nothing, stands here."""
    return isinstance(event, ScalarEvent) and not event.style and event.value in NULLS


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """A hint at the known word nearest to an unknown one, if any is near."""
    folded = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), folded, n=1)
    return f"did you mean {folded[near[0]]}?" if near else None


def named(steps: Steps) -> str:
    """A path as people write it, counted from 1: ``mask.window.left``, ``Q[2,1]``.

    Examples
    --------
    >>> named(("expect", "weights", 0, 1))
    'expect.weights[1,2]'
    """
    keys = ".".join(step for step in steps if isinstance(step, str))
    numbers = ",".join(str(step + 1) for step in steps if isinstance(step, int))
    return f"{keys}[{numbers}]" if numbers else keys or "the case"
