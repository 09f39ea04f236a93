"""The vocabulary the case schema is written in: what kinds of value a field may hold.

Each kind reads itself from a cursor, publishes itself as JSON Schema and says in a few words what it is. Reading takes
exactly one node and gives None where that node is not what it should be, with the problem noted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from yaml.events import CollectionEndEvent, SequenceStartEvent

from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.nodes import named, nearest, one_line, read_scalar, report_kind, take_scalar
from sdpa_cli.cases.numbers import NotUnderstood, flag, number, shown, whole
from sdpa_cli.cases.source import Steps

Json = dict[str, Any]

MAX_ITEMS = 1_000_000
"""Items of a list of labels or lengths; only matrices are read without much memory for each entry."""


class Kind(Protocol):
    """What a field may hold."""

    def read(self, cursor: Cursor, steps: Steps) -> Any:
        """Take one node; its value, or None with the problem noted."""

    def json_schema(self) -> Json:
        """The same rule as JSON Schema."""

    def words(self) -> str:
        """The same rule in a few words of Markdown."""

    def several(self) -> str:
        """What a list of such values is a list of, in words."""


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
        return f"number{self._bound()}"

    def several(self) -> str:
        """In words, many."""
        return f"numbers{self._bound()}"

    def _bound(self) -> str:
        if self.least is not None:
            return f" ≥ {self.least:g}"
        return "" if self.above is None else f" > {self.above:g}"

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
        return f"whole number{self._bound()}"

    def several(self) -> str:
        """In words, many."""
        return f"whole numbers{self._bound()}"

    def _bound(self) -> str:
        return "" if self.least is None else f" ≥ {self.least}"

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

    def several(self) -> str:
        """In words, many."""
        return "truth values"


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]
    otherwise: str = ""
    """What else may stand here, where the field is not only a choice."""

    def read(self, cursor: Cursor, steps: Steps) -> str | None:
        """Take one of the words, with or without quotes."""
        event = take_scalar(cursor, steps, self.due)
        found = None if event is None else self.meant(event.value)
        if event is not None and found is None:
            message, hint = f"{named(steps)} is {shown(event.value)}", self.hint(event.value)
            cursor.report(event, "choice", message, steps=steps, expected=self.due, hint=hint)
        return found

    @property
    def due(self) -> str:
        """What must stand here, for whoever wrote something else."""
        return f"{' or '.join(self.options)}{self.otherwise}"

    def meant(self, text: str) -> str | None:
        """The word that a text is; None where it is none."""
        return text if text in self.options else None

    def hint(self, text: str) -> str | None:
        """What to do about a text that is none of the words."""
        near = nearest(text, self.options)
        return f"did you mean {near}?" if near else None

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"enum": list(self.options)}

    def words(self) -> str:
        """In words."""
        return " or ".join(f"`{option}`" for option in self.options)

    def several(self) -> str:
        """In words, many."""
        return self.words()


@dataclass(frozen=True)
class Text:
    """Text as it stands in the file: ``1.50`` and ``no`` are just these characters."""

    def read(self, cursor: Cursor, steps: Steps) -> str | None:
        """Take a text, with or without quotes."""
        event = take_scalar(cursor, steps, "text")
        return None if event is None else one_line(cursor, event, steps)

    def json_schema(self) -> Json:
        """As JSON Schema. Editors see ``1.50`` as a number and ``no`` as a word; both are text here."""
        return {"type": ["string", "number", "boolean"]}

    def words(self) -> str:
        """In words."""
        return "text"

    def several(self) -> str:
        """In words, many."""
        return "texts"


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
        while not isinstance(here := cursor.peek(), CollectionEndEvent):
            if len(items) == MAX_ITEMS:
                cursor.stop(here, "too-long", f"{named(steps)} holds more than {MAX_ITEMS} items")
            items.append(self.item.read(cursor, (*steps, len(items))))
        cursor.next()
        return None if any(item is None for item in items) else tuple(items)

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"type": "array", "items": self.item.json_schema()}

    def words(self) -> str:
        """In words."""
        return f"list of {self.item.several()}"

    def several(self) -> str:
        """In words, many."""
        return f"lists of {self.item.several()}"
