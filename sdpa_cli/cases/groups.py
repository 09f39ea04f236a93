"""Mappings with known keys, and values that may be of one kind or another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from yaml.events import CollectionEndEvent, Event, MappingStartEvent, ScalarEvent, SequenceStartEvent

from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.kinds import Json, Kind
from sdpa_cli.cases.nodes import as_file, is_null, named, nearest, report_kind
from sdpa_cli.cases.numbers import shown
from sdpa_cli.cases.source import Steps


@dataclass(frozen=True)
class Field:
    """One key of a mapping: everything the reader, the JSON Schema and the README know of it."""

    name: str
    kind: Kind
    meaning: str
    """One sentence of Markdown."""
    default: Any = None
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Group:
    """A mapping with known keys."""

    fields: tuple[Field, ...]
    example: str
    """One such mapping, as messages show it."""
    required: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    """Of these at least one must be given."""
    exclusive: tuple[tuple[str, str], ...] = ()
    """Pairs that exclude each other."""
    alternatives: tuple[tuple[str, ...], ...] = ()
    """Of these sets of keys at least one must be given whole."""
    needs: dict[str, str] = field(default_factory=dict)
    """Keys that mean nothing without another one."""
    needs_any: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Keys that mean nothing without one of others."""
    hint: str | None = None
    """What to tell whoever writes something else than a mapping."""

    def read(self, cursor: Cursor, steps: Steps) -> dict[str, Any] | None:
        """Take the mapping; its values by key, None if anything in it is wrong."""
        before = len(cursor.problems)
        values = self.read_partly(cursor, steps)
        return values if len(cursor.problems) == before else None

    def read_partly(self, cursor: Cursor, steps: Steps) -> dict[str, Any] | None:
        """Take the mapping; the values that could be read, by key. None if it is no mapping."""
        start = cursor.peek()
        if not isinstance(start, MappingStartEvent):
            report_kind(cursor, start, steps, f"a mapping such as {self.example}", self.hint)
            cursor.skip()
            return None
        cursor.next()
        values: dict[str, Any] = {}
        seen: dict[str, Event] = {}
        while not isinstance(cursor.peek(), CollectionEndEvent):
            name = self._key(cursor, steps, seen)
            if name is None:
                cursor.skip()
            else:
                values[name] = self._value(cursor, (*steps, name))
        cursor.next()
        # A key that is nearly there is not reported as missing as well.
        meant = {near: event for name, event in seen.items() if (near := self._meant(name)[1])}
        for message, expected, name in self._broken_rules(meant | seen):
            subject = f"{named(steps)}: " if steps else ""
            cursor.report(seen.get(name, start), "keys", subject + message, steps=steps, expected=expected)
        return {name: value for name, value in values.items() if value is not None}

    def json_schema(self) -> Json:
        """As JSON Schema."""
        rules: list[Json] = [{"not": {"required": list(pair)}} for pair in self.exclusive]
        if self.any_of:
            rules.append({"anyOf": [{"required": [name]} for name in self.any_of]})
        if self.alternatives:
            rules.append({"anyOf": [{"required": list(names)} for names in self.alternatives]})
        for name, others in self.needs_any.items():
            beside: list[Json] = [{"required": [other]} for other in others]
            rules.append({"if": {"required": [name]}, "then": {"anyOf": beside}})
        schema: Json = {
            "type": "object",
            "properties": {field.name: _published(field) for field in self.fields},
            "additionalProperties": False,
        }
        parts = {
            "required": list(self.required),
            "dependentRequired": {name: [other] for name, other in self.needs.items()},
            "allOf": rules,
        }
        return schema | {key: part for key, part in parts.items() if part}

    def words(self) -> str:
        """In words."""
        return f"`{self.example}`"

    def several(self) -> str:
        """In words, many."""
        return f"mappings such as {self.words()}"

    @property
    def names(self) -> tuple[str, ...]:
        """The known keys."""
        return tuple(field.name for field in self.fields)

    def _key(self, cursor: Cursor, steps: Steps, seen: dict[str, Event]) -> str | None:
        """Take one key; None where its value is to be passed over."""
        event = cursor.peek()
        if not isinstance(event, ScalarEvent):
            report_kind(cursor, event, (*steps, "a key"), "a word", "key: value")
            cursor.skip()
            return None
        cursor.next()
        name = str(event.value)
        if name in seen:
            line = cursor.source.place(seen[name].start_mark).line
            message = f"the key {shown(name)} is given twice, first on line {line}"
            cursor.report(event, "duplicate-key", message, steps=(*steps, name), hint="keep one of the two")
            return None
        seen[name] = event
        if name in self.names:
            return name
        message = f"unknown key {shown(name)}" + (f" in {named(steps)}" if steps else "")
        hint, meant = self._meant(name)
        expected = None if meant else f"one of: {', '.join(self.names)}"
        cursor.report(event, "unknown-key", message, steps=steps, expected=expected, hint=hint)
        return None

    def _meant(self, name: str) -> tuple[str | None, str | None]:
        """What to do about an unknown key, and which known one is probably meant; nothing about a known one."""
        if name in self.names:
            return None, None
        if name == "<<":
            return "merge keys are not read here: write the fields out", None
        glued = name.split(":")[0]
        if glued in self.names:
            return f"put a space after '{glued}:'", glued
        near = nearest(name, self.names)
        return near and f"did you mean {near}?", near

    def _value(self, cursor: Cursor, steps: Steps) -> Any:
        event = cursor.peek()
        if is_null(event):
            message = f"{named(steps)} is empty"
            cursor.report(event, "empty", message, steps=steps, hint="give it a value, or leave the key out")
            cursor.skip()
            return None
        return next(field.kind for field in self.fields if field.name == steps[-1]).read(cursor, steps)

    def _broken_rules(self, seen: dict[str, Event]) -> list[tuple[str, str | None, str]]:
        """Of each rule about which keys go together that does not hold: message, what is expected, key to point at."""
        example = f"a mapping such as {self.example}"
        broken: list[tuple[str, str | None, str]] = []
        missing = [name for name in (*self.required, *self._nearest_alternative(seen)) if name not in seen]
        if missing:
            named_all = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
            meant = self._nearest_alternative(seen)
            due = example if meant in ((), *self.alternatives[:1]) else f"{', '.join(meant)} together"
            broken.append((f"{named_all} {'is' if len(missing) == 1 else 'are'} missing", due, ""))
        if self.any_of and seen.keys().isdisjoint(self.any_of):
            broken.append((f"none of {', '.join(self.any_of)} is given", example, ""))
        for one, other in self.exclusive:
            if one in seen and other in seen:
                broken.append((f"{one} and {other} exclude each other", "one of the two", other))
        for name, other in self.needs.items():
            if name in seen and other not in seen and other not in missing:
                broken.append((f"{name} means nothing without {other}", f"{other} beside it", name))
        for name, others in self.needs_any.items():
            if name in seen and seen.keys().isdisjoint(others):
                either = " or ".join(others)
                broken.append((f"{name} means nothing without {either}", f"{either} beside it", name))
        return broken

    def _nearest_alternative(self, seen: dict[str, Event]) -> tuple[str, ...]:
        """Of the sets of which one must be whole, that which most of is there; the first where none is begun."""
        return max(self.alternatives, key=lambda names: sum(name in seen for name in names) / len(names), default=())


@dataclass(frozen=True)
class OneOf:
    """A value whose form says what it is: a single value, a list, or a mapping."""

    single: Kind | None = None
    listed: Kind | None = None
    mapped: Group | None = None
    mapped_by: dict[str, Kind] = field(default_factory=dict)
    """For a mapping that begins with one of these keys, its kind."""

    def read(self, cursor: Cursor, steps: Steps) -> Any:
        """Take what the form of the node announces."""
        event = cursor.peek()
        hint = None
        if isinstance(event, SequenceStartEvent):
            kind = self.listed
        elif isinstance(event, MappingStartEvent):
            first = cursor.first_key() or ""
            known = self.mapped is not None and first in self.mapped.names
            near = None if known else nearest(first, tuple(self.mapped_by))
            kind = self.mapped_by.get(first, None if near else self.mapped)
            hint = f"did you mean {near}?" if near else None
        else:
            hint = as_file(event) if "file" in self.mapped_by else None
            kind = None if hint else self.single
        if kind is not None:
            return kind.read(cursor, steps)
        report_kind(cursor, event, steps, self.words().replace("`", ""), hint)
        cursor.skip()
        return None

    def json_schema(self) -> Json:
        """As JSON Schema."""
        return {"anyOf": [kind.json_schema() for kind in self._kinds()]}

    def words(self) -> str:
        """In words."""
        return ", or ".join(kind.words() for kind in self._kinds())

    def several(self) -> str:
        """In words, many."""
        return ", or of ".join(kind.several() for kind in self._kinds())

    def _kinds(self) -> list[Kind]:
        kinds: list[Kind] = []
        for kind in (self.single, self.listed, *self.mapped_by.values(), self.mapped):
            if kind is not None and kind not in kinds:
                kinds.append(kind)
        return kinds


def _published(one: Field) -> Json:
    schema: Json = {"description": one.meaning, **one.kind.json_schema()}
    if one.default is not None:
        schema["default"] = one.default
    if one.examples:
        schema["examples"] = list(one.examples)
    return schema
