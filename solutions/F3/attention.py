"""F3: scaled dot-product attention in NumPy."""

import numpy as np


def attention(Q, K, V, mask=None):
    """Scaled dot-product attention, O = softmax(QKᵀ / √d_k) V.

    Q is (…, Tq, d_k), K is (…, Tk, d_k), V is (…, Tk, d_v). The mask is boolean, (…, Tq, Tk); True means: forbidden.
    Returns (O, A): the output (…, Tq, d_v) and the weights (…, Tq, Tk).
    Raises ValueError where shapes disagree, and where a query has every key forbidden.
    """
    d_k = Q.shape[-1]
    if K.shape[-1] != d_k:
        raise ValueError(f"Q has d_k = {d_k}, K has d_k = {K.shape[-1]}")
    if V.shape[-2] != K.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys and {V.shape[-2]} values")

    # One score for every pair of a query and a key. Only the last two axes are swapped: a batch axis rides along.
    # The scale is by d_k, the length of the vectors that were multiplied; d_v has nothing to do with it.
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(d_k)

    if mask is not None:
        # Without a live key there is nothing to normalise. Left alone, this row would become NaN below.
        if mask.all(axis=-1).any():
            raise ValueError("a query has every key forbidden")
        # Before the softmax, so that exp gives exactly 0 and the other weights of the row share out the whole 1.
        # Selected, not added: a NaN in a forbidden score would survive an addition.
        S = np.where(mask, -np.inf, S)
        # A forbidden value must not count even if it is NaN, and 0 · NaN is NaN: rows that nobody sees become 0.
        unseen = mask.all(axis=-2)
        V = np.where(unseen[..., None], 0, V)

    # Softmax sees no constant per row, so the row maximum may go: then no exponent is positive, and nothing overflows.
    # By now the maximum is that of the live scores, because the forbidden ones are −inf.
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    A = P / P.sum(axis=-1, keepdims=True)
    return A @ V, A
