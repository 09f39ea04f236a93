"""What an attention costs: multiply-adds, and the memory of each way of computing it."""

from __future__ import annotations

from dataclasses import dataclass

from sdpa_cli.attention.tiles import TILE_BYTES, TILE_KEYS


@dataclass(frozen=True)
class Size:
    """How large an attention is."""

    queries: int
    keys: int
    d_k: int
    d_v: int
    heads: int = 1
    """Query heads, those of all batch entries together."""
    kv_heads: int = 1
    itemsize: int = 8
    """Bytes of a number."""
    tile_keys: int = TILE_KEYS
    """Keys per tile of the streaming computation."""


@dataclass(frozen=True)
class Cost:
    """What it takes."""

    for_scores: int
    """Multiply-adds of QKᵀ."""
    for_output: int
    """Multiply-adds of AV."""
    naive: int
    """Bytes of the whole matrices S and A."""
    streaming: int
    """Bytes of a running maximum and sum for each query, and of one tile of scores."""
    cache: int
    """Bytes of all keys and values, kept for later queries."""


def cost(size: Size) -> Cost:
    """Count it.

    Examples
    --------
    >>> cost(Size(queries=2, keys=2, d_k=2, d_v=3))
    Cost(for_scores=8, for_output=12, naive=64, streaming=64, cache=80)
    """
    cells = size.heads * size.queries * size.keys
    tile_keys = min(size.keys, size.tile_keys)
    tile_rows = max(1, min(size.queries, TILE_BYTES // (size.itemsize * max(1, tile_keys))))
    return Cost(
        for_scores=cells * size.d_k,
        for_output=cells * size.d_v,
        naive=2 * cells * size.itemsize,
        streaming=(2 * size.heads * size.queries + tile_rows * tile_keys) * size.itemsize,
        cache=size.kv_heads * size.keys * (size.d_k + size.d_v) * size.itemsize,
    )
