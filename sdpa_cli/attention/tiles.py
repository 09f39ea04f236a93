"""How the score matrix is cut: regions computed on their own, and the tiles of keys each of them meets in order.

Whoever computes, explains or draws a tiled attention walks `tiles`, so that all see the same ones. The cut depends on
the shapes alone, never on the number of threads: so results are the same, bit by bit, for any number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.products import SMALL_PRODUCT
from sdpa_cli.attention.regions import Region, Verdict, pieces
from sdpa_cli.attention.rule import MaskRule
from sdpa_cli.attention.scores import THIN_ROWS

TILE_KEYS = 256
"""Keys per tile. From 240 to 384 products are equally fast, with 128 some 5 % slower."""
WINDOW_ROWS = 256
"""Rows per region under a window no wider than TILE_KEYS, whose tiles are short: several heads then share a step."""
TILE_BYTES = 1 << 21
"""Bytes of the largest tile of scores: 2048 float32 rows. Half of them costs two threads 5 %, for they meet at Python's
lock between steps; one alone would not mind."""
THIN_KEYS = 1 << 13
"""Keys of the longest tile."""
LONGEST = 1 << 28
"""Scores of the largest region: about a second of work, which is how soon an interrupt is heard."""
SHARES = 8
"""Regions that a problem is cut into for threads to share, where it is large enough."""
SMALL = 1 << 17
"""Scores up to which a problem is one region: 0.4 ms of work. Beyond, the number of regions grows as the root of the
work, for two threads that do many short steps hinder each other."""
READ_ROWS = 8
"""Queries for which a key takes as long as for one, because it has to be read."""
PART_ROWS, PART_KEYS, PART_SCORES = 1 << 12, 1 << 14, 1 << 22
"""Largest part for an executor: queries and keys of one head; and scores, up to which heads are sent together."""


@dataclass(frozen=True)
class Cut:
    """How large regions and tiles are."""

    batch: int
    """Batch entries per region."""
    heads: int
    """Key/value heads per region: small ones are put together, because a call to NumPy costs microseconds."""
    group: int
    """Query heads of each key/value head per region: short queries that share keys are stacked."""
    rows: int
    span: int
    """Keys per region."""
    keys: int
    """Keys per tile, also where the edge of a causal mask cuts through it: narrower ones gain nothing."""


class Tile(NamedTuple):
    """The keys of one step of a region, and what the mask says about them."""

    cols: slice
    rows: slice
    """The queries that reach any of them, by position; the others would meet only forbidden keys."""
    mixed: slice
    """The queries among those for which some of the keys may be forbidden."""
    verdict: Verdict


def load(inputs: Inputs) -> int:
    """The work of a problem: its scores, but for each key no fewer than could be had for the cost of reading it."""
    batch, kv_heads, group = inputs.heads
    return batch * kv_heads * inputs.keys * max(inputs.queries * group, READ_ROWS)


def plan(inputs: Inputs) -> Cut:
    """Choose the sizes for a problem."""
    batch, kv_heads, group = inputs.heads
    queries, keys, block_size = max(1, inputs.queries), inputs.keys, inputs.options.block_size
    if load(inputs) <= SMALL:
        tile = min(keys, block_size or keys)
        return Cut(max(1, batch), max(1, kv_heads), group, queries, keys, tile)
    most = TILE_BYTES // (inputs.dtype.itemsize * min(keys, block_size or TILE_KEYS))
    rows = max(1, min(queries, most, WINDOW_ROWS if inputs.rule.is_narrow(TILE_KEYS) else most))
    heads = batch * kv_heads * group
    wanted = max(1, min(SHARES, math.isqrt(load(inputs) // SMALL)))
    while rows > 64 and heads * -(-queries // rows) < wanted:
        rows = -(-rows // 2)
    stacked = min(group, max(1, most // rows)) if rows == queries else 1
    thin = rows * stacked <= THIN_ROWS
    tile = min(keys, block_size or (_long(rows * stacked, inputs.d_v) if thin else TILE_KEYS))
    found = batch * kv_heads * -(-group // stacked) * -(-queries // rows)
    span = min(keys, max(tile, LONGEST // (rows * stacked)))
    while found * -(-keys // span) < wanted and span > 4 * tile:
        span = -(-span // (2 * tile)) * tile
    fit = TILE_BYTES // (inputs.dtype.itemsize * rows * stacked * tile)
    batched = max(1, min(kv_heads, fit, found // wanted))
    return Cut(1, batched, stacked, rows, span, tile)


def plan_parts(inputs: Inputs) -> Cut:
    """Choose the sizes of the parts that an executor is given: large beside the cost of sending them."""
    _, kv_heads, group = inputs.heads
    rows, span = max(1, min(inputs.queries, PART_ROWS)), min(inputs.keys, PART_KEYS)
    batched = max(1, min(kv_heads, PART_SCORES // (group * rows * span)))
    return Cut(1, batched, group, rows, span, span)


def _long(rows: int, d_v: int) -> int:
    """Keys per tile of a region of so few query rows that its products are bound by reading K and V."""
    return max(TILE_KEYS, min(THIN_KEYS, SMALL_PRODUCT // max(1, rows * d_v)))


def regions(inputs: Inputs, cut: Cut) -> Iterator[Region]:
    """Cut a problem into regions: every score is in exactly one. The last rows come first.

    They are the longest of a causal mask, and whoever shares work starts with the longest.
    """
    batch, kv_heads, group = inputs.heads
    last_first = reversed(list(pieces(inputs.queries, cut.rows)))
    heads = product(pieces(batch, cut.batch), pieces(kv_heads, cut.heads), pieces(group, cut.group))
    for rows, (b, h, g) in product(last_first, heads):
        for cols in pieces(inputs.keys, cut.span):
            yield Region(b, h, g, rows, cols)


def tiles(rule: MaskRule, rows: slice, keys: int) -> Iterator[Tile]:
    """Cut all keys into tiles, for the queries `rows`.

    Parameters
    ----------
    rule
        The mask.
    rows
        Which queries.
    keys
        Keys per tile.

    Yields
    ------
    Tile
        Every key is in exactly one, in order. What is wholly forbidden by position comes as one tile at either end, so
        that a reader sees what is skipped without paying for each step of it.
    """
    start, stop = rule.live_range(rows)
    before, after = slice(rows.start, rows.start), slice(rows.stop, rows.stop)
    if start > 0:
        yield Tile(slice(0, start), before, before, Verdict.FORBIDDEN)
    while start < stop:
        clear = rule.clear_until(rows, start)
        cols = slice(start, min(start + keys, stop))
        if cols.stop <= clear and not rule.beyond_position(cols):
            yield Tile(cols, rows, after, Verdict.ALLOWED)
        else:
            live = rule.live_rows(rows, cols)
            verdict, mixed = rule.judge(live, cols)
            yield Tile(cols, live, mixed, verdict)
        start = cols.stop
    if stop < rule.keys:
        yield Tile(slice(stop, rule.keys), after, after, Verdict.FORBIDDEN)
