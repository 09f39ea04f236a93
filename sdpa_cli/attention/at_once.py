"""The fast path for a problem so small that its keys are one tile: `unshifted`, without what only many tiles need."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
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
from sdpa_cli.attention.unshifted import RANGES, allowed_bits, may_be_unshifted, most_calm, power, select

Array = NDArray[Any]

EDGE_ROWS = 64
"""Rows that are multiplied with the same keys, up to the last that any of them sees: under a causal mask it saves a
sixth of the time at T = 128. With fewer than twice as many it saves nothing."""


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
        None where it is not proved right.
    """
    if not may_be_unshifted(inputs):
        return None
    exp, factor = power(inputs.dtype)
    queries = scaled_queries(inputs, slice(0, inputs.queries), scratch, factor)
    total = np.empty(queries.shape[:-1], inputs.dtype)
    acc = np.empty((*total.shape, inputs.d_v), inputs.dtype)
    free = inputs.rule.forbids_nothing
    for rows, cols in _blocks(inputs):
        powers = products(queries[..., rows, :], key_rows(inputs, cols), scratch)
        kept = None if free else allowed_bits(inputs, rows, cols, scratch)
        # What is forbidden may be anything, but as a rule is like the rest; only else is it taken out.
        if not (_none_lost(powers) or (kept is not None and _none_lost(np.where(kept, powers, 0)))):
            return None
        exp(powers, out=powers)
        if kept is not None:
            select(powers, kept)
        row_sums(powers, total[..., rows])
        values, out = value_rows(inputs, cols), stacked(acc[..., rows, :])
        if careful:
            weighted_sum(stacked(powers), values, stacked(cells(inputs, rows, cols)), out)
        else:
            multiply(stacked(powers), values, out)
    if _is_sound(inputs, total, acc, scratch):
        return SoftmaxState(_no_shift(total.shape, inputs.dtype), total, acc)
    # A value that must not count may have spoilt the sums, for 0 · NaN is NaN.
    spoilt = not (free or careful or np.isfinite(inputs.v).all())
    return see_at_once(inputs, scratch, careful=True) if spoilt else None


def _blocks(inputs: Inputs) -> list[tuple[slice, slice]]:
    """The queries and the keys they may look at: in one go or, where early queries see few keys, in several.

    Not those of grouped heads, whose rows of a block lie apart in the output: stacked, they would be a copy.
    """
    rule, queries = inputs.rule, inputs.queries
    if rule.forbids_nothing:
        return [(slice(0, queries), slice(0, inputs.keys))]
    several = queries >= 2 * EDGE_ROWS and rule.reach()[1] is not None and inputs.heads[2] == 1
    return [(rows, slice(*rule.live_range(rows))) for rows in pieces(queries, EDGE_ROWS if several else queries)]


def _none_lost(scores: Array) -> bool:
    """Whether no score is so far below 0 that its power would be lost in a sum; not where one is NaN."""
    return bool(scores.min(initial=0) >= -most_calm(scores.dtype))


def _is_sound(inputs: Inputs, total: Array, acc: Array, scratch: Scratch) -> bool:
    """Whether the sums are right, if no power is lost."""
    rule = inputs.rule
    # Sums of powers tell of all that is too large, infinite or NaN, and so do their squares, up to 2^64 in float32:
    # BLAS adds them in half of the time that a maximum takes.
    if not isfinite(np.vdot(total, total)):
        return False
    if not rule.leaves_all_a_key(inputs.queries) and total.min(initial=1) == 0:
        return False
    # As a rule no row sum is below half the number of keys. Then what is lost of products that are too small, n of
    # them, each rounded by 2^-150 in float32, is at most the smallest number there is: n · 2^-150 / l. Under a mask
    # rows have fewer keys, and so each sum of values is looked at; a column of zeros then takes the online softmax.
    if rule.forbids_nothing and total.min(initial=inputs.keys) >= inputs.keys / 2 and isfinite(np.vdot(acc, acc)):
        return True
    return RANGES[inputs.dtype].holds_all(acc, scratch)


@lru_cache(maxsize=64)
def _no_shift(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    reference = np.zeros(shape, dtype)
    reference.flags.writeable = False
    return reference
