"""The parts of a mask that are no band along the diagonal: packed documents, strides and global tokens.

Each part says which cells it forbids, and what that means for a whole tile, so that wholly forbidden tiles are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.masks import Window
from sdpa_cli.attention.regions import Region, Verdict, once
from sdpa_cli.attention.shipping import Shipped

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Pattern(Protocol):
    """One part of a mask, bound to the shapes of one problem."""

    @property
    def reason(self) -> str:
        """Why a cell is forbidden, in a word."""

    def forbidden(self, rows: Ints, cols: Ints) -> Bools:
        """Which cells it forbids, broadcasting to ``(B, H_kv, G, len(rows), len(cols))``."""

    def verdict(self, rows: slice, cols: slice) -> Verdict:
        """What it says about all cells of a tile at once."""

    def part(self, region: Region) -> Pattern:
        """The same for a part of the problem, counting from that part's first query and key."""


@dataclass(frozen=True, eq=False)
class Segments(Shipped):
    """Documents packed into one sequence: a query may look only at keys of its own."""

    queries: Ints
    """The document of each query, ``(B, H_kv, G, Tq)``, broadcast."""
    keys: Ints
    """The document of each key, ``(B, H_kv, G, Tk)``, broadcast."""
    reason: str = "segment"

    def forbidden(self, rows: Ints, cols: Ints) -> Bools:
        """Cells whose query and key belong to different documents."""
        return cast(Bools, once(self.queries)[..., rows, None] != once(self.keys)[..., None, cols])

    def verdict(self, rows: slice, cols: slice) -> Verdict:
        """By the range of the document numbers on both sides: exact where documents come in order."""
        ours, theirs = once(self.queries)[..., rows], once(self.keys)[..., cols]
        low, high = (ours.min(initial=_MOST), theirs.min(initial=_MOST)), (ours.max(initial=0), theirs.max(initial=0))
        if low[0] > high[1] or low[1] > high[0]:
            return Verdict.FORBIDDEN
        return Verdict.ALLOWED if min(low) == max(high) else Verdict.MIXED

    def part(self, region: Region) -> Segments:
        """The documents of some queries and keys."""
        return Segments(self.queries[region.queries], self.keys[region.at][..., region.cols])


@dataclass(frozen=True, eq=False)
class Sparse(Shipped):
    """A sparse pattern: near keys, every n-th key, and tokens that see and are seen by all.

    A key is in reach if any of the three allows it.
    """

    window: Window | None
    stride: int | None
    tokens: Ints
    """Positions of the global tokens, ascending."""
    offset: int
    """Position of query 0 among the keys."""
    reason: str = "sparse"

    def forbidden(self, rows: Ints, cols: Ints) -> Bools:
        """Cells that neither window nor stride nor a global token allows."""
        position = (rows + self.offset)[:, None]
        live = np.isin(position, self.tokens) | np.isin(cols, self.tokens)
        if self.window is not None:
            left, right = self._reach(self.window)
            live |= (cols >= position - left) & (cols <= position + right)
        if self.stride is not None:
            live |= (position - cols) % self.stride == 0
        return ~live

    def verdict(self, rows: slice, cols: slice) -> Verdict:
        """By the range of distances in the tile, all of which occur in it."""
        nearest = rows.start + self.offset - (cols.stop - 1)
        farthest = rows.stop - 1 + self.offset - cols.start
        if self.stride == 1:
            return Verdict.ALLOWED
        some = self._any_token(rows.start + self.offset, rows.stop + self.offset) or self._any_token(
            cols.start, cols.stop
        )
        if self.window is not None:
            left, right = self._reach(self.window)
            if -right <= nearest and farthest <= left:
                return Verdict.ALLOWED
            some = some or (nearest <= left and farthest >= -right)
        if self.stride is not None:
            some = some or farthest // self.stride * self.stride >= nearest
        return Verdict.MIXED if some else Verdict.FORBIDDEN

    def part(self, region: Region) -> Sparse:
        """The pattern as seen from another first query and key."""
        first = region.cols.start
        return replace(self, tokens=self.tokens - first, offset=self.offset + region.rows.start - first)

    def _any_token(self, start: int, stop: int) -> bool:
        low, high = np.searchsorted(self.tokens, (start, stop))
        return bool(low < high)

    @staticmethod
    def _reach(window: Window) -> tuple[int, int]:
        return tuple(_MOST if side is None else side for side in (window.left, window.right))  # type: ignore[return-value]


_MOST = 1 << 62
"""Farther than any key."""
