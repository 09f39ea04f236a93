"""`attend`: from arrays to an `Attention`, one block of queries after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.inputs import EmptyRows, Inputs, NonFinite, Options, prepare
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.refusals import EmptyRowsError
from sdpa_cli.attention.result import Attention
from sdpa_cli.attention.streaming import fold, public_index
from sdpa_cli.attention.tiles import TILE_KEYS, blocks

Array = NDArray[Any]


def attend(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | Mask | None = None,
    bias: ArrayLike | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    empty_rows: EmptyRows = "error",
    nonfinite: NonFinite = "error",
    block_size: int | None = None,
) -> Attention:
    """Scaled dot-product attention, ``softmax(mask(softcap(scale · Q Kᵀ) + bias)) V``, exact and in linear memory.

    Parameters
    ----------
    q, k, v
        Queries ``(…, Tq, d_k)``, keys ``(…, Tk, d_k)`` and values ``(…, Tk, d_v)``, of rank 2, 3 ``(N, T, d)`` or 4
        ``(B, H, T, d)``. Leading axes must be equal, but that K and V of rank 4 may have fewer heads than Q: query head
        h then reads key/value head ``h // (H / H_kv)``. Real numbers; memory maps are read tile by tile. Computed in
        float32 if all three are float32 or float16, else in float64.
    mask
        Boolean array, True = forbidden, ``(Tq, Tk)`` or with Q's leading axes (each its full size or 1); or a `Mask`.
    bias
        Added to the scaled and capped scores; shaped as a mask array. It forbids nothing: −inf in it, at an allowed
        key, is a score that is not finite. Forbidding is the mask's task, so that liveness has one source.
    scale
        Any finite number; ``1/sqrt(d_k)`` by default.
    softcap
        If given, scaled scores s become ``softcap · tanh(s / softcap)``, before bias and mask.
    empty_rows
        What becomes of a query with every key forbidden: ``"error"``, or ``"zero"`` for an output of zeros and an lse
        of −inf.
    nonfinite
        What becomes of a NaN or infinite score at an allowed key: ``"error"``, or ``"propagate"`` for whatever
        floating-point arithmetic makes of it. Forbidden keys and their values never count, whatever they hold.
    block_size
        Keys per tile. It changes speed, and the result within rounding.

    Returns
    -------
    Attention
        With ``.output`` ``(…, Tq, d_v)``, ``.lse`` ``(…, Tq)`` and any window of scores and weights.

    Raises
    ------
    InputError
        If the values cannot be computed with; it holds every problem found.
    EmptyRowsError
        An `InputError`: some query has no key to look at.
    NonFiniteScoreError
        An `InputError`: the score of an allowed key is NaN or infinite.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017, section 3.2.1.
    .. [2] T. Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
       arXiv:2205.14135, 2022, Theorem 1.

    Examples
    --------
    >>> q, k, v = [[1, 0], [0, 1]], [[1, 1], [2, 0]], [[1, 0, 0], [0, 1, 0]]
    >>> result = attend(q, k, v, mask=Mask(causal=True))
    >>> result.output.round(4)
    array([[1.    , 0.    , 0.    ],
           [0.6698, 0.3302, 0.    ]])
    >>> result.weights(rows=slice(1, 2)).round(4)
    array([[0.6698, 0.3302]])
    """
    options = Options(scale, softcap, empty_rows, nonfinite, block_size)
    inputs = prepare({"Q": q, "K": k, "V": v}, mask, bias, options)
    empty = _empty_rows(inputs)
    heads_and_rows = inputs.q.shape[:-1]
    output = np.empty((*heads_and_rows, inputs.d_v), inputs.dtype)
    m, total, lse = (np.empty(heads_and_rows, inputs.dtype) for _ in range(3))
    tile_keys = min(block_size or TILE_KEYS, inputs.keys)
    with np.errstate(all="ignore"):
        for block in blocks(inputs, tile_keys):
            state, here = fold(inputs, block, tile_keys), block.index
            for whole, part in ((output, state.output), (m, state.m), (total, state.l), (lse, state.lse)):
                whole[here] = part.reshape(whole[here].shape)
    if empty is not None:
        output[empty], lse[empty] = 0, -np.inf
    lead = inputs.lead
    return Attention(
        output=output.reshape(*lead, *output.shape[-2:]),
        lse=lse.reshape(*lead, lse.shape[-1]),
        _inputs=inputs,
        _reference=m,
        _total=total,
    )


def _empty_rows(inputs: Inputs) -> NDArray[np.bool_] | None:
    """Which queries ``(B, H_kv, G, Tq)`` have no live key, None where all have one; refused unless asked for."""
    if inputs.rule.forbids_nothing:
        return None
    empty = inputs.rule.live_counts(np.arange(inputs.queries)) == 0
    if not empty.any():
        return None
    everywhere = np.broadcast_to(empty, inputs.q.shape[:-1])
    if inputs.options.empty_rows == "error":
        raise EmptyRowsError([public_index(inputs, tuple(index)) for index in np.argwhere(everywhere)])
    return everywhere
