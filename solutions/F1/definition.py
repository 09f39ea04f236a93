"""F1: the definition of the attention weights."""

import numpy as np


def weights(S):
    """The weights A (Tq, Tk) of scores S (Tq, Tk): A_ij = exp(S_ij) / Σ_j' exp(S_ij')."""
    # exp(−inf) is exactly 0, so a forbidden key needs no case of its own.
    P = np.exp(S)
    # One sum per row, over the keys. keepdims keeps it a column, so that row i is divided by sum i.
    return P / P.sum(axis=-1, keepdims=True)
