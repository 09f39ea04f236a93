"""An explanation as JSON: numbers at full precision, texts in the language asked for. Indices count from 0."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from sdpa_cli.explaining.maths import Maths
from sdpa_cli.explaining.trace import (
    Axis,
    Bytes,
    Code,
    Link,
    Part,
    Position,
    Shapes,
    Step,
    Trace,
    Value,
    Words,
)
from sdpa_cli.views.explaining.latex import latex
from sdpa_cli.views.explaining.notation import Notation
from sdpa_cli.views.explaining.plain import plain
from sdpa_cli.views.explaining.prose import MATHS, Piece, Voice

SCHEMA_VERSION = 1
_POINT = Notation(".", 6)


def document(trace: Trace, voice: Voice) -> str:
    """A whole explanation as one JSON document.

    Numbers that are not finite are the strings ``"inf"``, ``"-inf"`` and ``"nan"``, which Python's `float` reads.
    """
    writer = _Json(voice)
    head = {
        "schema_version": SCHEMA_VERSION,
        "language": voice.texts.language,
        "kind": trace.kind,
        "subject": trace.subject,
        "title": writer.text(trace.title),
        "notes": [writer.text(note) for note in trace.notes],
    }
    lines = [f" {_json(name)}: {_json(value)}," for name, value in head.items()]
    steps = ",\n  ".join(_json(writer.step(step)) for step in trace.steps)
    return "\n".join(["{", *lines, f' "steps": [\n  {steps}\n ]', "}"]) + "\n"


@dataclass(frozen=True)
class _Json:
    voice: Voice

    def step(self, step: Step) -> dict[str, Any]:
        """One step and its parts."""
        return {"name": step.name, "title": self.text(step.title), "parts": [self.part(part) for part in step.parts]}

    def part(self, part: Part) -> dict[str, Any]:
        """One part, by its kind; its fields under their own names."""
        kind = type(part).__name__.lower()
        if isinstance(part, Words):
            return {"kind": kind, **self.words(part)}
        if isinstance(part, Shapes):
            shapes = {plain(name, _POINT): dict(axes) for name, axes in part.items}
            return {"kind": kind, "shapes": shapes}
        return {"kind": kind, **{field.name: self.value(getattr(part, field.name)) for field in fields(part)}}

    def words(self, found: Words) -> dict[str, Any]:
        """A text: its key, what fills it, and how it reads."""
        values = {name: self.value(value) for name, value in found.values.items()}
        return {"key": found.key, "values": values, "text": self.text(found)}

    def value(self, value: Any) -> Any:
        """Anything that a part holds."""
        if isinstance(value, MATHS):
            return {"text": plain(value, _POINT), "latex": latex(value, _POINT), "tree": _tree(value)}
        match value:
            case None | bool() | str() | int():
                return value
            case float():
                return _number(value)
            case np.ndarray():
                return _array(value)
            case Words():
                return self.words(value)
            case Position(index):
                return index
            case Bytes(count):
                return count
            case Code(text):
                return text
            case Link(title, url):
                return {"title": title, "url": url}
            case Axis():
                return {
                    "kind": value.kind,
                    "indices": list(value.indices),
                    "size": value.size,
                    "labels": None if value.labels is None else list(value.labels),
                }
            case tuple():
                return [self.value(item) for item in value]
        if is_dataclass(value):
            return {field.name: self.value(getattr(value, field.name)) for field in fields(value)}
        raise TypeError(f"cannot be written as JSON: {value!r}")

    def text(self, value: Value) -> str:
        """A value as plain text in the language."""
        return "".join(map(self._shown, self.voice.pieces(value)))

    def _shown(self, piece: Piece) -> str:
        return piece.content if isinstance(piece.content, str) else plain(piece.content, self.voice.notation)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _tree(formula: Maths | str | float | Iterable[Any]) -> Any:
    """A formula as nested lists: the kind of a node, then what it holds."""
    if isinstance(formula, MATHS):
        return [type(formula).__name__.lower(), *(_tree(getattr(formula, field.name)) for field in fields(formula))]
    if isinstance(formula, tuple):
        return [_tree(item) for item in formula]
    return _number(formula) if isinstance(formula, float) else formula


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _array(array: np.ndarray) -> Any:
    if array.dtype.kind == "f":
        return [_array(row) for row in array] if array.ndim else _number(float(array))
    return array.tolist()
