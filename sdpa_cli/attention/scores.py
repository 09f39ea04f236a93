"""The logits of any part of the score matrix: scaled, capped and biased, before the mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.products import multiply_transposed
from sdpa_cli.attention.rule import Selection as Selection
from sdpa_cli.attention.scratch import Scratch

Array = NDArray[Any]
THIN_ROWS = 8
"""Up to so many query rows, products are bound by reading K and V."""


def scaled_queries(inputs: Inputs, rows: Selection, scratch: Scratch | None = None, factor: float = 1.0) -> Array:
    """Q times the scale, ``(B, H_kv, G, rows, d_k)``, times an extra `factor`.

    Scaling Q costs ``Tq · d_k`` products instead of ``Tq · Tk``.
    """
    queries = inputs.q[..., rows, :]
    out = (scratch or Scratch()).array("queries", queries.shape, inputs.dtype)
    np.multiply(queries, inputs.dtype.type(inputs.scale * factor), out=out)
    return out


def key_rows(inputs: Inputs, cols: Selection) -> Array:
    """Rows of K in the dtype computed in, ``(B, H_kv, cols, d_k)``; a view where K already has it."""
    return inputs.k[..., cols, :].astype(inputs.dtype, copy=False)


def value_rows(inputs: Inputs, cols: Selection) -> Array:
    """Rows of V in the dtype computed in, ``(B, H_kv, cols, d_v)``; a view where V already has it and BLAS reads it.

    Any other product is summed in another order, and so is what is left of V without rows that must not count.
    """
    values = inputs.v[..., cols, :].astype(inputs.dtype, copy=False)
    if not (values.flags.c_contiguous or _blas_reads(values)):
        values = np.ascontiguousarray(values)
    return values if inputs.value_scale == 1 else values * inputs.dtype.type(inputs.value_scale)


def _blas_reads(matrices: Array) -> bool:
    """Whether entries follow each other in memory, along rows or along columns."""
    rows, columns = matrices.shape[-2:]
    down, along = matrices.strides[-2:]
    size = matrices.itemsize
    if columns == 1:
        return down == size
    return (along == size and down >= columns * size) or (down == size and along >= rows * size)


def stacked(array: Array) -> Array:
    """``(B, H_kv, G, rows, …)`` as ``(B, H_kv, G · rows, …)``: query heads that share keys become one matrix."""
    batch, kv_heads, group, rows = array.shape[:4]
    if group == 1:
        return array[:, :, 0]
    return array.reshape(batch, kv_heads, group * rows, *array.shape[4:])


def products(queries: Array, keys: Array, scratch: Scratch | None = None) -> Array:
    """Dot products ``(B, H_kv, G, rows, cols)`` of scaled queries and keys."""
    scratch = scratch or Scratch()
    found = scratch.array("scores", (*queries.shape[:-1], keys.shape[-2]), queries.dtype)
    multiply_transposed(stacked(queries), keys, stacked(found), scratch)
    return found


def logits(inputs: Inputs, queries: Array, rows: Selection, cols: Selection, scratch: Scratch | None = None) -> Array:
    """What enters the softmax but for the mask: ``softcap(scale · q kᵀ) + bias``, or another score function's value.

    Parameters
    ----------
    inputs
        The problem.
    queries
        `scaled_queries` of the same rows.
    rows, cols
        Which queries and keys.
    scratch
        The thread's own memory, to hold the result until the next; fresh memory by default.

    Returns
    -------
    ndarray
        ``(B, H_kv, G, rows, cols)``.
    """
    keys = key_rows(inputs, cols)
    found = products(queries, keys, scratch)
    if inputs.similarity is not None:
        found = inputs.similarity.scores(found, queries, keys)
    cap = inputs.options.softcap
    if cap is not None:
        found /= inputs.dtype.type(cap)
        np.tanh(found, out=found)
        found *= inputs.dtype.type(cap)
    if inputs.bias is not None:
        found += inputs.bias[..., rows, :][..., cols].astype(inputs.dtype, copy=False)
    if inputs.slopes is not None:
        found -= distances(inputs, rows, cols) * inputs.slopes.astype(inputs.dtype)[..., None, None]
    return found


def distances(inputs: Inputs, rows: Selection, cols: Selection) -> Array:
    """How far each key is from each query, from their positions alone: what ALiBi takes off, slope by slope."""
    query, key = (np.arange(n)[chosen] for n, chosen in ((inputs.queries, rows), (inputs.keys, cols)))
    apart: Array = np.abs((query + inputs.rule.offset)[:, None] - key).astype(inputs.dtype)
    return apart
