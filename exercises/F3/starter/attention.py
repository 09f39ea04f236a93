"""F3: scaled dot-product attention in NumPy. The statement is in README.md; `sdpa check F3` grades this file."""

import numpy as np


def attention(Q, K, V, mask=None):
    """Scaled dot-product attention, O = softmax(QKᵀ / √d_k) V.

    Q is (Tq, d_k), K is (Tk, d_k), V is (Tk, d_v). The mask is boolean, (Tq, Tk); True means: forbidden.
    Returns (O, A): the output (Tq, d_v) and the weights (Tq, Tk).
    Raises ValueError where shapes disagree, and where a query has every key forbidden.
    """
    A = np.zeros((Q.shape[0], K.shape[0]))
    O = A @ V
    return O, A
