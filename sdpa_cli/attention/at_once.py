"""The fast path for a problem so small that its keys are one tile: `unshifted`, without what only many tiles need."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.products import multiply
from sdpa_cli.attention.regions import pieces
from sdpa_cli.attention.scores import key_rows, products, scaled_queries, stacked, value_rows
from sdpa_cli.attention.scratch import Scratch
from sdpa_cli.attention.softmax import SoftmaxState, row_sums, weighted_sum
from sdpa_cli.attention.streaming import cells
from sdpa_cli.attention.unshifted import BITS, RANGES, allowed_bits, calm, may_be_unshifted, power

Array = NDArray[Any]

EDGE_ROWS = 64
"""Rows that see the same keys under a causal mask, where there are twice as many: at T = 128 it saves a sixth."""


def see_at_once(inputs: Inputs, scratch: Scratch, careful: bool = False) -> SoftmaxState | None:
    """The softmax state of all queries after all keys, in half of the time that `fold_unshifted` takes at T = 16.

    Parameters
    ----------
    inputs
        The problem.
    scratch
        The thread's own memory.
    careful
        Whether values may be NaN or infinite where they are forbidden.

    Returns
    -------
    SoftmaxState or None
        None where it is not proved right. All scores are looked at, so that no power is lost: the proof lacks only a
        look at the sums of values.
    """
    if not may_be_unshifted(inputs):
        return None
    exp, factor = power(inputs.dtype)
    queries = scaled_queries(inputs, slice(0, inputs.queries), scratch, factor)
    total = np.empty(queries.shape[:-1], inputs.dtype)
    acc = np.empty((*total.shape, inputs.d_v), inputs.dtype)
    free = inputs.rule.forbids_nothing
    for rows in _blocks(inputs):
        cols = slice(*inputs.rule.live_range(rows))
        powers = products(queries[..., rows, :], key_rows(inputs, cols), scratch)
        kept = None if free else allowed_bits(inputs, rows, cols, scratch)
        if not (calm(powers) or (kept is not None and calm(np.where(kept, powers, 0)))):
            return None
        exp(powers, out=powers)
        if kept is not None:
            bits = powers.view(BITS[powers.dtype])
            np.bitwise_and(bits, kept, out=bits)
        row_sums(powers, total[..., rows])
        values, out = value_rows(inputs, cols), stacked(acc[..., rows, :])
        if careful:
            weighted_sum(stacked(powers), values, stacked(cells(inputs, rows, cols)), out)
        else:
            multiply(stacked(powers), values, out)
    if not inputs.rule.leaves_all_a_key(inputs.queries) and total.min(initial=1) == 0:
        return None
    if (free and _as_if_shifted(total, acc)) or RANGES[inputs.dtype].holds_all(acc, scratch):
        return SoftmaxState(_no_shift(total.shape, inputs.dtype), total, acc)
    wild = not (free or careful or np.isfinite(inputs.v).all())
    return see_at_once(inputs, scratch, careful=True) if wild else None


def _blocks(inputs: Inputs) -> list[slice]:
    """The queries, in one go or, where early ones see few keys, in several.

    Not those of grouped heads: stacked, all of a head's come before the next head's.
    """
    several = inputs.queries >= 2 * EDGE_ROWS and inputs.rule.reach()[1] is not None and inputs.heads[2] == 1
    return list(pieces(inputs.queries, EDGE_ROWS)) if several else [slice(0, inputs.queries)]


def _as_if_shifted(total: Array, acc: Array) -> bool:
    """Whether no row sum is below 1, as none of a shifted softmax is, and no sum of values has overflowed.

    Then no more is lost of products that are too small: n of them, each rounded by 2^-150 in float32, change an output
    by n · 2^-150 / l. Under a causal mask the first rows have few keys and sums below 1, as a rule.
    """
    return bool(total.min(initial=1) >= 1) and math.isfinite(np.vdot(acc, acc))


@lru_cache(maxsize=64)
def _no_shift(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    reference = np.zeros(shape, dtype)
    reference.flags.writeable = False
    return reference
