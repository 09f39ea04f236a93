"""Matrices written out in the case file: from YAML events straight to numbers."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from yaml.events import CollectionEndEvent, Event, ScalarEvent, SequenceStartEvent

from sdpa_cli.cases.cells import TRUTH_VALUES, Cell
from sdpa_cli.cases.cursor import Cursor
from sdpa_cli.cases.nodes import named, parsed, report_kind
from sdpa_cli.cases.numbers import decimal_comma
from sdpa_cli.cases.source import Steps

Shape = tuple[int, ...]

MAX_RANK = 4
_RUN = 1024
"""Scalars taken at a time, so that a row of any length needs little memory."""
_ODD_LISTS = 20
"""Lists of the wrong length that are named, of each list that holds them."""


def read_inline(cursor: Cursor, cell: Cell, steps: Steps) -> NDArray[Any] | None:
    """Take a nested list; None with the problems noted if it has no shape.

    A single wrong entry leaves the shape known, so that a wrong shape is told along with it.
    """
    start = cursor.next()
    inline = _Inline(cursor, cell, steps)
    shape = inline.read_list(start, ())
    if shape is None:
        return None
    # Without a copy: the array's buffer becomes the matrix.
    flat = np.frombuffer(inline.cells, cell.typecode) if inline.cells else np.zeros(0, cell.typecode)
    flat.flags.writeable = False
    return (flat.view(np.bool_) if cell is TRUTH_VALUES else flat).reshape(shape)


class _Inline:
    """One matrix being read: its entries so far, and where it stands."""

    def __init__(self, cursor: Cursor, cell: Cell, steps: Steps) -> None:
        self.cursor, self.cell, self.steps = cursor, cell, steps
        self.cells: array[Any] = array(cell.typecode)
        self.too_deep = False
        self.miscounted = False
        """Whether an entry of the present row may be several, so that the row's length says nothing."""

    def read_list(self, start: Event, index: Shape) -> Shape | None:
        """Take a list whose beginning was taken; its shape, None where it has none."""
        if isinstance(self.cursor.peek(), ScalarEvent | CollectionEndEvent):
            return self._read_row(index)
        lengths = _Lengths()
        whole = True
        while not isinstance(event := self.cursor.peek(), CollectionEndEvent):
            here = (*index, lengths.count)
            if isinstance(event, SequenceStartEvent) and len(here) < MAX_RANK:
                self.cursor.next()
                shape = self.read_list(event, here)
                lengths.add(event, shape)
                whole = whole and shape is not None
            else:
                self._refuse(event, here)
                whole = False
        self.cursor.next()
        for position, odd, message in lengths.odd():
            self._report_ragged((odd, lengths.first), (*index, position), message)
            whole = False
        return (lengths.count, *lengths.common) if whole else None

    def _read_row(self, index: Shape) -> Shape | None:
        """Take the entries of a row whose beginning was taken."""
        length, whole = 0, True
        self.miscounted = False
        while not isinstance(event := self.cursor.peek(), CollectionEndEvent):
            if run := self.cursor.scalars(_RUN):
                self.cells.extend(self._values(run, (*index, length)))
                length += len(run)
            else:
                self._refuse(event, (*index, length))
                whole = False
        self.cursor.next()
        return (length,) if whole and not self.miscounted else None

    def _values(self, run: list[ScalarEvent], first: Shape) -> list[Any]:
        if all(event.implicit[0] for event in run):
            values = self.cell.in_bulk([event.value for event in run])
            if values is not None:
                return values
        *row, start = first
        values = []
        for column, event in enumerate(run, start):
            value = parsed(self.cursor, event, (*self.steps, *row, column), self.cell.careful)
            values.append(0 if value is None else value)
            if value is None and re.search("[ ,;]", event.value):
                self.miscounted = True
        return values

    def _refuse(self, event: Event, index: Shape) -> None:
        """Note that something stands here that makes no matrix of the whole, and pass over it."""
        if len(index) == MAX_RANK and isinstance(event, SequenceStartEvent):
            if not self.too_deep:
                message = f"{named(self.steps)} has more than {MAX_RANK} axes"
                self.cursor.report(event, "rank", message, steps=self.steps, expected=f"2 to {MAX_RANK} nested lists")
            self.too_deep = True
        else:
            expected = "either rows or single values at this depth, not both"
            report_kind(self.cursor, event, (*self.steps, *index), expected)
        self.cursor.skip()

    def _report_ragged(self, suspects: tuple[Event, Event], index: Shape, message: str) -> None:
        steps = (*self.steps, *index)
        places = (self.cursor.source.place(event.start_mark) for event in suspects)
        hints = (decimal_comma(place.source[place.column - 1 :]) for place in places)
        hint = next(filter(None, hints), None)
        message = f"{named(steps)} has {message}"
        self.cursor.report(suspects[0], "ragged", message, steps=steps, expected="rows of one length", hint=hint)


class _Lengths:
    """Whether the lists within one list have one shape, and which do not."""

    def __init__(self) -> None:
        self.count = 0
        self._shaped: list[tuple[int, Event, Shape]] = []
        """The first list, then some of those whose shape is not the first one's."""
        self._agree = 0

    def add(self, event: Event, shape: Shape | None) -> None:
        """Count one more list; None is the shape of one that has none."""
        if shape is not None:
            if self._shaped and shape == self.common:
                self._agree += 1
            elif len(self._shaped) <= _ODD_LISTS:
                self._shaped.append((self.count, event, shape))
        self.count += 1

    @property
    def first(self) -> Event:
        """The beginning of the first list that has a shape."""
        return self._shaped[0][1]

    @property
    def common(self) -> Shape:
        """The shape of them all."""
        return self._shaped[0][2] if self._shaped else ()

    def odd(self) -> Iterator[tuple[int, Event, str]]:
        """Position, beginning and description of each list that breaks the shape."""
        others = self._shaped[1:]
        if self._agree == 0 and len(others) > 1 and len({shape for _, _, shape in others}) == 1:
            position, event, shape = self._shaped[0]
            yield position, event, f"{_sized(shape)}, the others have {_sized(others[0][2])}"
        else:
            for position, event, shape in others:
                yield position, event, f"{_sized(shape)}, the first has {_sized(self.common)}"


def _sized(shape: Shape) -> str:
    if len(shape) == 1:
        return f"{shape[0]} value{'' if shape[0] == 1 else 's'}"
    return f"shape {shape}"
