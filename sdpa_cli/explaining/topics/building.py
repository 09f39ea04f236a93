"""What topics are built with: small cases, seeded numbers, and keys that follow from the topic's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpa_cli.attention import Attention, Mask
from sdpa_cli.cases import Case, Source
from sdpa_cli.explaining.maths import maths
from sdpa_cli.explaining.trace import Part, Shapes, Step, Value, Words, words

_AXES = {"Q": ("Tq", "d_k"), "K": ("Tk", "d_k"), "V": ("Tk", "d_v"), "S": ("Tq", "Tk"), "O": ("Tq", "d_v")}


@dataclass(frozen=True)
class TopicOptions:
    """What a reader may vary. None is left to the topic."""

    tokens: int | None = None
    """T."""
    d: int | None = None
    """Length of a key and of a value."""
    heads: int | None = None
    seed: int = 0
    """Of everything that is drawn at random."""


@dataclass(frozen=True)
class Writer:
    """The texts of one topic, by short keys."""

    topic: str

    def words(self, key: str, /, **values: Value) -> Words:
        """A text of the topic."""
        return words(f"topic.{self.topic}.{key}", **values)

    def step(self, name: str, *parts: Part) -> Step:
        """A step, its title among the topic's texts."""
        return Step(name, self.words(f"{name}.title"), parts)

    def columns(self, *names: str) -> tuple[Words, ...]:
        """The heads of a table."""
        return tuple(words(f"topic.column.{name}") for name in names)


def small_case(q: ArrayLike, k: ArrayLike, v: ArrayLike, mask: Mask | None = None, **fields: Any) -> Case:
    """A case of our own, as if it had been read."""
    arrays = [np.asarray(x, np.float64) for x in (q, k, v)]
    return Case(Source("topic", ""), arrays[0], arrays[1], arrays[2], mask or Mask(), **fields)


def shapes_of(attention: Attention) -> Shapes:
    """The shapes of a whole computation, each axis with its letter."""
    items = []
    for name, shape in attention.shapes.items():
        axes = (*("B", "H")[4 - len(shape) :], *_AXES[name])
        items.append((maths(name), tuple(zip(axes, shape, strict=True))))
    return Shapes(tuple(items))
