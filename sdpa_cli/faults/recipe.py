"""The formula as a list of steps, any of which can be exchanged: the right attention, and every wrong one.

Written for being looked at, not for speed: every step is a whole Tq×Tk matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.scores import distances

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Steps:
    """Every matrix between Q, K, V and the output, in the order they are computed, each ``(B, H_kv, G, Tq, …)``."""

    products: Array
    """QKᵀ."""
    scores: Array
    """Scaled, softcapped and biased."""
    logits: Array
    """Masked: −inf where a key is forbidden."""
    shifted: Array
    """Less the row maximum."""
    exponentials: Array
    weights: Array
    output: Array

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The steps' names, first to last."""
        return tuple(step.name for step in fields(cls))


@dataclass(frozen=True, eq=False)
class Given:
    """What every step may look at besides the matrix it works on."""

    inputs: Inputs
    q: Array
    """``(B, H_kv, G, Tq, d_k)``."""
    k: Array
    """``(B, H_kv, G, Tk, d_k)``: the keys each query head reads."""
    v: Array
    """``(B, H_kv, G, Tk, d_v)``."""
    forbidden: Bools
    """``(B, H_kv, G, Tq, Tk)``."""
    scores: Array = field(default_factory=lambda: np.empty(0))
    """Before the mask; known from the shift on."""
    logits: Array = field(default_factory=lambda: np.empty(0))
    """After the mask; known from the shift on."""

    @property
    def alive(self) -> Bools:
        """Which queries have a live key, ``(B, H_kv, G, Tq, 1)``: a matter of the mask, never of the numbers."""
        return np.asarray(~self.forbidden.all(axis=-1, keepdims=True))


def repeat_heads(inputs: Inputs) -> tuple[Array, Array]:
    """K and V as each query head reads them: neighbouring query heads share one key/value head."""
    lead = inputs.q.shape[:3]
    spread = (np.broadcast_to(x[:, :, None], (*lead, *x.shape[2:])) for x in (inputs.k, inputs.v))
    k, v = (np.asarray(x, np.float64) for x in spread)
    return k, v


def forbid(inputs: Inputs) -> Bools:
    """The mask, whole."""
    rows, keys = np.arange(inputs.queries), np.arange(inputs.keys)
    return np.broadcast_to(inputs.rule.forbidden(rows, keys), (*inputs.q.shape[:3], len(rows), len(keys)))


def multiply(given: Given) -> Array:
    """QKᵀ, or what the case's own score function makes of every pair."""
    products = given.q @ given.k.swapaxes(-1, -2)
    similarity = given.inputs.similarity
    return products if similarity is None else similarity.scores(products, given.q, np.asarray(given.inputs.k))


def scale(s: Array, given: Given) -> Array:
    """Times 1/√d_k, or the case's own scale."""
    return s * given.inputs.scale


def cap(s: Array, given: Given) -> Array:
    """The softcap: cap · tanh(s / cap)."""
    softcap = given.inputs.options.softcap
    return s if softcap is None else softcap * np.tanh(s / softcap)


def add_bias(s: Array, given: Given) -> Array:
    """Plus the case's additive bias, less what ALiBi takes off for the distance."""
    biased: Array = s if given.inputs.bias is None else s + given.inputs.bias
    if given.inputs.slopes is None:
        return biased
    rows, cols = slice(0, given.inputs.queries), slice(0, given.inputs.keys)
    sloped: Array = biased - given.inputs.slopes[..., None, None] * distances(given.inputs, rows, cols)
    return sloped


def mask(s: Array, given: Given) -> Array:
    """−inf at each forbidden cell, by selection."""
    return np.where(given.forbidden, -np.inf, s)


def shift(s: Array, given: Given) -> Array:
    """Less the maximum over the live entries of each row."""
    return s - np.where(given.alive, s.max(axis=-1, keepdims=True, initial=-np.inf), 0)


def exponentiate(s: Array, given: Given) -> Array:
    """Euler's number to the power of each entry."""
    return np.exp(s)


def normalise(p: Array, given: Given) -> Array:
    """Each row divided by its sum; a row without a live key has no weights to share out."""
    return p / np.where(given.alive, p.sum(axis=-1, keepdims=True), 1)


def finish(w: Array, given: Given) -> Array:
    """Nothing: the softmax's weights are the weights."""
    return w


def mix(w: Array, given: Given) -> Array:
    """The weighted sum of the value rows; one forbidden with a weight of 0 counts as absent, whatever it holds."""
    absent = given.forbidden & (w == 0)
    terms = np.where(absent[..., None], 0, w[..., None] * given.v[..., None, :, :])
    return np.asarray(terms.sum(axis=-2))


Step = Callable[[Array, Given], Array]


@dataclass(frozen=True)
class Recipe:
    """How attention is computed, step by step. The defaults are right; a fault exchanges one or two of them.

    Examples
    --------
    >>> from sdpa_cli.attention.inputs import Options, prepare
    >>> q, k, v = np.eye(2), np.array([[1, 1], [2, 0]]), np.array([[1, 0, 0], [0, 1, 0]])
    >>> inputs = prepare({"Q": q, "K": k, "V": v}, None, None, Options())
    >>> Recipe().run(inputs).weights[0, 0, 0].round(4)
    array([[0.3302, 0.6698],
           [0.6698, 0.3302]])
    >>> Recipe(scale=lambda s, given: s).run(inputs).weights[0, 0, 0].round(4)
    array([[0.2689, 0.7311],
           [0.7311, 0.2689]])
    """

    heads: Callable[[Inputs], tuple[Array, Array]] = repeat_heads
    forbid: Callable[[Inputs], Bools] = forbid
    multiply: Callable[[Given], Array] = multiply
    scale: Step = scale
    cap: Step = cap
    add_bias: Step = add_bias
    mask: Step = mask
    shift: Step = shift
    exponentiate: Step = exponentiate
    normalise: Step = normalise
    finish: Step = finish
    mix: Step = mix

    def run(self, inputs: Inputs) -> Steps:
        """Compute every step.

        Raises
        ------
        ValueError
            Where the shapes of the case do not admit this recipe, as a forgotten transpose admits only Tk = d_k.
        """
        with np.errstate(all="ignore"):
            k, v = self.heads(inputs)
            given = Given(inputs, np.asarray(inputs.q, np.float64), k, v, self.forbid(inputs))
            products = _shaped("scores", self.multiply(given), given.forbidden.shape)
            scores = self.add_bias(self.cap(self.scale(products, given), given), given)
            logits = self.mask(scores, given)
            given = replace(given, scores=scores, logits=logits)
            shifted = self.shift(logits, given)
            exponentials = self.exponentiate(shifted, given)
            weights = self.finish(self.normalise(exponentials, given), given)
            output = _shaped("output", self.mix(weights, given), (*given.q.shape[:-1], given.v.shape[-1]))
            return Steps(products, scores, logits, shifted, exponentials, weights, output)


def _shaped(what: str, array: Array, shape: tuple[int, ...]) -> Array:
    if array.shape != shape:
        raise ValueError(f"{what} of shape {array.shape} where the case needs {shape}")
    return array
