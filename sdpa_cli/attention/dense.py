"""The formula as the textbook has it: the whole score matrix at once, in float64. What every other path must equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def dense(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    forbidden: ArrayLike = False,
    bias: ArrayLike = 0.0,
    scale: float | None = None,
    softcap: float | None = None,
) -> tuple[Array, Array, Array]:
    """Scores, weights and output of scaled dot-product attention.

    Parameters
    ----------
    q, k, v
        ``(…, Tq, d_k)``, ``(…, Tk, d_k)``, ``(…, Tk, d_v)``. K and V may have fewer heads than Q.
    forbidden, bias
        Broadcasting to ``(…, Tq, Tk)``. A row with every key forbidden gives NaN.
    scale, softcap
        As in `sdpa_cli.attend`.

    Returns
    -------
    scores, weights, output
        ``(…, Tq, Tk)``, ``(…, Tq, Tk)``, ``(…, Tq, d_v)``.

    Examples
    --------
    >>> scores, weights, output = dense(np.eye(2), np.eye(2), [[1, 2], [3, 4]])
    >>> output.round(6)
    array([[1.660477, 2.660477],
           [2.339523, 3.339523]])
    """
    Q, K, V = (np.asarray(x, np.float64) for x in (q, k, v))
    if Q.ndim > 2:
        K, V = (np.repeat(x, Q.shape[-3] // x.shape[-3], axis=-3) for x in (K, V))
    S = (Q * (1 / np.sqrt(Q.shape[-1]) if scale is None else scale)) @ K.swapaxes(-1, -2)
    if softcap is not None:
        S = softcap * np.tanh(S / softcap)
    S = np.where(forbidden, -np.inf, S + np.asarray(bias))
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    A = P / P.sum(axis=-1, keepdims=True)
    # Term by term, because a forbidden value row must not count even if it holds NaN: 0 · NaN is NaN.
    terms = np.where(np.asarray(forbidden)[..., None], 0, A[..., None] * V[..., None, :, :])
    return S, A, terms.sum(axis=-2)
