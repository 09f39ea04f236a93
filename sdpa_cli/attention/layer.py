"""A whole attention layer: embeddings in, heads computed by the one engine, their outputs merged and projected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.attending import attention_of
from sdpa_cli.attention.cache import KVCache
from sdpa_cli.attention.head_inputs import Heads
from sdpa_cli.attention.heads import Projections, combine, project
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.options import Options, Settings
from sdpa_cli.attention.placement import (
    UNPLACED,
    Placement,
    continuing,
    padding_on_the_left,
    placement_problems,
    standing,
)
from sdpa_cli.attention.result import Attention
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class MultiHead:
    """The result of `multi_head`."""

    heads: Heads
    """What the heads computed with."""
    attention: Attention
    """Scores, weights and output of every head, ``(…, H, Tq, …)``."""
    concatenated: Array
    """The heads' outputs side by side, ``(…, Tq, H · d_v)``."""
    output: Array
    """After W_O and b_O: ``(…, Tq, d_out)``."""
    cache: KVCache
    """Keys and values of all tokens so far, for the next call."""


def multi_head(
    x: ArrayLike,
    projections: Projections,
    *,
    memory: ArrayLike | None = None,
    placement: Placement = UNPLACED,
    past: KVCache | None = None,
    mask: ArrayLike | Mask | None = None,
    bias: ArrayLike | None = None,
    **settings: Unpack[Settings],
) -> MultiHead:
    """Multi-head attention from embeddings to output: multi-query and grouped-query too, self- and cross-attention.

    Parameters
    ----------
    x
        Embeddings ``(T, d_model)`` or ``(B, T, d_model)``.
    projections
        The learned matrices, and how many heads there are.
    memory
        Embeddings that keys and values are made of, ``(Tk, d_memory)`` or ``(B, Tk, d_memory)``; `x` by default.
    placement
        How the layer is told where its tokens stand.
    past
        Keys and values of earlier tokens, which those of `x` continue.
    mask, bias
        As in `sdpa_cli.attend`, for ``(…, H, Tq, Tk)``. After a cache, positions count from the first key that it
        still holds, and ``query_offset`` is by default the first position after it.
    **settings
        The others of `sdpa_cli.attend`.

    Returns
    -------
    MultiHead

    Raises
    ------
    InputError
        As `project` and `attend` do.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017, section 3.2.2.

    Examples
    --------
    >>> x = np.eye(4)
    >>> layer = Projections(W_Q=x, W_K=x, W_V=x, num_heads=2)
    >>> result = multi_head(x, layer, mask=Mask(causal=True))
    >>> result.attention.shapes["S"], result.output.shape
    ((2, 4, 4), (4, 4))
    """
    heads = embed(x, projections, memory=memory, placement=placement, past=past, mask=mask)
    cached = heads.k.shape[-2] - heads.q.shape[-2] if past is not None else 0
    attention = attention_of(heads.inputs(continuing(mask, cached), bias, Options(**settings)))
    concatenated, output = combine(attention.output, projections)
    first, reach = (0, None) if past is None else (past.seen - cached, past.reach)
    return MultiHead(heads, attention, concatenated, output, KVCache(heads.k, heads.v, first, reach))


def embed(
    x: ArrayLike,
    projections: Projections,
    *,
    memory: ArrayLike | None = None,
    placement: Placement = UNPLACED,
    past: KVCache | None = None,
    mask: ArrayLike | Mask | None = None,
) -> Heads:
    """What the heads of a layer compute with. The parameters are those of `multi_head`; the mask tells of padding."""
    if past is not None and memory is not None:
        hint = "in cross-attention the memory's keys and values are all there from the start"
        raise InputError(Problem("past", "past and memory exclude each other", "one of the two", hint, ("past",)))
    # First without positions: that checks every shape, and says what there is to be placed.
    given, source = np.asarray(x), None if memory is None else np.asarray(memory)
    q, k, v = project(given, projections, source)
    seen, tokens, keys = 0 if past is None else past.seen, q.shape[-2], k.shape[-2]
    starts = 0 if source is not None else padding_on_the_left(mask, seen + tokens)
    found = standing(placement, tokens, seen=seen, starts=starts, memory=None if source is None else keys)
    problems = [*placement_problems(found, given.shape, q.shape[-1]), *_lost_padding(placement, past, mask, tokens)]
    if problems:
        raise InputError(*problems)
    if placement.added is not None:
        q, k, v = project(found.embedded(given), projections, source)
    q, k = found.turned(q, k)
    if past is not None:
        cache = past.append(k, v)
        k, v = cache.k, cache.v
    return Heads(q, k, v, batched=given.ndim == 3)


def _lost_padding(
    placement: Placement, past: KVCache | None, mask: ArrayLike | Mask | None, tokens: int
) -> Iterator[Problem]:
    """Whether padding on the left, by which positions count, may be among what a rolling cache has let go."""
    told = placement.ids is not None or (placement.rope is None and placement.added is None)
    if told or past is None or not isinstance(mask, Mask) or mask.padding_side != "left" or mask.key_lengths is None:
        return
    gone = past.first + past.outreached
    if gone and np.any(np.asarray(mask.key_lengths) >= past.seen + tokens - gone):
        message = f"the cache has let go of {gone} keys, and nothing says how many of them were padding"
        hint = "positions count from the first real token: give ids, one for each new token"
        yield Problem("position", message, "the positions of the new tokens", hint, ("position_ids",))
