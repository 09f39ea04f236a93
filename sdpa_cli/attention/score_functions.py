"""How a query and a key are compared: scaled dot product, dot, general (Luong), additive (Bahdanau), and linear.

A score function may project queries and keys once, before any tile; what is left to do for every pair is its
`Similarity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.checks import number_problems
from sdpa_cli.attention.linear import elu_plus_one
from sdpa_cli.errors import Problem

Array = NDArray[Any]


class Similarity(Protocol):
    """The scores of a tile from queries and keys that are already projected."""

    def scores(self, products: Array, queries: Array, keys: Array) -> Array:
        """Scores ``(B, H_kv, G, rows, cols)``.

        Parameters
        ----------
        products
            The dot products, to be used or overwritten.
        queries, keys
            ``(B, H_kv, G, rows, d)`` and ``(B, H_kv, cols, d)``.
        """


@dataclass(frozen=True)
class Dot:
    """The plain dot product, ``q·k``: scaled dot-product attention without its scale.

    References
    ----------
    .. [1] M.-T. Luong, H. Pham and C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation",
       arXiv:1508.04025, 2015, section 3.1.
    """


@dataclass(frozen=True, eq=False)
class General:
    """A dot product through a learned matrix, ``qᵀ W k``.

    Parameters
    ----------
    W
        ``(d_q, d_k)``: queries and keys may differ in length.

    References
    ----------
    .. [1] M.-T. Luong, H. Pham and C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation",
       arXiv:1508.04025, 2015, section 3.1.
    """

    W: ArrayLike


@dataclass(frozen=True, eq=False)
class Additive:
    """A small network with one hidden layer, ``v · tanh(q W_q + k W_k)``.

    Parameters
    ----------
    v
        ``(d_a,)``, or a number that stands for all of them.
    W_q, W_k
        ``(d_q, d_a)`` and ``(d_k, d_a)``; the identity by default.

    References
    ----------
    .. [1] D. Bahdanau, K. Cho and Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate",
       arXiv:1409.0473, 2014, section 3.1 and appendix A.1.2.

    Examples
    --------
    >>> from sdpa_cli.attention import attend
    >>> attend([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 2], [3, 4]], score=Additive(v=1)).output.round(6)
    array([[1.727483, 2.727483],
           [2.272517, 3.272517]])
    """

    v: ArrayLike
    W_q: ArrayLike | None = None
    W_k: ArrayLike | None = None


@dataclass(frozen=True)
class Linear:
    """Linear attention: weights in proportion to ``φ(q)·φ(k)`` itself, with ``φ(x) = elu(x) + 1``.

    This is another normaliser, not a softmax of dot products. What it shares with the softmax is that weights are
    positive and sum to 1; so its logits are ``log φ(q)·φ(k)``, and whatever works tile by tile works for it. What it
    is made for, a running state in place of the keys, is `linear_recurrence`.

    References
    ----------
    .. [1] A. Katharopoulos et al., "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
       arXiv:2006.16236, 2020.
    """


Score = Dot | General | Additive | Linear


@dataclass(frozen=True, eq=False)
class _AdditiveSimilarity:
    v: Array

    def scores(self, products: Array, queries: Array, keys: Array) -> Array:
        """One hidden unit after the other, so that no tile is ever d_a times as large."""
        products.fill(0)
        for unit, weight in enumerate(self.v.astype(products.dtype)):
            hidden = queries[..., unit, None] + keys[:, :, None, None, :, unit]
            np.tanh(hidden, out=hidden)
            products += np.multiply(hidden, weight, out=hidden)
        return products


@dataclass(frozen=True)
class _LogSimilarity:
    def scores(self, products: Array, queries: Array, keys: Array) -> Array:
        """Logarithms: the softmax takes them back, and divides by the sum."""
        return np.log(products, out=products)


@np.errstate(all="ignore")  # what is not finite is refused at the scores
def compared(score: Score, q: Array, k: Array) -> tuple[Array, Array, Similarity | None]:
    """Queries and keys as a score function projects them, and what it does with every pair of them.

    Parameters
    ----------
    score
        The score function; `score_problems` has nothing to say about it.
    q, k
        ``(…, Tq, d_q)``, ``(…, Tk, d_k)``.
    """
    if isinstance(score, General):
        return q @ np.asarray(score.W), k, None
    if isinstance(score, Additive):
        hidden_q = q if score.W_q is None else q @ np.asarray(score.W_q)
        hidden_k = k if score.W_k is None else k @ np.asarray(score.W_k)
        return hidden_q, hidden_k, _AdditiveSimilarity(np.broadcast_to(np.asarray(score.v), hidden_q.shape[-1:]))
    if isinstance(score, Linear):
        return elu_plus_one(q), elu_plus_one(k), _LogSimilarity()
    return q, k, None


def score_problems(score: object, q: tuple[int, ...], k: tuple[int, ...]) -> list[Problem]:
    """Whether a score function can compare queries and keys of these shapes."""
    if isinstance(score, General):
        return _matrix_problems("general", score.W, (("d_q", q[-1]), ("d_k", k[-1])))
    if isinstance(score, Additive):
        return _additive_problems(score, q[-1], k[-1])
    if isinstance(score, Dot | Linear):
        return []
    return [Problem("choice", f"score is {score!r}", "Dot(), General(W), Additive(v) or Linear()", None, ("score",))]


def _additive_problems(score: Additive, d_q: int, d_k: int) -> list[Problem]:
    found = []
    width = {"q": d_q, "k": d_k}
    for side, weight in (("q", score.W_q), ("k", score.W_k)):
        if weight is not None:
            found += _matrix_problems(f"W_{side}", weight, ((f"d_{side}", width[side]), ("d_a", None)))
            width[side] = np.shape(weight)[-1]
    if not found and width["q"] != width["k"]:
        message = f"queries become {width['q']} hidden units, keys {width['k']}"
        found.append(Problem("shape-mismatch", message, "the same d_a from W_q and W_k", None, ("score",)))
    v = np.asarray(score.v)
    found += number_problems("v", v, ("score", "v"))
    if v.shape not in ((), (width["q"],)):
        message = f"v has shape {v.shape}, there are d_a = {width['q']} hidden units"
        found.append(Problem("shape-mismatch", message, f"({width['q']},)", None, ("score", "v")))
    return found


def _matrix_problems(name: str, weight: ArrayLike, axes: tuple[tuple[str, int | None], ...]) -> list[Problem]:
    """Whether a matrix has the axes that queries or keys ask for; None stands for any length."""
    array, path = np.asarray(weight), ("score", name)
    problems = number_problems(name, array, path)
    fits = array.ndim == 2 and all(want in (None, have) for have, (_, want) in zip(array.shape, axes, strict=True))
    if not problems and not fits:
        letters = ", ".join(letter if size is None else f"{letter} = {size}" for letter, size in axes)
        message = f"{name} has shape {array.shape}"
        problems.append(Problem("shape-mismatch", message, f"({letters})", None, path))
    return problems
