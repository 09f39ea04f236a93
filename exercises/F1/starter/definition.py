"""F1: the definition of the attention weights. The statement is in README.md; `sdpa check F1` grades this file."""

import numpy as np


def weights(S):
    """The weights A (Tq, Tk) of scores S (Tq, Tk). A forbidden key has the score −inf; every row has an allowed one."""
    return np.zeros_like(S)
