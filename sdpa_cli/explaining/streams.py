"""The online softmax as it goes: every tile the engine meets, and what each does to the running state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention, SoftmaxState
from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.regions import Region, Verdict
from sdpa_cli.attention.scores import logits, scaled_queries, value_rows
from sdpa_cli.attention.softmax import weighted_sum
from sdpa_cli.attention.tiles import plan, regions, tiles

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class TileStep:
    """One tile, and the state of some queries before and after it. Arrays are ``(rows, …)``."""

    cols: slice
    """The keys of the tile."""
    verdict: Verdict
    alone: SoftmaxState
    """After the keys of this tile and no others."""
    before: SoftmaxState
    after: SoftmaxState
    factor: Array
    """``exp(m_before − m_after)``: what the sums so far are multiplied by; 0 where no live key was seen before."""
    own_factor: Array
    """``exp(m_alone − m_after)``: what the sums of the tile are multiplied by; 0 where it has no live key."""


def walk_tiles(attention: Attention, rows: Array, tile_keys: int) -> Iterator[tuple[Array, list[TileStep]]]:
    """Walk the engine's tiles for some queries of one head, keeping what the engine forgets.

    Parameters
    ----------
    attention
        Of one head.
    rows
        Which queries, 0-based and ascending.
    tile_keys
        Keys per tile.

    Yields
    ------
    rows, steps
        The queries of one region of the engine's, and the tiles they meet in order.
    """
    inputs = replace(attention.inputs, options=replace(attention.inputs.options, block_size=tile_keys))
    cut = plan(inputs)
    by_rows: dict[int, list[Region]] = {}
    for region in regions(inputs, cut):
        by_rows.setdefault(region.rows.start, []).append(region)
    for start in sorted(by_rows):
        here = rows[(rows >= start) & (rows < by_rows[start][0].rows.stop)]
        if not len(here):
            continue
        state = SoftmaxState.empty((len(here),), inputs.d_v, inputs.dtype)
        found: list[TileStep] = []
        for region in sorted(by_rows[start], key=lambda region: region.cols.start):
            part = inputs.part(region)
            for tile in tiles(part.rule, slice(0, part.queries), cut.keys):
                step = _step(part, here - start, state, (tile.cols, tile.verdict))
                state = step.after
                first = region.cols.start
                found.append(replace(step, cols=slice(first + tile.cols.start, first + tile.cols.stop)))
        yield here, found


def _step(part: Inputs, rows: Array, before: SoftmaxState, tile: tuple[slice, Verdict]) -> TileStep:
    """Merge the keys of one tile into a state."""
    cols, verdict = tile
    alone = SoftmaxState.empty(before.m.shape, part.d_v, part.dtype)
    after = before
    if verdict is not Verdict.FORBIDDEN:
        alone = _alone(part, rows, cols)
        after = before.merge(alone)
    with np.errstate(all="ignore"):
        # As in the engine: until there is a live key, 0 stands in for the maximum, for −∞ − (−∞) is not a number.
        reference = np.where(np.isneginf(after.m), 0, after.m)
        factor, own = np.exp(before.m - reference), np.exp(alone.m - reference)
    return TileStep(cols, verdict, alone, before, after, factor, own)


def _alone(part: Inputs, rows: Array, cols: slice) -> SoftmaxState:
    """The state after the keys of one tile alone."""
    keys = np.arange(cols.start, cols.stop)
    with np.errstate(all="ignore"):
        scores = logits(part, scaled_queries(part, rows), rows, keys)[0, 0, 0]
    forbidden = np.broadcast_to(part.rule.forbidden(rows, keys), (1, 1, 1, *scores.shape))[0, 0, 0]
    np.copyto(scores, -np.inf, where=forbidden)
    return SoftmaxState.of(scores, value_rows(part, cols)[0, 0], forbidden)


def two_pass(attention: Attention, rows: Array, maximum: Array) -> Array:
    """The outputs ``(rows, d_v)`` as the formula has them: once the maximum of a row is known, a second pass sums.

    Parameters
    ----------
    attention
        Of one head.
    rows
        Which queries.
    maximum
        The largest live score of each.
    """
    inputs = attention.inputs
    total = np.zeros((len(rows), 1), inputs.dtype)
    mixed = np.zeros((len(rows), inputs.d_v), inputs.dtype)
    for start in range(0, inputs.keys, _KEYS):
        cols = np.arange(start, min(start + _KEYS, inputs.keys))
        with np.errstate(all="ignore"):
            p = np.exp(attention.scores(rows, cols) - np.where(np.isneginf(maximum), 0, maximum)[:, None])
        total += p.sum(axis=-1, keepdims=True)
        mixed += weighted_sum(p, value_rows(inputs, cols)[0, 0], attention.forbidden(rows, cols))
    return mixed / np.where(total == 0, 1, total)


_KEYS = 1 << 14
"""Keys that the second pass takes at a time."""
