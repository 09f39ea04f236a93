"""X1: attention with grouped heads. The statement is in README.md; `sdpa check X1` grades this file."""

import numpy as np


def attention(Q, K, V, causal=False, query_offset=0, window=None, bias=None, softcap=None):
    """Attention of H query heads over H_kv heads of keys and values, H a multiple of H_kv.

    Q is (B, H, Tq, d_k), K is (B, H_kv, Tk, d_k), V is (B, H_kv, Tk, d_v).
    Returns (O, A): (B, H, Tq, d_v) and (B, H, Tq, Tk).
    """
    A = np.zeros((*Q.shape[:3], K.shape[2]))
    O = np.zeros((*Q.shape[:3], V.shape[3]))
    return O, A
