"""Memory that a thread uses again, for every tile of a call and by the next call."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

KEPT_BYTES = 1 << 23
"""What a thread keeps between calls at most: the tiles of any cut that nobody asked to be larger."""


class Scratch:
    """Pieces of memory, each for one use.

    Fresh memory costs a page fault every 4 KiB: as much time as attention over 64 tokens takes in all.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, Array] = {}

    def array(self, use: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An array for this use, holding anything. The one given before for the same use is used up."""
        needed = math.prod(shape) * dtype.itemsize
        piece = self._pieces.get(use)
        if piece is None or len(piece) < needed:
            piece = self._pieces[use] = np.empty(needed, np.uint8)
        return piece[:needed].view(dtype).reshape(shape)

    def size(self) -> int:
        """Bytes held."""
        return sum(map(len, self._pieces.values()))


class _Kept(threading.local):
    scratch: Scratch | None = None


_kept = _Kept()


@contextmanager
def own_scratch() -> Iterator[Scratch]:
    """The calling thread's memory; a call within a call gets its own."""
    scratch, _kept.scratch = _kept.scratch or Scratch(), None
    try:
        yield scratch
    finally:
        if scratch.size() <= KEPT_BYTES:
            _kept.scratch = scratch
