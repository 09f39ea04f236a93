"""The wrong steps that take more than a line. Each stands in for the step of the same kind in `recipe`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.faults.recipe import Array, Bools, Given, forbid


def _max(s: Array, axis: int | tuple[int, int] = -1) -> Array:
    return np.asarray(s.max(axis=axis, keepdims=True))


def _sum(p: Array, axis: int | tuple[int, int] = -1) -> Array:
    return np.asarray(p.sum(axis=axis, keepdims=True))


# Which keys are forbidden.


def causal_without_self(inputs: Inputs) -> Bools:
    """Causal that forbids each query its own position too: ``j < i`` for ``j <= i``."""
    own = np.arange(inputs.keys) == (np.arange(inputs.queries) + inputs.rule.offset)[:, None]
    return forbid(inputs) | own if inputs.rule.causal else forbid(inputs)


def causal_from_other_corner(inputs: Inputs) -> Bools:
    """Bottom-right alignment where the case says top-left, and the reverse."""
    offset = 0 if inputs.rule.offset else inputs.keys - inputs.queries
    return forbid(replace(inputs, rule=replace(inputs.rule, offset=offset)))


def window_by_total_width(inputs: Inputs) -> Bools:
    """A window whose left reach counts the query itself, so it is one key short."""
    window = inputs.rule.window
    if window is None or not window.left:
        return forbid(inputs)
    return forbid(replace(inputs, rule=replace(inputs.rule, window=replace(window, left=window.left - 1))))


# The heads.


def tile_heads(inputs: Inputs) -> tuple[Array, Array]:
    """Query head h reads key/value head ``h mod H_kv``: the key/value heads are laid out again and again."""
    _, kv_heads, group = inputs.q.shape[:3]
    order = np.arange(kv_heads * group).reshape(kv_heads, group) % kv_heads
    return inputs.k[:, order].astype(np.float64), inputs.v[:, order].astype(np.float64)


# The products and the mask.


def multiply_in_half_precision(given: Given) -> Array:
    """QKᵀ in float16."""
    return (given.q.astype(np.float16) @ given.k.astype(np.float16).swapaxes(-1, -2)).astype(np.float64)


def cap_after_mask(s: Array, given: Given) -> Array:
    """The softcap over masked logits: it turns −inf into −cap, and every forbidden key comes alive again."""
    softcap = given.inputs.options.softcap
    masked = np.where(given.forbidden, -np.inf, s)
    return masked if softcap is None else softcap * np.tanh(masked / softcap)


# The shift. A plain one has no guard for a row without a live key.


def shift_plainly(s: Array, given: Given) -> Array:
    """Less the row maximum, which is −inf in a row without a live key: −inf − (−inf) is NaN."""
    return s - _max(s)


def shift_by_maximum_of_all(s: Array, given: Given) -> Array:
    """Less the maximum of the whole matrix: a row far below it underflows to nothing."""
    return s - _max(s, (-2, -1))


def shift_by_forbidden_maximum(s: Array, given: Given) -> Array:
    """Less the row maximum taken before the mask: a large forbidden score underflows the live ones."""
    return s - _max(given.scores)


def shift_by_running_maximum(s: Array, given: Given) -> Array:
    """Less the maximum known when each key is met, block by block, and never rescaled when a larger one comes."""
    width = given.inputs.options.block_size or 1
    last = np.minimum(np.arange(s.shape[-1]) // width * width + width, s.shape[-1]) - 1
    known = np.maximum.accumulate(s, axis=-1)[..., last]
    return s - np.where(known == -np.inf, 0, known)


def shift_without_keepdims(s: Array, given: Given) -> Array:
    """``s - s.max(-1)``: broadcasting lays the row maxima along the columns. Only square scores let it pass."""
    return s - _max(s).swapaxes(-1, -2)


# The normaliser.


def normalise_plainly(p: Array, given: Given) -> Array:
    """Divided by the row sum, whatever it is: 0/0 in a row without a live key."""
    return p / _sum(p)


def normalise_over_queries(p: Array, given: Given) -> Array:
    """Each column divided by its sum."""
    return p / _sum(p, -2)


def normalise_over_everything(p: Array, given: Given) -> Array:
    """The whole matrix divided by its sum."""
    return p / _sum(p, (-2, -1))


def normalise_without_keepdims(p: Array, given: Given) -> Array:
    """``p / p.sum(-1)``: broadcasting lays the row sums along the columns. Only square scores let it pass."""
    return p / _sum(p).swapaxes(-1, -2)


def normalise_by_running_sum(p: Array, given: Given) -> Array:
    """Divided by a running sum that was not rescaled when the running maximum rose."""
    return p / _sum(np.exp(shift_by_running_maximum(given.logits, given)))


# After the softmax.


def softmax_again(w: Array, given: Given) -> Array:
    """The softmax of the weights: every forbidden 0 becomes exp(0)."""
    p = np.exp(w - _max(w))
    return p / _sum(p)


def live_scores(s: Array, given: Given) -> Array:
    """The scores themselves in place of their exponentials, 0 where a key is forbidden."""
    return np.where(given.forbidden, 0, s)


def mix_plainly(w: Array, given: Given) -> Array:
    """``A @ V`` with every row of V in it: 0 · NaN is NaN."""
    return np.asarray(w @ given.v)


def keep(s: Array, given: Given) -> Array:
    """Nothing."""
    return s
