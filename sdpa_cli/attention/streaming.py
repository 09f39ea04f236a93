"""The online softmax: tiles of keys folded into the state of some queries. Exact for any finite scores."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.refusals import NonFiniteScoreError
from sdpa_cli.attention.regions import Region, Verdict, once, pieces
from sdpa_cli.attention.rule import Bools
from sdpa_cli.attention.scores import logits, scaled_queries, stacked, value_rows
from sdpa_cli.attention.scratch import Scratch
from sdpa_cli.attention.softmax import SoftmaxState, consume
from sdpa_cli.attention.tiles import TILE_KEYS, Cut, Tile, tiles

Array = NDArray[Any]


def fold(inputs: Inputs, cut: Cut, scratch: Scratch, state: SoftmaxState) -> None:
    """Fill `state` with what all queries of a problem know after all its keys.

    Parameters
    ----------
    inputs
        The problem, as a rule a region of a larger one.
    cut
        The sizes of tiles.
    scratch
        The thread's own memory.
    state
        Of shape ``(B, H_kv, G, Tq)``; overwritten.

    Raises
    ------
    NonFiniteScoreError
        If the score of an allowed key is not finite, unless the problem lets such scores propagate.
    """
    everything = slice(0, inputs.queries)
    queries = scaled_queries(inputs, everything, scratch)
    empty = True
    for tile in tiles(inputs.rule, everything, cut.keys):
        if tile.verdict is Verdict.FORBIDDEN:
            continue
        found = seen(inputs, queries[..., tile.rows, :], tile, scratch)
        if empty and tile.rows == everything:
            state.become(found)
        else:
            if empty:
                state.clear()
            state.at((..., tile.rows)).absorb(found)
        empty = False
    if empty:
        state.clear()


def seen(inputs: Inputs, queries: Array, tile: Tile, scratch: Scratch) -> SoftmaxState:
    """The softmax state of the queries of one tile after its keys alone, in the thread's own memory."""
    scores = logits(inputs, queries, tile.rows, tile.cols, scratch)
    forbidden = None if tile.verdict is Verdict.ALLOWED else cells(inputs, tile.rows, tile.cols)
    if inputs.options.nonfinite == "error":
        refuse_nonfinite(inputs, (tile.rows, tile.cols), scores, forbidden)
    if forbidden is not None:
        forbid(scores, once(forbidden))
        forbidden = stacked(forbidden)
    rows = stacked(scores)
    out = scratch.array("outputs", (*rows.shape[:-1], inputs.d_v), inputs.dtype)
    state = consume(rows, value_rows(inputs, tile.cols), forbidden, out)
    return state.reshape(*scores.shape[:-1])


def cells(inputs: Inputs, rows: slice, cols: slice) -> Bools:
    """Which cells of a tile are forbidden, ``(B, H_kv, G, rows, cols)``, broadcast."""
    found = inputs.rule.forbidden(rows, cols)
    full: Bools = np.broadcast_to(found, (*inputs.heads, *found.shape[-2:]))
    return full


def forbid(scores: Array, forbidden: Bools) -> None:
    """Put −inf where forbidden, whatever is there, NaN included.

    Selected, not added, because NaN + −inf is NaN. `fmin` with −inf or +inf selects 11 times faster than `copyto` does
    with a random mask, for it does not branch; a NaN that is allowed becomes +inf, whose row is NaN all the same.
    """
    bits = np.dtype(f"i{scores.dtype.itemsize}")
    sign = np.array(-0.0, scores.dtype).view(bits)
    limit = np.multiply(forbidden, sign, dtype=bits, casting="unsafe")
    limit |= np.array(np.inf, scores.dtype).view(bits)
    np.fmin(scores, limit.view(scores.dtype), out=scores)


def refuse_nonfinite(inputs: Inputs, at: tuple[slice, slice], scores: Array, forbidden: Bools | None) -> None:
    """Raise if a live score is NaN or infinite. Two reductions settle it where everything is finite."""
    if np.isfinite(scores.min(initial=0)) and np.isfinite(scores.max(initial=0)):
        return
    wrong = ~np.isfinite(scores)
    if forbidden is not None:
        wrong &= ~forbidden
    if wrong.any():
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        here = (*first[:3], first[3] + at[0].start, first[4] + at[1].start)
        raise NonFiniteScoreError(public_index(inputs, here), float(scores[first]))


def first_nonfinite(inputs: Inputs) -> NonFiniteScoreError | None:
    """The refusal of the first such score in the order of reading, whatever order was computed in."""
    batch, kv_heads, group = inputs.heads
    heads = product(pieces(batch, 1), pieces(kv_heads, 1), pieces(group, 1))
    for head, rows in product(heads, list(pieces(inputs.queries, TILE_KEYS))):
        found = [_wild_tile(inputs, Region(*(*head, rows, cols))) for cols in pieces(inputs.keys, TILE_KEYS)]
        if any(found):
            return min(filter(None, found), key=lambda error: error.index)
    return None


def _wild_tile(inputs: Inputs, region: Region) -> NonFiniteScoreError | None:
    part = inputs.part(region)
    rows, cols = slice(0, part.queries), slice(0, part.keys)
    try:
        scores = logits(part, scaled_queries(part, rows), rows, cols)
        refuse_nonfinite(part, (rows, cols), scores, cells(part, rows, cols))
    except NonFiniteScoreError as error:
        return error.with_traceback(None)  # whose frames know the caller that will know it
    return None


def public_index(inputs: Inputs, index: tuple[Any, ...]) -> tuple[int, ...]:
    """An index ``(b, h_kv, g, i[, j])`` into a part, as one into the whole, in the caller's axes."""
    b, h, g, *rest = (int(i) + start for i, start in zip(index, inputs.origin, strict=False))
    head = h * inputs.group + g
    lead: tuple[int, ...] = (b, head)[2 - len(inputs.lead) :]
    return *lead, *rest
