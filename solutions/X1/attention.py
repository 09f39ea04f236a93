"""X1: attention with grouped heads."""

import numpy as np


def attention(Q, K, V, causal=False, query_offset=0, window=None, bias=None, softcap=None):
    """Attention of H query heads over H_kv heads of keys and values, H a multiple of H_kv.

    Q is (B, H, Tq, d_k), K is (B, H_kv, Tk, d_k), V is (B, H_kv, Tk, d_v).
    Returns (O, A): (B, H, Tq, d_v) and (B, H, Tq, Tk).
    """
    # Neighbouring query heads share a head of keys: 0 0 1 1, not 0 1 0 1. repeat does the first, tile the second.
    group = Q.shape[1] // K.shape[1]
    K, V = np.repeat(K, group, axis=1), np.repeat(V, group, axis=1)

    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    # Cap, then bias, then mask. The cap of −inf would be a finite number, and every forbidden key would come alive.
    if softcap is not None:
        S = softcap * np.tanh(S / softcap)
    if bias is not None:
        S = S + bias

    # How far key j lies after the query: a query's own position counts from the beginning of the keys.
    distance = np.arange(K.shape[2]) - (np.arange(Q.shape[2]) + query_offset)[:, None]
    forbidden = np.zeros(distance.shape, bool)
    if causal:
        forbidden |= distance > 0
    if window is not None:
        left, right = window
        if left is not None:
            forbidden |= distance < -left
        if right is not None:
            forbidden |= distance > right
    S = np.where(forbidden, -np.inf, S)

    P = np.exp(S - S.max(axis=-1, keepdims=True))
    A = P / P.sum(axis=-1, keepdims=True)
    return A @ V, A
