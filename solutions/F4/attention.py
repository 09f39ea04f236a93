"""F4: the attention, mended."""

import numpy as np


def attention(Q, K, V, mask=None):
    """Scaled dot-product attention; True in the mask means: forbidden. Returns (O, A)."""
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    if mask is not None:
        # The one change: the mask comes before the softmax. A forbidden score of −inf becomes exactly 0, and the
        # denominator is the sum of the live exponentials only, so that each row shares out the whole 1.
        S = np.where(mask, -np.inf, S)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    A = P / P.sum(axis=-1, keepdims=True)
    return A @ V, A
