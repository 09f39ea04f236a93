"""Linear attention: another normaliser in place of the softmax, which a running state of fixed size can carry.

The weights are ``φ(q)·φ(k_j) / Σ φ(q)·φ(k_j)`` with ``φ(x) = elu(x) + 1``, positive and summing to 1 like the softmax's
but without its exponential: and so a different attention. Because the similarity is a product, the sum over the keys
can be taken before the query is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Array = NDArray[Any]


def elu_plus_one(x: ArrayLike) -> Array:
    """The feature map ``φ(x) = elu(x) + 1``: ``x + 1`` above 0, ``e^x`` below, never rounded to 0 by adding 1.

    Examples
    --------
    >>> elu_plus_one([-8.0, 0.0, 2.0]).round(8).tolist()
    [0.00033546, 1.0, 3.0]
    """
    given = np.asarray(x)
    mapped: Array = np.where(given > 0, given + 1, np.exp(np.minimum(given, 0)))
    return mapped.astype(given.dtype) if given.dtype.kind == "f" else mapped


@dataclass(frozen=True, eq=False)
class LinearState:
    """All that linear attention keeps of the keys it has seen, however many they are.

    Like the softmax's state it forms a commutative monoid under `merge`.

    Parameters
    ----------
    kv
        ``Σ_j φ(k_j) v_jᵀ``, ``(…, d_k, d_v)``.
    k
        ``Σ_j φ(k_j)``, ``(…, d_k)``.

    References
    ----------
    .. [1] A. Katharopoulos et al., "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention",
       arXiv:2006.16236, 2020, section 3.4.
    """

    kv: Array
    k: Array

    @classmethod
    def empty(cls, lead: tuple[int, ...], d_k: int, d_v: int, dtype: DTypeLike = np.float64) -> LinearState:
        """The state before any key."""
        return cls(np.zeros((*lead, d_k, d_v), dtype), np.zeros((*lead, d_k), dtype))

    @classmethod
    def of(cls, keys: ArrayLike, values: ArrayLike) -> LinearState:
        """The state after exactly these keys ``(…, T, d_k)`` and values ``(…, T, d_v)``."""
        mapped = elu_plus_one(keys)
        return cls(mapped.swapaxes(-1, -2) @ np.asarray(values), mapped.sum(axis=-2))

    def merge(self, other: LinearState) -> LinearState:
        """The state after the keys of both."""
        return LinearState(self.kv + other.kv, self.k + other.k)

    def read(self, queries: ArrayLike) -> Array:
        """The outputs ``(…, Tq, d_v)`` of queries ``(…, Tq, d_k)`` that look at every key of the state."""
        mapped = elu_plus_one(queries)
        output: Array = (mapped @ self.kv) / (mapped @ self.k[..., None])
        return output


def linear_recurrence(q: ArrayLike, k: ArrayLike, v: ArrayLike) -> tuple[Array, LinearState]:
    """Causal linear attention one token at a time, as a recurrent network: O(T), and no matrix of scores.

    Parameters
    ----------
    q, k, v
        ``(…, T, d_k)``, ``(…, T, d_k)``, ``(…, T, d_v)``.

    Returns
    -------
    output, state
        ``(…, T, d_v)``, equal to ``attend(q, k, v, mask=Mask(causal=True), score=Linear())`` but for rounding, and the
        state to go on from.

    Examples
    --------
    >>> output, state = linear_recurrence([[0.0], [1.0]], [[0.0], [1.0]], [[1.0], [4.0]])
    >>> output.tolist()
    [[1.0], [3.0]]
    """
    queries, keys, values = (np.asarray(x) for x in (q, k, v))
    state = LinearState.empty(
        keys.shape[:-2], keys.shape[-1], values.shape[-1], np.result_type(keys, values, np.float32)
    )
    outputs = []
    for t in range(queries.shape[-2]):
        here = slice(t, t + 1)
        state = state.merge(LinearState.of(keys[..., here, :], values[..., here, :]))
        outputs.append(state.read(queries[..., here, :]))
    if not outputs:
        return np.zeros((*queries.shape[:-1], values.shape[-1])), state
    return np.concatenate(outputs, axis=-2), state
