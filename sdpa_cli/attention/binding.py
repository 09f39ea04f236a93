"""A mask bound to the shapes of one problem: the caller's axes become the engine's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.patterns import Pattern, Segments, Sparse
from sdpa_cli.attention.positions import alibi_slopes
from sdpa_cli.attention.rule import MaskRule

Array = NDArray[Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Axes:
    """How the caller's leading axes, none to two of them, lie in the engine's three."""

    lead: Shape
    """Q's leading axes as the caller has them."""
    heads: tuple[int, int, int]
    """``(B, H_kv, G)``."""
    queries: int
    keys: int

    @classmethod
    def of(cls, q: Shape, k: Shape) -> Axes:
        """The axes of arrays of rank 2 to 4; the axis of rank 3 counts as heads."""
        batch = q[0] if len(q) == 4 else 1
        kv_heads = k[-3] if len(k) > 2 else 1
        group = (q[-3] // kv_heads if kv_heads else 1) if len(q) > 2 else 1
        return cls(q[:-2], (batch, kv_heads, group), q[-2], k[-2])

    def spread_cells(self, array: Array) -> Array:
        """``(…, Tq, Tk)`` broadcast to ``(B, H_kv, G, Tq, Tk)``: a view."""
        return self._spread(array, (self.queries, self.keys))

    def spread_numbers(self, numbers: ArrayLike) -> Array:
        """One number for all, one per batch entry, or one per batch entry and head, as ``(B, H_kv, G)``."""
        given = np.asarray(numbers, np.int64)
        per_head = given.reshape(given.shape + (1,) * (len(self.lead) - given.ndim))
        return self._spread(per_head[..., None, None], (1, 1))[..., 0, 0]

    def spread_tokens(self, numbers: ArrayLike) -> Array:
        """One number per token, for all or for each batch entry, as ``(B, H_kv, G, T)``."""
        given = np.asarray(numbers, np.int64)
        per_head = given.reshape(*given.shape[:-1], *(1,) * (len(self.lead) - given.ndim + 1), 1, given.shape[-1])
        return self._spread(per_head, (1, given.shape[-1]))[..., 0, :]

    def spread_slopes(self, alibi: ArrayLike | bool | None) -> Array | None:
        """ALiBi's slopes, stated or as the paper has them, as ``(B, H_kv, G)``."""
        if alibi is None or alibi is False:
            return None
        count = self.heads[1] * self.heads[2]
        slopes = alibi_slopes(count) if alibi is True else np.broadcast_to(np.asarray(alibi, np.float64), (count,))
        return np.broadcast_to(slopes.reshape(1, *self.heads[1:]), self.heads)

    def _spread(self, array: Array, cells: Shape) -> Array:
        if array.ndim == 2:
            lead: Shape = (1, 1, 1)
        else:
            split = (1, 1) if array.shape[-3] == 1 else self.heads[1:]
            lead = (array.shape[0] if array.ndim == 4 else 1, *split)
        return np.broadcast_to(array.reshape(*lead, *array.shape[-2:]), (*self.heads, *cells))


def bind(mask: Mask, forbidden: Array | None, axes: Axes) -> MaskRule:
    """The rule that a checked mask means for one problem.

    Parameters
    ----------
    mask
        Any but its `forbidden`.
    forbidden
        That, in the engine's axes.
    axes
        The problem's.
    """
    starts = lengths = None
    if mask.key_lengths is not None:
        lengths = axes.spread_numbers(mask.key_lengths)
        if mask.padding_side == "left":
            starts, lengths = axes.keys - lengths, None
    sparse = mask.stride is not None or mask.global_tokens is not None
    return MaskRule(
        keys=axes.keys,
        offset=int(mask.query_offset or 0),
        causal=bool(mask.causal),
        window=None if sparse else mask.window,
        starts=starts,
        lengths=lengths,
        given=forbidden,
        patterns=_patterns(mask, axes),
    )


def _patterns(mask: Mask, axes: Axes) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    offset = int(mask.query_offset or 0)
    if mask.segments is not None:
        keys = axes.spread_tokens(mask.segments)
        own = slice(offset, offset + axes.queries)
        queries = keys[..., own] if mask.query_segments is None else axes.spread_tokens(mask.query_segments)
        found.append(Segments(queries, keys))
    if mask.stride is not None or mask.global_tokens is not None:
        tokens = np.unique(np.asarray(() if mask.global_tokens is None else mask.global_tokens, np.int64))
        found.append(Sparse(mask.window, mask.stride, tokens, offset))
    return tuple(found)
