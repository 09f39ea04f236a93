"""The logits of any part of the score matrix: scaled, capped and biased, before the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.masks import HeadIndex, Ints

Array = NDArray[Any]
Selection = slice | Ints
"""Some queries or keys: a slice or a vector of indices."""


def scaled_queries(inputs: Inputs, at: HeadIndex, rows: Selection) -> Array:
    """Q times the scale, ``(b, h_kv, g · rows, d_k)``: query heads that share keys are stacked into one matrix.

    Scaling Q costs ``Tq · d_k`` products instead of ``Tq · Tk``.
    """
    part = inputs.q[at][..., rows, :]
    scaled = np.multiply(part, inputs.dtype.type(inputs.scale), dtype=inputs.dtype)
    stacked: Array = scaled.reshape(*part.shape[:2], -1, part.shape[-1])
    return stacked


def key_rows(inputs: Inputs, at: HeadIndex, cols: Selection) -> Array:
    """Rows of K in the dtype computed in, ``(b, h_kv, cols, d_k)``; a view where K already has it."""
    return inputs.k[at[:2]][..., cols, :].astype(inputs.dtype, copy=False)


def value_rows(inputs: Inputs, at: HeadIndex, cols: Selection) -> Array:
    """Rows of V in the dtype computed in, ``(b, h_kv, cols, d_v)``; a view where V already has it."""
    values = inputs.v[at[:2]][..., cols, :].astype(inputs.dtype, copy=False)
    return values if inputs.value_scale == 1 else values * inputs.dtype.type(inputs.value_scale)


def logits(inputs: Inputs, queries: Array, at: HeadIndex, rows: Selection, cols: Selection) -> Array:
    """What enters the softmax but for the mask: ``softcap(scale · q kᵀ) + bias``.

    Parameters
    ----------
    inputs
        The problem.
    queries
        `scaled_queries` of the same heads and rows.
    at, rows, cols
        Which heads, queries and keys.

    Returns
    -------
    ndarray
        ``(b, h_kv, g · rows, cols)``.
    """
    found: Array = np.matmul(queries, key_rows(inputs, at, cols).swapaxes(-1, -2))
    cap = inputs.options.softcap
    if cap is not None:
        found /= inputs.dtype.type(cap)
        np.tanh(found, out=found)
        found *= inputs.dtype.type(cap)
    if inputs.bias is not None:
        bias = inputs.bias[at][..., rows, :][..., cols]
        by_head = found.reshape(bias.shape)
        by_head += bias.astype(inputs.dtype, copy=False)
    return found
