"""Which rows and columns of a matrix are seen: chosen by the reader, or left out in the middle for want of room."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

PART = re.compile(r"\s*(\d+)?\s*(?:([:-])\s*(\d+)?)?\s*")


@dataclass(frozen=True)
class Selection:
    """Rows or columns as a reader asks for them, counted from 1."""

    text: str
    spans: tuple[tuple[int, int | None], ...]
    """First and last index of each part, counted from 0 and both included; None is as far as there are any."""

    def within(self, size: int) -> tuple[int, ...]:
        """The 0-based indices of a matrix with this many rows or columns; what lies beyond the end is left out."""
        chosen: list[int] = []
        for first, last in self.spans:
            chosen += range(first, size if last is None else min(last + 1, size))
        return tuple(dict.fromkeys(chosen))

    def reaches(self, size: int) -> bool:
        """Whether every part begins within a matrix of this size."""
        return all(first < size for first, _ in self.spans)


def selection(text: str) -> Selection:
    """Read ``3``, ``1:8``, ``5:``, ``1,4-6``: indices and inclusive ranges, counted from 1.

    Parameters
    ----------
    text
        Parts separated by commas.

    Raises
    ------
    ValueError
        Where it is none of these; the message says what it may be.

    Examples
    --------
    >>> selection("1,4-6").within(5)
    (0, 3, 4)
    """
    return Selection(text, tuple(_span(part) for part in text.split(",")))


def _span(part: str) -> tuple[int, int | None]:
    found = PART.fullmatch(part)
    if found is None or not part.strip() or found[0].strip() in ("-", ":"):
        raise ValueError(f"{part.strip()!r} is no index and no range; write for example 3, 1:8, 5: or 1,4-6")
    if found[1] is None and found[2] == "-":
        # Elsewhere -1 is the last one; here it would be all up to the first.
        raise ValueError(f"{part.strip()!r}: rows and columns are counted from 1; write :3 for the first 3")
    first = int(found[1] or 1)
    last = first if found[2] is None else int(found[3]) if found[3] else None
    if first < 1 or last == 0:
        raise ValueError(f"{part.strip()!r}: rows and columns are counted from 1")
    if last is not None and last < first:
        raise ValueError(f"{part.strip()!r} runs backwards")
    return first - 1, None if last is None else last - 1


@dataclass(frozen=True)
class Visible:
    """The rows or columns that are shown, and those that are left out between them."""

    indices: tuple[int, ...]
    """0-based, in the order shown."""
    hidden: range = range(0)
    """0-based; they belong between two of the indices."""

    @property
    def gap(self) -> int | None:
        """Before which of the shown ones something is left out."""
        return sum(i < self.hidden.start for i in self.indices) if self.hidden else None


def middle_hidden(size: int, room: int) -> Visible:
    """As many of the first and last as there is room for, at least the first one.

    Examples
    --------
    >>> middle_hidden(100, 4)
    Visible(indices=(0, 1, 98, 99), hidden=range(2, 98))
    """
    if size <= room:
        return Visible(tuple(range(size)))
    head, tail = (room + 1) // 2 or 1, room // 2
    return Visible((*range(head), *range(size - tail, size)), range(head, size - tail))


def columns_that_fit(widths: Sequence[int], size: int, available: int, ellipsis: int) -> int:
    """How many columns fit, those in the middle giving way to an ellipsis; at least one.

    Parameters
    ----------
    widths
        The cells that each candidate takes; the candidates are the first and the last columns of a matrix.
    size
        How many columns the matrix has.
    available
        The cells there are.
    ellipsis
        The cells that the ellipsis takes.

    Examples
    --------
    >>> columns_that_fit([8] * 10, size=100, available=40, ellipsis=3)
    4
    """
    for room in range(len(widths), 1, -1):
        shown = middle_hidden(len(widths), room).indices
        if sum(widths[i] for i in shown) + (ellipsis if room < size else 0) <= available:
            return room
    return min(1, len(widths))


def panels(widths: Sequence[int], available: int) -> list[Sequence[int]]:
    """Cut the columns into runs, each of which fits; a column that never fits stands alone.

    Examples
    --------
    >>> panels([8, 8, 8, 8, 30, 8], 25)
    [range(0, 3), range(3, 4), range(4, 5), range(5, 6)]
    """
    runs: list[Sequence[int]] = []
    start = used = 0
    for column, cells in enumerate(widths):
        if column > start and used + cells > available:
            runs.append(range(start, column))
            start, used = column, 0
        used += cells
    return [*runs, range(start, len(widths))]
