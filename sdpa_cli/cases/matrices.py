"""Matrices of rank 2 to 4: written out in the case file, kept in a file of their own, or drawn at random."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from yaml.events import MappingStartEvent, SequenceStartEvent

from sdpa_cli.cases.array_files import read_array_file
from sdpa_cli.cases.cells import NUMBERS, Cell
from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.groups import Field, Group
from sdpa_cli.cases.inline import read_inline
from sdpa_cli.cases.kinds import Choice, Integer, Json, ListOf, Text
from sdpa_cli.cases.nodes import as_file, named, nearest, report_kind
from sdpa_cli.cases.source import Steps
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]

RANKS = range(2, 5)
MOST_RANDOM = 2**26
"""Values that may be drawn at random: half a gigabyte of them."""

FILE = Group(
    (
        Field(
            "file", Text(), "An `.npy`, `.npz` or `.csv` file; its path is relative to the case file.", None, ("q.npy",)
        ),
        Field("member", Text(), "Which array of an `.npz` archive; not needed if there is only one."),
    ),
    "{file: q.npy}",
    required=("file",),
)
RANDOM = Group(
    (
        Field("random", Choice(("normal", "uniform")), "Standard normal, or uniform on [0, 1)."),
        Field("shape", ListOf(Integer(0), "[4, 8]"), "The shape.", None, ([4, 8],)),
        Field("seed", Integer(0), "The seed of `numpy.random.default_rng`: the same seed, the same numbers."),
    ),
    "{random: normal, shape: [4, 8], seed: 1}",
    required=("random", "shape", "seed"),
)


@dataclass(frozen=True)
class Matrix:
    """A matrix of numbers or of truth values."""

    cell: Cell = NUMBERS
    ranks: range = RANKS
    elsewhere: tuple[Group, ...] = (FILE, RANDOM)
    """What may stand in place of the numbers; nothing, where a stranger's text is read."""

    def read(self, cursor: Cursor, steps: Steps) -> Array | None:
        """Take the matrix in any of its forms."""
        event = cursor.peek()
        if isinstance(event, SequenceStartEvent):
            found = read_inline(cursor, self.cell, steps)
        elif isinstance(event, MappingStartEvent):
            found = self._read_elsewhere(cursor, steps)
        else:
            found = None
            report_kind(cursor, event, steps, self._expected(), as_file(event) if FILE in self.elsewhere else None)
            cursor.skip()
        if found is None or found.ndim in self.ranks:
            return found
        message = f"{named(steps)} has rank {found.ndim}, shape {found.shape}"
        hint = "even a single row is a list in a list: [[1, 2]]" if found.ndim == 1 < self.ranks[0] else None
        cursor.report(event, "rank", message, steps=steps, expected=f"rank {self._span()}", hint=hint)
        return None

    def json_schema(self) -> Json:
        """As JSON Schema."""
        inline = {"anyOf": [_nested(self.cell, rank) for rank in self.ranks]}
        return {"anyOf": [inline, *(group.json_schema() for group in self.elsewhere)]}

    def words(self) -> str:
        """In words."""
        listed = f"list of {self.cell.name}"
        if self.ranks[-1] == 1:
            return listed
        return f"matrix of {self.cell.name}" if self.ranks[0] > 1 else f"{listed}, or matrix"

    def several(self) -> str:
        """In words, many."""
        return f"matrices of {self.cell.name}"

    def _expected(self) -> str:
        return " or ".join(("a matrix such as [[1, 0], [0, 1]]", *(group.example for group in self.elsewhere)))

    def _read_elsewhere(self, cursor: Cursor, steps: Steps) -> Array | None:
        event = cursor.peek()
        first = cursor.first_key() or ""
        for group in self.elsewhere:
            if first in group.names:
                values = group.read(cursor, steps)
                if values is None:
                    return None
                return self._drawn(cursor, steps, values) if group is RANDOM else self._from_file(cursor, steps, values)
        near = nearest(first, tuple(name for group in self.elsewhere for name in group.names))
        report_kind(cursor, event, steps, self._expected(), f"did you mean {near}?" if near else None)
        cursor.skip()
        return None

    def _from_file(self, cursor: Cursor, steps: Steps, values: dict[str, Any]) -> Array | None:
        path: Path = cursor.source.directory / values["file"]
        try:
            found = read_array_file(path, values["file"], values.get("member"), self.cell)
        except InputError as error:
            steps = (*steps, "file")
            # A problem within a csv file has its place there; one of the file as a whole belongs where it is named.
            place = cursor.source.locate(steps)
            cursor.problems += [replace(p, path=steps, place=p.place or place) for p in error.problems]
            return None
        cursor.files.append(path)
        return found

    def _drawn(self, cursor: Cursor, steps: Steps, values: dict[str, Any]) -> Array | None:
        shape = values["shape"]
        if len(shape) not in self.ranks or max(*shape, math.prod(shape), 0) > MOST_RANDOM:
            message = f"{named(steps)}.shape is {list(shape)}"
            expected = f"{self._span()} axes, and at most {MOST_RANDOM} values in all"
            steps = (*steps, "shape")
            cursor.problems.append(Problem("shape", message, expected, None, steps, cursor.source.locate(steps)))
            return None
        generator = np.random.default_rng(values["seed"])
        return np.asarray(generator.standard_normal(shape) if values["random"] == "normal" else generator.random(shape))

    def _span(self) -> str:
        """How many axes, in words."""
        low, high = self.ranks[0], self.ranks[-1]
        return str(low) if low == high else f"{low} {'to' if high - low > 1 else 'or'} {high}"


def _nested(cell: Cell, rank: int) -> Json:
    schema: Json = {"$ref": f"#/$defs/{cell.name.replace(' ', '_')}"}
    for _ in range(rank):
        schema = {"type": "array", "items": schema}
    return schema
