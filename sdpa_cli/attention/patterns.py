"""The parts of a mask that are no band along the diagonal: packed documents, strides and global tokens.

Each part says which cells it forbids, and what that means for a whole tile, so that wholly forbidden tiles are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
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

    def live_rows(self, rows: slice, cols: slice) -> slice:
        """The queries of `rows` outside which none may look at any of these keys, as far as this part goes."""

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

    def live_rows(self, rows: slice, cols: slice) -> slice:
        """Those of documents between the first and the last of the keys'."""
        ours, theirs = once(self.queries)[..., rows], once(self.keys)[..., cols]
        alive = (ours >= theirs.min(initial=_MOST)) & (ours <= theirs.max(initial=-_MOST))
        return _hull(np.flatnonzero(alive.reshape(-1, alive.shape[-1]).any(axis=0)) + rows.start, rows)

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
        position = rows + self.offset
        # Window and stride depend on the distance alone, of which there are far fewer than cells.
        if _is_run(rows) and _is_run(cols):
            near = self._near(np.arange(position[0] - cols[-1], position[-1] - cols[0] + 1))
            # Row i begins i steps later and runs backwards: a view, ten times as fast as looking up every distance.
            forbidden = ~sliding_window_view(near, len(cols))[:, ::-1]
        else:
            forbidden = ~self._near(position[:, None] - cols)
        forbidden[np.isin(position, self.tokens)] = False
        forbidden[:, np.isin(cols, self.tokens)] = False
        return forbidden

    def _near(self, distances: Ints) -> Bools:
        """Which distances, of a query after a key, window or stride allow."""
        near = np.zeros(distances.shape, np.bool_)
        if self.window is not None:
            left, right = self._reach(self.window)
            near |= (distances <= left) & (distances >= -right)
        if self.stride is not None:
            near |= distances % self.stride == 0
        return near

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

    def live_rows(self, rows: slice, cols: slice) -> slice:
        """Those from the first to the last that the window or a global token lets look at one of the keys."""
        if self.stride is not None or self.window is None or self._any_token(cols.start, cols.stop):
            return rows
        left, right = self._reach(self.window)
        first, last = max(rows.start, cols.start - right - self.offset), min(rows.stop, cols.stop + left - self.offset)
        tokens = self.tokens - self.offset
        seeing = tokens[(tokens >= rows.start) & (tokens < rows.stop)]
        return _hull(np.concatenate([seeing, *([[first, last - 1]] if first < last else [])]).astype(np.int64), rows)

    def part(self, region: Region) -> Sparse:
        """The pattern as seen from another first query and key."""
        first = region.cols.start
        return replace(self, tokens=self.tokens - first, offset=self.offset + region.rows.start - first)

    def _any_token(self, start: int, stop: int) -> bool:
        low, high = np.searchsorted(self.tokens, (start, stop))
        return bool(low < high)

    @staticmethod
    def _reach(window: Window) -> tuple[int, int]:
        left, right = window.left, window.right
        return _MOST if left is None else left, _MOST if right is None else right


def _is_run(indices: Ints) -> bool:
    """Whether some indices follow each other without a gap."""
    return len(indices) > 0 and bool((np.diff(indices) == 1).all())


def _hull(indices: Ints, rows: slice) -> slice:
    """From the first to the last of some rows; nothing at the end of `rows` where there is none."""
    if not indices.size:
        return slice(rows.stop, rows.stop)
    return slice(int(indices.min()), int(indices.max()) + 1)


_MOST = 1 << 62
"""Farther than any key."""
