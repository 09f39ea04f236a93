"""A mask bound to one problem: what it says of any cell, of a whole tile, and where its live keys lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.masks import Window
from sdpa_cli.attention.regions import Region, Verdict
from sdpa_cli.attention.shipping import Shipped

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_CELLS = 1 << 20
"""Cells of a given mask that are looked at in one go: 1 MiB of them."""


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
    lengths: Ints | None = None
    """``(B, H_kv, G)``, broadcast."""
    given: Bools | None = None
    """``(B, H_kv, G, Tq, Tk)``, broadcast: a view of the caller's array, never a copy."""

    def reasons(self, rows: Ints, cols: Ints) -> dict[str, Bools]:
        """Which rule forbids each cell: ``causal``, ``window``, ``padding`` and ``given``, those that apply.

        Parameters
        ----------
        rows, cols
            0-based indices of queries and keys, one-dimensional.

        Returns
        -------
        dict
            For each part of the mask a boolean array that broadcasts to ``(B, H_kv, G, len(rows), len(cols))``.
        """
        found: dict[str, Bools] = {}
        position = (rows + self.offset)[:, None]
        if self.causal:
            found["causal"] = cols > position
        if self.window is not None:
            left, right = self.window.left, self.window.right
            nowhere = np.zeros((1, 1), np.bool_)
            too_early = nowhere if left is None else cols < position - left
            found["window"] = too_early | (nowhere if right is None else cols > position + right)
        if self.lengths is not None:
            found["padding"] = cols >= once(self.lengths)[..., None, None]
        if self.given is not None:
            found["given"] = once(self.given)[..., _run(rows), :][..., _run(cols)]
        return found

    def forbidden(self, rows: Ints, cols: Ints) -> Bools:
        """Whether each cell is forbidden, shaped to broadcast to ``(B, H_kv, G, len(rows), len(cols))``."""
        found = list(self.reasons(rows, cols).values())
        anything = reduce(np.logical_or, found) if found else np.zeros((1, 1), np.bool_)
        return cast(Bools, np.broadcast_to(anything, np.broadcast_shapes(anything.shape, (len(rows), len(cols)))))

    def part(self, region: Region) -> MaskRule:
        """The same rule for a part of the problem, counting from that part's first query and key."""
        first, keys = region.cols.start, region.cols.stop - region.cols.start
        return replace(
            self,
            keys=keys,
            offset=self.offset + region.rows.start - first,
            lengths=None if self.lengths is None else np.clip(self.lengths[region.at] - first, 0, keys),
            given=None if self.given is None else self.given[region.queries][..., region.cols],
        )

    @property
    def forbids_nothing(self) -> bool:
        """Whether no part of the mask is in use."""
        return not self.causal and self.window is None and self.lengths is None and self.given is None

    def reach(self) -> tuple[int | None, int | None]:
        """How many keys before and after its own position a query may look at, by position alone."""
        left, right = (None, None) if self.window is None else (self.window.left, self.window.right)
        return left, 0 if self.causal else right

    def live_range(self, rows: slice) -> tuple[int, int]:
        """The keys (start, stop) outside which every key is forbidden to all of these queries, by position alone."""
        left, right = self.reach()
        first, last = self.offset + rows.start, self.offset + rows.stop - 1
        start = 0 if left is None else min(max(0, first - left), self.keys)
        stop = self.keys if right is None else min(self.keys, last + right + 1)
        if self.lengths is not None:
            stop = min(stop, int(self.lengths.max(initial=0)))
        return start, max(start, stop)

    def live_rows(self, rows: slice, cols: slice) -> slice:
        """The queries of `rows` outside which all are too far from every one of these keys, by position alone."""
        left, right = self.reach()
        start = rows.start if right is None else max(rows.start, cols.start - right - self.offset)
        stop = rows.stop if left is None else min(rows.stop, cols.stop + left - self.offset)
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

    def verdict(self, rows: slice, cols: slice) -> Verdict:
        """What the mask says about all cells of a tile at once."""
        start, stop = self.live_range(rows)
        if cols.start >= stop or cols.stop <= start:
            return Verdict.FORBIDDEN
        mixed = self.mixed_rows(rows, cols)
        cut = mixed.start < mixed.stop or self.padded(cols)
        if self.given is not None:
            tile = once(self.given)[..., rows, cols]
            if tile.all():
                return Verdict.FORBIDDEN
            cut = cut or bool(tile.any())
        return Verdict.MIXED if cut else Verdict.ALLOWED

    def padded(self, cols: slice) -> bool:
        """Whether any of these keys is padding for some head."""
        return self.lengths is not None and cols.stop > int(self.lengths.min(initial=self.keys))

    def live_counts(self, rows: Ints) -> Ints:
        """How many keys each of these queries may look at, broadcasting to ``(B, H_kv, G, len(rows))``.

        Looks at the mask alone and in parts of bounded size, so it may be asked about any number of rows.
        """
        if self.given is None:
            left, right = self.reach()
            position = rows + self.offset
            start = np.zeros_like(rows) if left is None else np.maximum(position - left, 0)
            stop = np.full_like(rows, self.keys) if right is None else np.minimum(position + right + 1, self.keys)
            if self.lengths is not None:
                stop = np.minimum(stop, once(self.lengths)[..., None])
            return np.maximum(stop - start, 0)
        step = max(1, _CELLS // self.keys)
        parts = [self._count(rows[i : i + step]) for i in range(0, len(rows), step)]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((0,), np.int64)

    def _count(self, rows: Ints) -> Ints:
        forbidden = self.forbidden(rows, np.arange(self.keys))
        live: Ints = self.keys - np.count_nonzero(forbidden, axis=-1)
        return live


def once(array: NDArray[Any]) -> NDArray[Any]:
    """A broadcast array with each repeated head axis cut to length 1, so that equal cells are looked at once."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides[:3])]


def _run(indices: Ints) -> slice | Ints:
    """Consecutive indices as a slice, so that what they select is a view."""
    if len(indices) and indices[-1] - indices[0] == len(indices) - 1 and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices
