"""THE mask rule: which keys are forbidden to which queries. Every other room asks here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
HeadIndex = tuple[int | slice, slice, slice]
"""A selection of (batch, key/value heads, query heads of each)."""


@dataclass(frozen=True)
class Window:
    """How far a query at absolute position p may look: keys ``p − left … p + right``, both ends included.

    Parameters
    ----------
    left, right
        Keys in reach before and after the query's own position, 0 or more. None is without limit on that side.

    Examples
    --------
    >>> from sdpa_cli.attention import Mask, attend
    >>> import numpy as np
    >>> x = np.ones((4, 2))
    >>> attend(x, x, x, mask=Mask(window=Window(left=2, right=0))).forbidden().astype(int)
    array([[0, 1, 1, 1],
           [0, 0, 1, 1],
           [0, 0, 0, 1],
           [1, 0, 0, 0]])
    """

    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, eq=False)
class Mask:
    """Which keys are forbidden. The parts combine: a key is forbidden when any of them forbids it.

    The default forbids nothing. The values are checked by `attend`, which knows the shapes.

    Parameters
    ----------
    causal
        Forbid every key after the query's own position: query i may look at keys ``j <= query_offset + i``.
    query_offset
        The absolute position of query 0 among the keys. Must be stated when ``Tq != Tk`` and `causal` or `window` is
        used, for both habits are common: 0 aligns the first query with the first key, ``Tk - Tq`` the last with the
        last (queries that continue a cache of keys).
    window
        Forbid keys farther than this from the query's position.
    key_lengths
        How many keys of each sequence are real; later ones are padding. One integer, one per batch entry ``(B,)``, or
        one per batch entry and head ``(B, H)``.
    forbidden
        Boolean array, True = forbidden, ``(Tq, Tk)`` or with Q's leading axes, each its full size or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpa_cli.attention import attend
    >>> q, k = np.ones((2, 3)), np.ones((4, 3))
    >>> attend(q, k, k, mask=Mask(causal=True, query_offset=2, key_lengths=3)).forbidden().astype(int)
    array([[0, 0, 0, 1],
           [0, 0, 0, 1]])
    """

    causal: bool = False
    query_offset: int | None = None
    window: Window | None = None
    key_lengths: int | Sequence[int] | NDArray[Any] | None = None
    forbidden: NDArray[Any] | None = None


class Verdict(Enum):
    """What the mask says about a whole tile."""

    FORBIDDEN = "forbidden"
    """No query of the tile may look at any key of it."""
    MIXED = "mixed"
    """Some cells may be forbidden: ask for each."""
    ALLOWED = "allowed"
    """Every query may look at every key."""


@dataclass(frozen=True, eq=False)
class MaskRule:
    """A mask bound to the shapes of one problem, so that it can be asked about any rows and columns.

    Axes are the engine's: batch, key/value heads, query heads of each, queries, keys. Whatever is equal for all heads
    keeps an axis of length 1 there.
    """

    keys: int
    offset: int = 0
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
        distance = cols - (rows + self.offset)[:, None] if self.causal or self.window else np.zeros((1, 1), np.int64)
        if self.causal:
            found["causal"] = distance > 0
        if self.window is not None:
            left, right = self.window.left, self.window.right
            too_early = False if left is None else distance < -left
            found["window"] = np.asarray(too_early | (False if right is None else distance > right), np.bool_)
        if self.lengths is not None:
            found["padding"] = cols >= _once(self.lengths)[..., None, None]
        if self.given is not None:
            found["given"] = _once(self.given)[..., rows[:, None], cols]
        return found

    def forbidden(self, rows: Ints, cols: Ints) -> Bools:
        """Whether each cell is forbidden, shaped to broadcast to ``(B, H_kv, G, len(rows), len(cols))``."""
        anything = reduce(np.logical_or, self.reasons(rows, cols).values(), np.zeros((1, 1), np.bool_))
        return cast(Bools, np.broadcast_to(anything, np.broadcast_shapes(anything.shape, (len(rows), len(cols)))))

    def at(self, heads: HeadIndex) -> MaskRule:
        """The same rule for some of the heads only."""
        batch = slice(heads[0], heads[0] + 1) if isinstance(heads[0], int) else heads[0]
        index = (batch, *heads[1:])
        return replace(
            self,
            lengths=None if self.lengths is None else self.lengths[index],
            given=None if self.given is None else self.given[index],
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
        start = 0 if left is None else max(0, first - left)
        stop = self.keys if right is None else min(self.keys, last + right + 1)
        if self.lengths is not None:
            stop = min(stop, int(self.lengths.max(initial=0)))
        return start, max(start, stop)

    def verdict(self, rows: slice, cols: slice) -> Verdict:
        """What the mask says about all cells of a tile at once."""
        start, stop = self.live_range(rows)
        if cols.start >= stop or cols.stop <= start:
            return Verdict.FORBIDDEN
        cell = Verdict.ALLOWED
        if self.given is not None:
            tile = _once(self.given)[..., rows, cols]
            if tile.all():
                return Verdict.FORBIDDEN
            cell = Verdict.MIXED if tile.any() else Verdict.ALLOWED
        return Verdict.MIXED if self._cut_by_position(rows, cols) else cell

    def _cut_by_position(self, rows: slice, cols: slice) -> bool:
        """Whether causal, window or padding forbid any cell of the tile."""
        left, right = self.reach()
        first, last = self.offset + rows.start, self.offset + rows.stop - 1
        return (
            (right is not None and cols.stop - 1 > first + right)
            or (left is not None and cols.start < last - left)
            or (self.lengths is not None and cols.stop > int(self.lengths.min(initial=self.keys)))
        )

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
                stop = np.minimum(stop, _once(self.lengths)[..., None])
            return np.maximum(stop - start, 0)
        step = max(1, _CELLS // self.keys)
        parts = [self._count(rows[i : i + step]) for i in range(0, len(rows), step)]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((0,), np.int64)

    def _count(self, rows: Ints) -> Ints:
        forbidden = self.forbidden(rows, np.arange(self.keys))
        live: Ints = self.keys - np.count_nonzero(forbidden, axis=-1)
        return live


_CELLS = 1 << 20
"""Cells of a given mask that are looked at in one go: 1 MiB of them."""


def _once(array: NDArray[Any]) -> NDArray[Any]:
    """A broadcast array with each repeated head axis cut to length 1, so that equal cells are looked at once."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides[:3])]
