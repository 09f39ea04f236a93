"""Other YAML files than cases, read with the case room's vocabulary: same care, same messages, same places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from yaml.events import CollectionEndEvent, MappingStartEvent, ScalarEvent

from sdpa_cli.cases.cursor import Cursor, Unreadable
from sdpa_cli.cases.kinds import Json, Kind
from sdpa_cli.cases.nodes import is_null, report_kind
from sdpa_cli.cases.source import Source, Steps
from sdpa_cli.errors import Problem

Read = Callable[[Cursor, Steps], Any]
"""Takes one value from a cursor."""


def read_source(source: Source, read: Read, problems: list[Problem]) -> Any:
    """The value of a YAML text with one document.

    Parameters
    ----------
    source
        The text.
    read
        Takes what it must hold: the `read` of a kind of value.
    problems
        Where to note what is wrong with it, each at its place.

    Returns
    -------
    object
        As `read` gives it; None where there is no such value.
    """
    cursor = Cursor(source, problems)
    try:
        if cursor.begin() is None:
            problems.append(Problem("empty", f"{source.name} is empty", place=source.place(None)))
            return None
        value = read(cursor, ())
        cursor.end()
        return value
    except Unreadable:
        return None
    finally:
        cursor.close()


@dataclass(frozen=True)
class FreeMapping:
    """A mapping with any keys, whose values are of one kind."""

    value: Kind
    example: str

    def read(self, cursor: Cursor, steps: Steps) -> dict[str, Any] | None:
        """Take the mapping; None if any of its values is wrong."""
        start = cursor.peek()
        if not isinstance(start, MappingStartEvent):
            report_kind(cursor, start, steps, f"a mapping such as {self.example}")
            cursor.skip()
            return None
        cursor.next()
        values: dict[str, Any] = {}
        while not isinstance(key := cursor.peek(), CollectionEndEvent):
            cursor.skip()
            name = str(key.value) if isinstance(key, ScalarEvent) and not is_null(key) else ""
            if not name or name in values:
                found = f"the key {name} is given twice" if name else "a key is no word"
                cursor.report(key, "duplicate-key" if name else "kind", found, steps=steps, expected=self.example)
                cursor.skip()
            else:
                values[name] = self.value.read(cursor, (*steps, name))
        cursor.next()
        return None if any(value is None for value in values.values()) else values

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"type": "object", "additionalProperties": self.value.json_schema()}

    def words(self) -> str:
        """In words."""
        return f"mapping such as `{self.example}`"

    def several(self) -> str:
        """In words, many."""
        return f"mappings such as `{self.example}`"
