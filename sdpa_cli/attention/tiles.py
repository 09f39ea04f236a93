"""How the score matrix is cut: blocks of queries, and for each block the tiles of keys it meets in order.

Whoever computes, explains or draws a tiled attention walks these generators, so that all see the same tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.masks import MaskRule, Verdict

TILE_BYTES = 1 << 20
"""Bytes of the largest tile of scores: about what a core's own cache holds."""
TILE_KEYS = 256
"""Keys per tile when the caller names no block size."""


@dataclass(frozen=True)
class Block:
    """Queries that are computed together: some rows of some heads, of one batch entry."""

    batch: slice
    heads: slice
    """Key/value heads."""
    group: slice
    """Query heads of each key/value head."""
    rows: slice

    @property
    def at(self) -> tuple[slice, slice, slice]:
        """The block's heads, as an index into the engine's first axes."""
        return self.batch, self.heads, self.group

    @property
    def index(self) -> tuple[slice, slice, slice, slice]:
        """The block's queries, as an index into an array ``(B, H_kv, G, Tq, …)``."""
        return *self.at, self.rows


@dataclass(frozen=True)
class Tile:
    """The keys of one step of a block, and what the mask says about them."""

    cols: slice
    verdict: Verdict


def blocks(inputs: Inputs, tile_keys: int) -> Iterator[Block]:
    """Cut all queries into blocks, in the order of their rows.

    Parameters
    ----------
    inputs
        The problem.
    tile_keys
        Keys per tile: the more there are, the fewer queries share a block.

    Yields
    ------
    Block
        Every query is in exactly one.
    """
    batches, kv_heads, group, queries, _ = inputs.q.shape
    rows = max(1, min(queries, TILE_BYTES // (inputs.dtype.itemsize * tile_keys)))
    for batch in range(batches):
        for head in range(kv_heads):
            for g in range(group):
                for start in range(0, queries, rows):
                    stop = min(start + rows, queries)
                    yield Block(slice(batch, batch + 1), slice(head, head + 1), slice(g, g + 1), slice(start, stop))


def tiles(rule: MaskRule, rows: slice, tile_keys: int) -> Iterator[Tile]:
    """Cut all keys into tiles, for queries `rows` of the heads that `rule` is about.

    Yields
    ------
    Tile
        Every key is in exactly one, the wholly forbidden tiles included, so that a reader sees what is skipped.
    """
    for start in range(0, rule.keys, tile_keys):
        cols = slice(start, min(start + tile_keys, rule.keys))
        yield Tile(cols, rule.verdict(rows, cols))
