"""Every catalogued fault as a student would write it: the usual function with the line that is wrong in it."""

LINES = {
    "given": "M = np.zeros((Q.shape[-2], K.shape[-2]), bool) if mask is None else mask",
    "check": "if M.all(axis=-1).any(): raise ValueError('a query has every key forbidden')",
    "seen": "V0 = np.where(M.all(axis=-2)[..., None], 0, V)",
    "scores": "S = Q @ np.swapaxes(K, -1, -2)",
    "scale": "S = S / np.sqrt(Q.shape[-1])",
    "mask": "L = np.where(M, -np.inf, S)",
    "shift": "E = L - L.max(axis=-1, keepdims=True)",
    "exp": "P = np.exp(E)",
    "normalise": "A = P / P.sum(axis=-1, keepdims=True)",
    "finish": "",
    "output": "O = A @ V0",
}

F3 = {
    "no-scale": {"scale": ""},
    "scale-by-d-k": {"scale": "S = S / Q.shape[-1]"},
    "scale-by-sqrt-d-v": {"scale": "S = S / np.sqrt(V.shape[-1])"},
    "scale-by-sqrt-t-k": {"scale": "S = S / np.sqrt(K.shape[0])"},
    "scale-multiplied": {"scale": "S = S * np.sqrt(Q.shape[-1])"},
    "key-not-transposed": {"scores": "S = Q @ K"},
    "query-and-key-swapped": {"scores": "S = K @ Q.T"},
    "half-precision-scores": {"scores": "S = (Q.astype(np.float16) @ K.T.astype(np.float16)).astype(float)"},
    "mask-after-softmax": {"mask": "L = S", "finish": "A = np.where(M, 0, A)"},
    "mask-ignored": {"mask": "L = S"},
    "mask-inverted": {"mask": "L = np.where(M, S, -np.inf)"},
    "mask-transposed": {"mask": "L = np.where(M.T, -np.inf, S)"},
    "mask-multiplied": {"mask": "L = S * ~M"},
    "mask-added": {"mask": "L = S + M"},
    "mask-subtracted": {"mask": "L = S - M.astype(float)"},
    "finite-sentinel": {"mask": "L = np.where(M, -1e9, S)", "check": ""},
    "empty-row-unnoticed": {"check": ""},
    "no-max-shift": {"shift": "E = L"},
    "max-of-all-rows": {"shift": "E = L - L.max()"},
    "max-over-forbidden": {"shift": "E = L - S.max(axis=-1, keepdims=True)"},
    "max-without-keepdims": {"shift": "E = L - L.max(axis=-1)"},
    "sum-without-keepdims": {"normalise": "A = P / P.sum(axis=-1)"},
    "softmax-over-queries": {"shift": "E = L - L.max()", "normalise": "A = P / P.sum(axis=0, keepdims=True)"},
    "softmax-over-everything": {"shift": "E = L - L.max()", "normalise": "A = P / P.sum()"},
    "softmax-missing": {"shift": "", "exp": "", "normalise": "A = np.where(M, 0, S)"},
    "exponential-missing": {"shift": "", "exp": "P = np.where(M, 0, S)"},
    "normaliser-missing": {"shift": "E = L", "normalise": "A = P"},
    "softmax-twice": {"finish": "P = np.exp(A - A.max(axis=-1, keepdims=True)); A = P / P.sum(axis=-1, keepdims=True)"},
    "base-two-exponential": {"exp": "P = np.exp2(E)"},
    "stream-without-rescale": {
        "shift": "m = np.maximum.accumulate(L, axis=-1); E = L - np.where(m == -np.inf, 0, m)",
    },
    "stream-sum-without-rescale": {
        "normalise": "m = np.maximum.accumulate(L, axis=-1); "
        "A = P / np.exp(L - np.where(m == -np.inf, 0, m)).sum(axis=-1, keepdims=True)",
    },
    "weights-transposed": {"output": "O = A.T @ V0"},
    "keys-as-values": {"output": "O = A @ np.where(M.all(axis=-2)[..., None], 0, K)"},
    "forbidden-values-multiplied": {"seen": "V0 = V"},
}


def source(lines):
    """The function with some of its lines exchanged."""
    body = "".join(f"    {line}\n" for line in ({**LINES, **lines}).values() if line)
    return f"import numpy as np\n\n\ndef attention(Q, K, V, mask=None):\n{body}    return O, A\n"


X1_LINES = {
    "heads": "K, V = (np.repeat(x, Q.shape[1] // K.shape[1], axis=1) for x in (K, V))",
    "scores": "S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])",
    "cap": "S = S if softcap is None else softcap * np.tanh(S / softcap)",
    "bias": "S = S if bias is None else S + bias",
    "position": "at = np.arange(Q.shape[2])[:, None] + query_offset",
    "distance": "D = np.arange(K.shape[2]) - at",
    "causal": "M = (D > 0) & causal",
    "window": "M = M if window is None else M | (D < -window[0]) | (D > window[1])",
    "mask": "S = np.where(M, -np.inf, S)",
    "softmax": "P = np.exp(S - S.max(axis=-1, keepdims=True)); A = P / P.sum(axis=-1, keepdims=True)",
    "output": "O = A @ V",
}

X1 = {
    "heads-tiled": {"heads": "K, V = (np.tile(x, (1, Q.shape[1] // K.shape[1], 1, 1)) for x in (K, V))"},
    "bias-scaled-too": {"bias": "S = S if bias is None else S + bias / np.sqrt(Q.shape[-1])"},
    "softcap-after-mask": {
        "cap": "",
        "bias": "",
        "mask": "S = np.where(M, -np.inf, S); S = S if softcap is None else softcap * np.tanh(S / softcap); "
        "S = S if bias is None else S + bias",
    },
    "causal-without-self": {"causal": "M = (D >= 0) & causal"},
    "causal-from-other-corner": {
        "position": "at = np.arange(Q.shape[2])[:, None] + (0 if query_offset else K.shape[2] - Q.shape[2])",
    },
    "window-by-total-width": {
        "window": "M = M if window is None else M | (D <= -window[0]) | (D > window[1])",
    },
}


def source_x1(lines):
    """The function of X1 with some of its lines exchanged."""
    body = "".join(f"    {line}\n" for line in ({**X1_LINES, **lines}).values() if line)
    head = "def attention(Q, K, V, causal=False, query_offset=0, window=None, bias=None, softcap=None):"
    return f"import numpy as np\n\n\n{head}\n{body}    return O, A\n"
