"""The softmax as a state that can be merged: what lets attention be computed tile by tile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sdpa_cli.attention.products import multiply
from sdpa_cli.attention.rule import Bools

Array = NDArray[Any]
_MANY = 1 << 13
"""Keys of the longest tile that is not asked for."""


@dataclass(frozen=True, eq=False)
class SoftmaxState:
    """What is known of some queries after they have seen some of their keys.

    With S the scores seen so far: ``l = Σ_j exp(S_j − m)`` and ``acc = Σ_j exp(S_j − m) v_j``, for a reference ``m``
    that keeps the exponentials in range, as a rule the largest score seen. The states form a commutative monoid under
    `merge`, with `empty` as identity: so tiles, threads and machines may each fold their own keys, in any grouping.

    Parameters
    ----------
    m
        Reference score of each query, ``(…, Tq)``; −inf before any key is seen.
    l
        Sum of exponentials, ``(…, Tq)``.
    acc
        Sum of value rows, each times its exponential, ``(…, Tq, d_v)``.

    References
    ----------
    .. [1] M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867, 2018.
    .. [2] T. Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
       arXiv:2205.14135, 2022, Theorem 1.

    Examples
    --------
    >>> scores, values = np.array([[1.0, 0.0, 3.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> left = SoftmaxState.of(scores[:, :1], values[:1])
    >>> right = SoftmaxState.of(scores[:, 1:], values[1:])
    >>> both, whole = left.merge(right), SoftmaxState.of(scores, values)
    >>> bool(np.allclose(both.output, whole.output)), whole.output.round(4)
    (True, array([[3.5734]]))
    """

    m: Array
    l: Array  # noqa: E741 - the letter of both papers
    acc: Array

    @classmethod
    def empty(cls, shape: tuple[int, ...], d_v: int, dtype: DTypeLike) -> SoftmaxState:
        """The state of queries of this shape ``(…, Tq)`` that have seen no key."""
        return cls(np.full(shape, -np.inf, dtype), np.zeros(shape, dtype), np.zeros((*shape, d_v), dtype))

    @classmethod
    def of(cls, scores: Array, values: Array, forbidden: Bools | None = None) -> SoftmaxState:
        """The state after exactly these keys.

        Parameters
        ----------
        scores
            ``(…, Tq, Tk)``, −inf where a key is forbidden.
        values
            ``(…, Tk, d_v)``.
        forbidden
            The cells the mask forbids, broadcasting to `scores`. Only needed where values may be non-finite.
        """
        return consume(np.array(scores, subok=False), values, forbidden)

    def merge(self, other: SoftmaxState) -> SoftmaxState:
        """The state after the keys of both, which must be states of the same queries."""
        m = np.maximum(self.m, other.m)
        ours, theirs = np.exp(self.m - _finite(m)), np.exp(other.m - _finite(m))
        return SoftmaxState(
            m,
            ours * self.l + theirs * other.l,
            ours[..., None] * self.acc + theirs[..., None] * other.acc,
        )

    def at(self, queries: tuple[Any, ...]) -> SoftmaxState:
        """The states of some of the queries, as views: what is written there is written here."""
        return SoftmaxState(self.m[queries], self.l[queries], self.acc[(*queries, slice(None))])

    def clear(self) -> None:
        """Forget all keys, in place."""
        self.m.fill(-np.inf)
        self.l.fill(0)
        self.acc.fill(0)

    def become(self, other: SoftmaxState) -> None:
        """Know what `other` knows and nothing else, in place."""
        for mine, its in ((self.m, other.m), (self.l, other.l), (self.acc, other.acc)):
            np.copyto(mine, its)

    def absorb(self, other: SoftmaxState) -> None:
        """`merge`, in place and using up `other`: for a fold, which would else allocate at every tile."""
        m = np.maximum(self.m, other.m)
        for state in (self, other):
            factor = np.exp(state.m - _finite(m))
            np.multiply(state.l, factor, out=state.l)
            np.multiply(state.acc, factor[..., None], out=state.acc)
        np.copyto(self.m, m)
        np.add(self.l, other.l, out=self.l)
        np.add(self.acc, other.acc, out=self.acc)

    def normalise(self, weighed: bool = False) -> None:
        """Turn `acc` into the output, in place; 0 for a query without weight, which is looked for unless `weighed`."""
        total = self.l if weighed or self.l.all() else np.where(self.l == 0, 1, self.l)
        np.divide(self.acc, total[..., None], out=self.acc)

    def reshape(self, *shape: int) -> SoftmaxState:
        """The same states, arranged as ``(…, Tq)`` says."""
        return SoftmaxState(self.m.reshape(shape), self.l.reshape(shape), self.acc.reshape(*shape, self.acc.shape[-1]))

    @property
    def output(self) -> Array:
        """The attention output ``(…, Tq, d_v)``; NaN for a query without any weight, which only the mask can judge."""
        with np.errstate(invalid="ignore"):
            output: Array = self.acc / self.l[..., None]
        return output

    @property
    def lse(self) -> Array:
        """Log-sum-exp of the scores, ``(…, Tq)``; −inf for a query without any weight."""
        with np.errstate(divide="ignore"):
            lse: Array = self.m + np.log(self.l)
        return lse


def consume(scores: Array, values: Array, forbidden: Bools | None = None, out: Array | None = None) -> SoftmaxState:
    """`SoftmaxState.of`, computed in the memory of `scores`, and `acc` in that of `out` if given."""
    m = scores.max(axis=-1, initial=-np.inf)
    np.subtract(scores, _finite(m)[..., None], out=scores)
    p = _exp(scores)
    return SoftmaxState(m, row_sums(p), weighted_sum(p, values, forbidden, out))


def row_sums(p: Array, out: Array | None = None) -> Array:
    """Sums over keys, as a product with ones: BLAS takes a quarter of the time of `sum`."""
    length = p.shape[-1]
    ones = _ones(p.dtype)[:length] if length <= _MANY else np.ones(length, p.dtype)
    sums: Array = np.matmul(p, ones, out=out)
    return sums


@cache
def _ones(dtype: np.dtype[Any]) -> Array:
    ones = np.ones(_MANY, dtype)
    ones.flags.writeable = False
    return ones


def _exp(scores: Array) -> Array:
    """``exp(scores)`` in place, with 0 for whatever is below the smallest normal number.

    Beside the 1 of the largest score of the row it cannot be seen; but denormal results cost NumPy 85 times, and even
    exp(−inf) 4 times, an ordinary one in float64.
    """
    floor = np.log(np.finfo(scores.dtype).tiny)
    if not scores.min(initial=0) < floor:
        np.exp(scores, out=scores)
        return scores
    visible = scores >= floor
    np.maximum(scores, floor, out=scores)
    np.exp(scores, out=scores)
    np.multiply(scores, visible, out=scores)
    return scores


def weighted_sum(p: Array, values: Array, forbidden: Bools | None = None, out: Array | None = None) -> Array:
    """``p @ values``, where a forbidden value row counts as absent even if it holds NaN or infinity.

    A plain product would let it through, because 0 · NaN is NaN.
    """
    wild = None if forbidden is None else _wild_rows(values)
    if forbidden is None or wild is None:
        return multiply(p, values, np.empty((*p.shape[:-1], values.shape[-1]), p.dtype) if out is None else out)
    # By the way of the plain product: then what forbidden keys hold changes no bit.
    total = weighted_sum(p, np.where(wild[..., None], values.dtype.type(0), values), out=out)
    for j in np.flatnonzero(wild.reshape(-1, wild.shape[-1]).any(axis=0)):
        term = p[..., j, None] * np.where(wild[..., j, None], values[..., j, :], 0)[..., None, :]
        total += np.where(np.broadcast_to(forbidden, p.shape)[..., j, None], 0, term)
    return total


def _wild_rows(values: Array) -> Bools | None:
    """Which value rows are not finite, None where all are."""
    wild = ~np.asarray(np.isfinite(values).all(axis=-1))
    return wild if wild.any() else None


def _finite(m: Array) -> Array:
    """The reference to subtract: 0 until a key is seen, so that −inf − (−inf) is never evaluated."""
    reference: Array = np.where(m == -np.inf, 0, m)
    return reference
