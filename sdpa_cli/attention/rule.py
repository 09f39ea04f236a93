"""A mask bound to one problem: what it says of any cell, of a whole tile, and where its live keys lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.bands import Reach, band
from sdpa_cli.attention.masks import Window
from sdpa_cli.attention.patterns import Pattern
from sdpa_cli.attention.regions import Region, Verdict, once, pieces
from sdpa_cli.attention.shipping import Shipped

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Selection = slice | Ints
"""Some queries or keys: a slice or a vector of indices."""

_ROWS, _KEYS = 512, 1024
"""Cells of a mask that are looked at in one go."""


@dataclass(frozen=True, eq=False)
class MaskRule(Shipped):
    """A mask bound to the shapes of one problem, so that it can be asked about any rows and columns.

    Axes are the engine's: batch, key/value heads, query heads of each, queries, keys. Whatever is equal for all heads
    keeps an axis of length 1 there.
    """

    keys: int
    offset: int = 0
    """Position of query 0 among the keys."""
    causal: bool = False
    window: Window | None = None
    starts: Ints | None = None
    """First real key of each sequence, ``(B, H_kv, G)``, broadcast."""
    lengths: Ints | None = None
    """First key after the real ones, likewise."""
    given: Bools | None = None
    """``(B, H_kv, G, Tq, Tk)``, broadcast: a view of the caller's array, never a copy."""
    patterns: tuple[Pattern, ...] = ()
    """Whatever else forbids: documents, sparse patterns."""

    def reasons(self, rows: Selection, cols: Selection) -> dict[str, Bools]:
        """Which rule forbids each cell: ``causal``, ``window``, ``padding``, ``given`` and patterns, those that apply.

        Parameters
        ----------
        rows, cols
            0-based indices of queries and keys, one-dimensional, or slices with both ends stated.

        Returns
        -------
        dict
            For each part of the mask a boolean array that broadcasts to ``(B, H_kv, G, len(rows), len(cols))``.
        """
        found: dict[str, Bools] = {}
        position, key = (indices(rows) + self.offset)[:, None], indices(cols)
        if self.causal:
            found["causal"] = key > position
        if self.window is not None:
            left, right = self.window.left, self.window.right
            nowhere = np.zeros((1, 1), np.bool_)
            too_early = nowhere if left is None else key < position - left
            found["window"] = too_early | (nowhere if right is None else key > position + right)
        for before, edge in ((True, self.starts), (False, self.lengths)):
            if edge is not None:
                padding = key < once(edge)[..., None, None] if before else key >= once(edge)[..., None, None]
                found["padding"] = found["padding"] | padding if "padding" in found else padding
        if self.given is not None:
            found["given"] = once(self.given)[..., rows, :][..., cols]
        for pattern in self.patterns:
            found[pattern.reason] = pattern.forbidden(indices(rows), key)
        return found

    def forbidden(self, rows: Selection, cols: Selection) -> Bools:
        """Whether each cell is forbidden, shaped to broadcast to ``(B, H_kv, G, rows, cols)``."""
        found = list(self.reasons(rows, cols).values())
        anything = reduce(np.logical_or, found) if found else np.zeros((1, 1), np.bool_)
        shape = (len(indices(rows)), len(indices(cols)))
        if anything.shape[-2:] == shape:
            return anything
        return cast(Bools, np.broadcast_to(anything, (*anything.shape[:-2], *shape)))

    def part(self, region: Region) -> MaskRule:
        """The same rule for a part of the problem, counting from that part's first query and key."""
        first, keys = region.cols.start, region.cols.stop - region.cols.start
        return self.but(
            keys=keys,
            offset=self.offset + region.rows.start - first,
            starts=None if self.starts is None else np.clip(self.starts[region.at] - first, 0, keys),
            lengths=None if self.lengths is None else np.clip(self.lengths[region.at] - first, 0, keys),
            given=None if self.given is None else self.given[region.queries][..., region.cols],
            patterns=tuple(pattern.part(region) for pattern in self.patterns),
        )

    @property
    def forbids_nothing(self) -> bool:
        """Whether no part of the mask is in use."""
        near = self.causal or self.window is not None
        return not (near or self.patterns) and self.starts is None and self.lengths is None and self.given is None

    def reach(self) -> Reach:
        """How many keys before and after its own position a query may look at, by position alone."""
        left, right = (None, None) if self.window is None else (self.window.left, self.window.right)
        return left, 0 if self.causal else right

    def live_range(self, rows: slice) -> tuple[int, int]:
        """The keys (start, stop) outside which every key is forbidden to all of these queries, by position alone."""
        left, right = self.reach()
        first, last = self.offset + rows.start, self.offset + rows.stop - 1
        start = 0 if left is None else min(max(0, first - left), self.keys)
        stop = self.keys if right is None else min(self.keys, last + right + 1)
        if self.starts is not None:
            start = max(start, int(self.starts.min(initial=self.keys)))
        if self.lengths is not None:
            stop = min(stop, int(self.lengths.max(initial=0)))
        return start, max(start, stop)

    def live_rows(self, rows: slice, cols: slice) -> slice:
        """The queries of `rows` outside which none may look at any of these keys, by position and by the patterns."""
        left, right = self.reach()
        start = rows.start if right is None else max(rows.start, cols.start - right - self.offset)
        stop = rows.stop if left is None else min(rows.stop, cols.stop + left - self.offset)
        for pattern in self.patterns:
            if start < stop:
                found = pattern.live_rows(slice(start, stop), cols)
                start, stop = found.start, found.stop
        return slice(start, max(start, stop))

    def mixed_rows(self, rows: slice, cols: slice) -> slice:
        """The queries of `rows` outside which causal and window forbid none of these keys."""
        left, right = self.reach()
        start, stop = rows.stop, rows.start
        if right is not None and cols.stop - 1 > self.offset + rows.start + right:
            start, stop = rows.start, min(rows.stop, cols.stop - 1 - right - self.offset)
        if left is not None and cols.start < self.offset + rows.stop - 1 - left:
            start, stop = min(start, max(rows.start, cols.start + left + 1 - self.offset)), rows.stop
        return slice(start, max(start, stop))

    def band(self, rows: slice, cols: slice, dtype: np.dtype[Any]) -> NDArray[Any]:
        """An integer with all bits set where causal and window allow a cell of the tile, else 0."""
        shape = (rows.stop - rows.start, cols.stop - cols.start)
        return band(self.reach(), cols.start - rows.start - self.offset, shape, dtype)

    def clear_until(self, rows: slice, start: int) -> int:
        """Where the keys from `start` on end of which causal and window forbid none to these queries."""
        left, right = self.reach()
        if left is not None and start < self.offset + rows.stop - 1 - left:
            return start
        return self.keys if right is None else max(start, self.offset + rows.start + right + 1)

    def is_narrow(self, keys: int) -> bool:
        """Whether no query may look at more than so many keys, by position alone."""
        left, right = self.reach()
        return left is not None and right is not None and left + right < keys

    def judge(self, rows: slice, cols: slice) -> tuple[Verdict, slice]:
        """What the mask says about a tile of live keys, and outside which of these rows it forbids nothing."""
        if rows.start >= rows.stop:
            return Verdict.FORBIDDEN, rows
        beyond = self._judge_beyond_position(rows, cols)
        if beyond is not Verdict.ALLOWED:
            return beyond, rows
        mixed = self.mixed_rows(rows, cols)
        return Verdict.MIXED if mixed.start < mixed.stop else Verdict.ALLOWED, mixed

    def _judge_beyond_position(self, rows: slice, cols: slice) -> Verdict:
        """What padding, patterns and a given mask say about a tile."""
        verdict = Verdict.MIXED if self.padded(cols) else Verdict.ALLOWED
        for pattern in self.patterns:
            found = pattern.verdict(rows, cols)
            if found is Verdict.FORBIDDEN:
                return found
            verdict = found if verdict is Verdict.ALLOWED else verdict
        if self.given is not None:
            tile = once(self.given)[..., rows, cols]
            first = tile[..., 0, :]
            if first.any() and not first.all():
                return Verdict.MIXED  # as a rule; to look at all of a tile takes 5 % of the time it takes to fold it
            if tile.all():
                return Verdict.FORBIDDEN
            verdict = Verdict.MIXED if tile.any() else verdict
        return verdict

    def padded(self, cols: slice) -> bool:
        """Whether any of these keys is padding for some head."""
        early = self.starts is not None and cols.start < int(self.starts.max(initial=0))
        return early or (self.lengths is not None and cols.stop > int(self.lengths.min(initial=self.keys)))

    def beyond_position(self, cols: slice) -> bool:
        """Whether anything but causal and window may forbid some of these keys."""
        return self.given is not None or bool(self.patterns) or self.padded(cols)

    def leaves_all_a_key(self, queries: int) -> bool:
        """Whether causal and window are all there is, and leave every query a key: seen from the first and the last."""
        if self.given is not None or self.patterns or self.starts is not None or self.lengths is not None:
            return False
        left, right = self.reach()
        last = self.offset + queries - 1
        return (right is None or self.offset + right >= 0) and (left is None or last - left < self.keys)

    def live_counts(self, rows: Ints) -> Ints:
        """How many keys each of these queries may look at, broadcasting to ``(B, H_kv, G, len(rows))``.

        Looks at the mask alone and in parts of bounded size, so it may be asked about any number of rows.
        """
        if self.given is None and not self.patterns:
            left, right = self.reach()
            position = rows + self.offset
            start = np.zeros_like(rows) if left is None else np.maximum(position - left, 0)
            stop = np.full_like(rows, self.keys) if right is None else np.minimum(position + right + 1, self.keys)
            if self.starts is not None:
                start = np.maximum(start, once(self.starts)[..., None])
            if self.lengths is not None:
                stop = np.minimum(stop, once(self.lengths)[..., None])
            return np.maximum(stop - start, 0)
        parts = [self._count(rows[part]) for part in pieces(len(rows), _ROWS)]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((1, 1, 1, 0), np.int64)

    def _count(self, rows: Ints) -> Ints:
        """Tile by tile: the cells of those alone are looked at that are neither wholly forbidden nor allowed."""
        total = np.zeros((1, 1, 1, len(rows)), np.int64)
        around = slice(int(rows.min()), int(rows.max()) + 1)
        start, stop = self.live_range(around)
        for first in range(start, stop, _KEYS):
            cols = slice(first, min(first + _KEYS, stop))
            verdict, _ = self.judge(around, cols)
            if verdict is Verdict.ALLOWED:
                total = total + (cols.stop - cols.start)
            elif verdict is Verdict.MIXED:
                total = total + np.count_nonzero(~self.forbidden(rows, cols), axis=-1)
        return total


def indices(selection: Selection) -> Ints:
    """The indices a selection stands for."""
    return np.arange(selection.start, selection.stop) if isinstance(selection, slice) else selection
