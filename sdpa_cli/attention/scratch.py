"""Memory that a thread uses again, for every tile of a call and by the next call."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

KEPT_BYTES = 1 << 23
"""What a thread keeps between calls at most: the tiles of any cut that nobody asked to be larger."""
_MOST_GIVEN = 256
"""Shapes remembered at most."""


class Scratch:
    """Pieces of memory, each for one use.

    Fresh memory costs a page fault every 4 KiB: as much time as attention over 64 tokens takes in all.
    """

    def __init__(self) -> None:
        self.size = 0
        """Bytes held."""
        self._pieces: dict[str, Array] = {}
        self._given: dict[tuple[str, tuple[int, ...], np.dtype[Any]], Array] = {}

    def array(self, use: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array for this use, holding anything. The one given before for the same use is used up."""
        asked = use, shape, dtype
        given = self._given.get(asked)
        if given is None:  # it takes a microsecond to make, of 50 that attention over 16 tokens takes in all
            given = self._make(*asked)
            self._given[asked] = given
        return given

    def _make(self, use: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        needed = math.prod(shape) * dtype.itemsize
        piece = self._pieces.get(use)
        if piece is None or len(piece) < needed:
            self.size += needed - (0 if piece is None else len(piece))
            piece = self._pieces[use] = np.empty(needed, np.uint8)
            self._given.clear()  # for what was given of the old piece would keep it
        elif len(self._given) >= _MOST_GIVEN:
            self._given.clear()
        return piece[:needed].view(dtype).reshape(shape)


class _Kept(threading.local):
    scratch: Scratch | None = None


_kept = _Kept()


class own_scratch:  # noqa: N801 - read as a function; written as one it takes a microsecond more
    """The calling thread's memory, within a `with`; a call within a call gets its own."""

    __slots__ = ("_scratch",)

    def __enter__(self) -> Scratch:
        self._scratch, _kept.scratch = _kept.scratch or Scratch(), None
        return self._scratch

    def __exit__(self, *_: object) -> None:
        if self._scratch.size <= KEPT_BYTES:
            _kept.scratch = self._scratch
