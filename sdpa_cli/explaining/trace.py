"""What an explanation is made of: frozen steps of formulas, matrices, numbers, and the keys of the prose around them.

Indices count from 0 here; a view counts from 1. Prose is a key into ``texts/<language>.yaml`` and the numbers that fill
its placeholders, so one trace is told in every language and drawn in every form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.explaining.maths import Maths

Array = NDArray[Any]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Position:
    """A 0-based index that people read counted from 1."""

    index: int


@dataclass(frozen=True)
class Bytes:
    """An amount of memory."""

    count: int


@dataclass(frozen=True)
class Words:
    """A text of the explanations, by its key, with what fills its placeholders."""

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """Something to be typed or read literally: a command, a line of code."""

    text: str


@dataclass(frozen=True)
class Link:
    """A public document."""

    title: str
    url: str


Value: TypeAlias = int | float | str | Position | Bytes | Words | Code | Link | Maths | tuple[Any, ...]
"""What fills a placeholder or a table cell. A tuple is a list of values."""


def words(key: str, /, **values: Value) -> Words:
    """A text, its placeholders named."""
    return Words(key, values)


@dataclass(frozen=True)
class Axis:
    """The rows or the columns of a matrix, as far as they are shown."""

    kind: Literal["query", "key", "component", "token", "head", "position"]
    indices: tuple[int, ...]
    size: int
    """How many there are, shown or not."""
    labels: tuple[str, ...] | None = None
    """The case's own, one for each index shown."""


@dataclass(frozen=True)
class Formula:
    """A rule, in letters."""

    maths: Maths


@dataclass(frozen=True)
class Worked:
    """One entry written out with the case's numbers: the factors, and the result."""

    maths: Maths


@dataclass(frozen=True)
class Shapes:
    """Names of matrices with their axes: ``("Q", (("Tq", 2), ("d_k", 2)))``."""

    items: tuple[tuple[Maths, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Some rows and columns of a matrix."""

    name: Maths
    values: Array
    """``(rows shown, columns shown)``."""
    rows: Axis
    cols: Axis
    forbidden: Bools | None = None
    """Where the mask forbids, in the shape of the values."""
    look: Literal["plain", "shaded"] = "plain"
    totals: Array | None = None
    """The sum of each row over all columns."""
    marked: tuple[int, int] | None = None
    """A cell to point at, within the part that is shown."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The same matrix computed twice: rightly, and some other way."""

    right: Matrix
    other: Matrix
    titles: tuple[Words, Words]


@dataclass(frozen=True)
class Reasons:
    """Why each cell is forbidden: the names of the rules, none where it is allowed."""

    cells: tuple[tuple[tuple[str, ...], ...], ...]
    rows: Axis
    cols: Axis


@dataclass(frozen=True)
class Table:
    """Values in columns."""

    columns: tuple[Words | Maths, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Facts:
    """Named numbers."""

    items: tuple[tuple[Words | Maths, Value], ...]


@dataclass(frozen=True)
class Check:
    """Something that must hold, and whether it does, as computed."""

    words: Words
    holds: bool


@dataclass(frozen=True)
class Question:
    """A question a reader should be able to answer, and the answer for this case."""

    asked: Words
    answer: Words


@dataclass(frozen=True)
class Described:
    """An entry of a catalogue."""

    name: str
    law: str
    parts: tuple[tuple[str, Words], ...]
    """What is told of it, by name."""
    source: Link | Words


@dataclass(frozen=True)
class Catalogue:
    """Named things and what is told of each."""

    entries: tuple[Described, ...]


@dataclass(frozen=True)
class Command:
    """A command to try next."""

    text: str


@dataclass(frozen=True)
class Prose:
    """A document that someone else wrote, in Markdown."""

    markdown: str


Part: TypeAlias = (
    Words
    | Formula
    | Worked
    | Shapes
    | Matrix
    | Pair
    | Reasons
    | Table
    | Facts
    | Check
    | Question
    | Catalogue
    | Command
    | Prose
)


@dataclass(frozen=True)
class Step:
    """One step of an explanation."""

    name: str
    title: Words
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Trace:
    """An explanation, whole."""

    kind: Literal["case", "stream", "fault", "faults", "conventions", "topic", "exercise"]
    subject: str
    """What is explained: the name of a topic or a fault, the title of a case."""
    title: Words | str
    steps: tuple[Step, ...]
    notes: tuple[Words, ...] = ()
    """What is shown and what is left out, and how to see it."""
    files: tuple[Path, ...] = ()
    """What was read to make it."""

    def only(self, names: tuple[str, ...]) -> Trace:
        """The same with some of its steps only, in their own order."""
        return replace(self, steps=tuple(step for step in self.steps if step.name in names))
