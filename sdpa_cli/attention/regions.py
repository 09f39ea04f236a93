"""Parts of one problem, and what a mask may say about a part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Region:
    """A part of one problem in the engine's axes: some queries of some heads, and some keys."""

    batch: slice
    heads: slice
    """Key/value heads."""
    group: slice
    """Query heads of each key/value head."""
    rows: slice
    cols: slice

    @property
    def at(self) -> tuple[slice, slice, slice]:
        """The heads, as an index into the first axes."""
        return self.batch, self.heads, self.group

    @property
    def queries(self) -> tuple[slice, slice, slice, slice]:
        """The queries, as an index into an array ``(B, H_kv, G, Tq, …)``."""
        return *self.at, self.rows


class Verdict(Enum):
    """What the mask says about a whole tile."""

    FORBIDDEN = "forbidden"
    """No query of the tile may look at any key of it."""
    MIXED = "mixed"
    """Some cells may be forbidden: ask for each."""
    ALLOWED = "allowed"
    """Every query may look at every key."""


def once(array: NDArray[Any]) -> NDArray[Any]:
    """A broadcast array with each repeated head axis cut to length 1, so that equal cells are looked at once."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides[:3])]


def pieces(length: int, size: int) -> Iterator[slice]:
    """Cut ``0 … length`` into slices of at most `size`."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))
