"""F4: an attention with a fault. The statement is in README.md; `sdpa check F4` grades this file."""

import numpy as np


def attention(Q, K, V, mask=None):
    """Scaled dot-product attention; True in the mask means: forbidden. Returns (O, A)."""
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    A = P / P.sum(axis=-1, keepdims=True)
    if mask is not None:
        A = np.where(mask, 0, A)
    return A @ V, A
