"""The engine: tiles of keys folded into the softmax state of a block of queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.masks import Bools, MaskRule, Verdict
from sdpa_cli.attention.refusals import NonFiniteScoreError
from sdpa_cli.attention.scores import logits, scaled_queries, value_rows
from sdpa_cli.attention.softmax import SoftmaxState
from sdpa_cli.attention.tiles import Block, Tile, tiles

Array = NDArray[Any]


def fold(inputs: Inputs, block: Block, tile_keys: int) -> SoftmaxState:
    """The softmax state of a block of queries after all keys: the online softmax.

    Parameters
    ----------
    inputs
        The problem.
    block
        Which queries.
    tile_keys
        Keys per tile.

    Returns
    -------
    SoftmaxState
        Of shape ``(b, h_kv, g · rows)``.

    Raises
    ------
    NonFiniteScoreError
        If the score of an allowed key is not finite, unless the problem lets such scores propagate.
    """
    rule = inputs.rule.at(block.at)
    queries = scaled_queries(inputs, block.at, block.rows)
    state = SoftmaxState.empty(queries.shape[:-1], inputs.d_v, inputs.dtype)
    for tile in tiles(rule, block.rows, tile_keys):
        if tile.verdict is not Verdict.FORBIDDEN:
            state = state.merge(_state_of(inputs, rule, (block, tile), queries))
    return state


def _state_of(inputs: Inputs, rule: MaskRule, where: tuple[Block, Tile], queries: Array) -> SoftmaxState:
    """The softmax state after the keys of one tile alone."""
    block, tile = where
    scores = logits(inputs, queries, block.at, block.rows, tile.cols)
    values = value_rows(inputs, block.at, tile.cols)
    if tile.verdict is Verdict.ALLOWED:
        _refuse_nonfinite(inputs, where, scores, None)
        return SoftmaxState.of(scores, values)
    forbidden = _cells(rule, where, inputs.q[block.index].shape[:-1])
    _refuse_nonfinite(inputs, where, scores, forbidden)
    # Selected, not added: NaN + −inf is NaN.
    np.copyto(scores, -np.inf, where=forbidden)
    return SoftmaxState.of(scores, values, forbidden)


def _cells(rule: MaskRule, where: tuple[Block, Tile], queries: tuple[int, ...]) -> Bools:
    """Which cells of a tile are forbidden, in the shape of its scores."""
    block, tile = where
    rows = np.arange(block.rows.start, block.rows.stop)
    cols = np.arange(tile.cols.start, tile.cols.stop)
    full = np.broadcast_to(rule.forbidden(rows, cols), (*queries, len(cols)))
    return full.reshape(*queries[:2], -1, len(cols))


def _refuse_nonfinite(inputs: Inputs, where: tuple[Block, Tile], scores: Array, forbidden: Bools | None) -> None:
    """Raise if a live score is NaN or infinite. Two reductions settle it where everything is finite."""
    if inputs.options.nonfinite == "propagate" or np.isfinite(scores.min(initial=0) + scores.max(initial=0)):
        return
    wrong = ~np.isfinite(scores)
    if forbidden is not None:
        wrong &= ~forbidden
    if not wrong.any():
        return
    block, tile = where
    stacked = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    inner = np.unravel_index(
        int(stacked[2]), (block.group.stop - block.group.start, block.rows.stop - block.rows.start)
    )
    b, h, j = block.batch.start + stacked[0], block.heads.start + stacked[1], tile.cols.start + stacked[3]
    g, i = block.group.start + inner[0], block.rows.start + inner[1]
    raise NonFiniteScoreError(public_index(inputs, (b, h, g, i, j)), float(scores[stacked]))


def public_index(inputs: Inputs, index: tuple[Any, ...]) -> tuple[int, ...]:
    """An index in the engine's axes ``(b, h_kv, g, …)`` as one in the caller's."""
    b, h, g, *rest = (int(i) for i in index)
    head = h * inputs.q.shape[2] + g
    lead: tuple[int, ...] = (b, head)[2 - len(inputs.lead) :]
    return *lead, *rest
