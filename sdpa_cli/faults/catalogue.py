"""The catalogue: every known wrong attention, by name, as the right recipe with a step or two exchanged.

How each one comes about, what it looks like and how it is cured is told in the explanations, under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdpa_cli.faults import wrong_steps as wrong
from sdpa_cli.faults.recipe import Recipe, forbid


@dataclass(frozen=True)
class Fault:
    """A known wrong attention."""

    name: str
    """What it does wrong, in kebab-case: ``mask-after-softmax``."""
    law: str
    """The law it breaks: one of `LAWS`."""
    recipe: Recipe
    """How it computes."""


LAWS = (
    "formula",  # the step is not the formula's
    "scale",  # scores are QKᵀ/√d_k
    "live-keys",  # exactly the forbidden keys are forbidden
    "zero-weights",  # a forbidden weight is exactly 0
    "row-sum",  # every row of weights sums to 1
    "shift-invariance",  # one constant per row, and then softmax does not change
    "finite",  # finite scores give finite weights; a row without a live key is reported
)

# What a row without a live key becomes where nobody thought of it: NaN.
_UNGUARDED = Recipe(shift=wrong.shift_plainly, normalise=wrong.normalise_plainly)

_SCALE = (
    Fault("no-scale", "scale", Recipe(scale=wrong.keep)),
    Fault("scale-by-d-k", "scale", Recipe(scale=lambda s, given: s / given.q.shape[-1])),
    Fault("scale-by-sqrt-d-v", "scale", Recipe(scale=lambda s, given: s / np.sqrt(given.v.shape[-1]))),
    Fault("scale-by-sqrt-t-k", "scale", Recipe(scale=lambda s, given: s / np.sqrt(s.shape[-1]))),
    Fault("scale-multiplied", "scale", Recipe(scale=lambda s, given: s * np.sqrt(given.q.shape[-1]))),
    Fault(
        "bias-scaled-too",
        "scale",
        Recipe(add_bias=lambda s, given: s if (b := given.inputs.bias) is None else s + b * given.inputs.scale),
    ),
)
_PRODUCTS = (
    Fault("key-not-transposed", "formula", Recipe(multiply=lambda given: given.q @ given.k)),
    Fault("query-and-key-swapped", "formula", Recipe(multiply=lambda given: given.k @ given.q.swapaxes(-1, -2))),
    Fault("half-precision-scores", "formula", Recipe(multiply=wrong.multiply_in_half_precision)),
    Fault("heads-tiled", "formula", Recipe(heads=wrong.tile_heads)),
)
_MASK = (
    Fault(
        "mask-after-softmax",
        "row-sum",
        Recipe(mask=wrong.keep, finish=lambda w, given: np.where(given.forbidden, 0, w)),
    ),
    Fault("mask-ignored", "live-keys", Recipe(forbid=lambda inputs: np.zeros_like(forbid(inputs)))),
    Fault("mask-inverted", "live-keys", replace(_UNGUARDED, forbid=lambda inputs: ~forbid(inputs))),
    Fault("mask-transposed", "live-keys", replace(_UNGUARDED, forbid=lambda inputs: forbid(inputs).swapaxes(-1, -2))),
    Fault("causal-without-self", "live-keys", replace(_UNGUARDED, forbid=wrong.causal_without_self)),
    Fault("causal-from-other-corner", "live-keys", Recipe(forbid=wrong.causal_from_other_corner)),
    Fault("window-by-total-width", "live-keys", Recipe(forbid=wrong.window_by_total_width)),
    Fault("mask-multiplied", "zero-weights", Recipe(mask=lambda s, given: s * ~given.forbidden)),
    Fault("mask-added", "zero-weights", Recipe(mask=lambda s, given: s + given.forbidden)),
    Fault("mask-subtracted", "zero-weights", Recipe(mask=lambda s, given: s - given.forbidden)),
    Fault("softcap-after-mask", "zero-weights", Recipe(cap=wrong.keep, mask=wrong.cap_after_mask)),
    Fault(
        "finite-sentinel",
        "finite",
        replace(_UNGUARDED, mask=lambda s, given: np.where(given.forbidden, -1e9, s)),
    ),
    Fault("empty-row-unnoticed", "finite", _UNGUARDED),
)
_SOFTMAX = (
    Fault("no-max-shift", "finite", Recipe(shift=wrong.keep, normalise=wrong.normalise_plainly)),
    Fault("max-of-all-rows", "finite", Recipe(shift=wrong.shift_by_maximum_of_all, normalise=wrong.normalise_plainly)),
    Fault(
        "max-over-forbidden",
        "finite",
        Recipe(shift=wrong.shift_by_forbidden_maximum, normalise=wrong.normalise_plainly),
    ),
    Fault("max-without-keepdims", "shift-invariance", Recipe(shift=wrong.shift_without_keepdims)),
    Fault("sum-without-keepdims", "row-sum", Recipe(normalise=wrong.normalise_without_keepdims)),
    Fault(
        "softmax-over-queries",
        "row-sum",
        Recipe(shift=wrong.shift_by_maximum_of_all, normalise=wrong.normalise_over_queries),
    ),
    Fault(
        "softmax-over-everything",
        "row-sum",
        Recipe(shift=wrong.shift_by_maximum_of_all, normalise=wrong.normalise_over_everything),
    ),
    Fault(
        "softmax-missing",
        "row-sum",
        Recipe(shift=wrong.keep, exponentiate=wrong.live_scores, normalise=wrong.keep),
    ),
    Fault("exponential-missing", "formula", Recipe(shift=wrong.keep, exponentiate=wrong.live_scores)),
    Fault("normaliser-missing", "row-sum", Recipe(shift=wrong.keep, normalise=wrong.keep)),
    Fault("softmax-twice", "zero-weights", Recipe(finish=wrong.softmax_again)),
    Fault("base-two-exponential", "formula", Recipe(exponentiate=lambda s, given: np.exp2(s))),
    Fault("stream-without-rescale", "shift-invariance", Recipe(shift=wrong.shift_by_running_maximum)),
    Fault("stream-sum-without-rescale", "row-sum", Recipe(normalise=wrong.normalise_by_running_sum)),
)
_OUTPUT = (
    Fault("weights-transposed", "formula", Recipe(mix=lambda w, given: w.swapaxes(-1, -2) @ given.v)),
    Fault("keys-as-values", "formula", Recipe(mix=lambda w, given: w @ given.k)),
    Fault("forbidden-values-multiplied", "zero-weights", Recipe(mix=wrong.mix_plainly)),
)

CATALOGUE = {fault.name: fault for fault in (*_SCALE, *_PRODUCTS, *_MASK, *_SOFTMAX, *_OUTPUT)}
"""Every fault by its name, in the order of the steps they spoil."""
