"""Attention computed in ways that owe nothing to the engine, and the inputs to compare on."""

import mpmath
import numpy as np

DIGITS = 60


def mpmath_attention(q, k, v, *, forbidden=None, bias=None, scale=None, softcap=None):
    """Output and log-sum-exp of rank-2 inputs at 60 digits, straight from the formula, rounded once at the end."""
    with mpmath.workdps(DIGITS):
        d_k = len(q[0])
        factor = 1 / mpmath.sqrt(d_k) if scale is None else mpmath.mpf(scale)
        output, lse = [], []
        for i, query in enumerate(q):
            live = [j for j in range(len(k)) if forbidden is None or not forbidden[i][j]]
            scores = {j: factor * mpmath.fdot([float(x) for x in query], [float(x) for x in k[j]]) for j in live}
            if softcap is not None:
                scores = {j: softcap * mpmath.tanh(s / softcap) for j, s in scores.items()}
            if bias is not None:
                scores = {j: s + mpmath.mpf(float(bias[i][j])) for j, s in scores.items()}
            powers = {j: mpmath.exp(s) for j, s in scores.items()}
            total = mpmath.fsum(powers.values())
            columns = range(len(v[0]))
            output.append([float(mpmath.fsum(powers[j] * float(v[j][c]) for j in live) / total) for c in columns])
            lse.append(float(mpmath.log(total)))
    return np.array(output), np.array(lse)


def longdouble_attention(q, k, v, *, forbidden=False):
    """Output in extended precision, for sizes where mpmath takes too long. K and V have Q's leading axes."""
    q, k, v = (np.asarray(x, np.longdouble) for x in (q, k, v))
    s = np.einsum("...id,...jd->...ij", q, k) / np.sqrt(np.longdouble(q.shape[-1]))
    s = np.where(forbidden, -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("...ij,...jd->...id", p / p.sum(-1, keepdims=True), v)


def naive_attention(q, k, v):
    """The float64 code a student would write."""
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def normal(seed, *shapes, dtype=np.float64):
    """Standard normal arrays of these shapes."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def random_mask(seed, shape, share=0.4):
    """A mask that forbids about this share of the cells and leaves at least one key to every row."""
    rng = np.random.default_rng(seed)
    mask = rng.random(shape) < share
    np.put_along_axis(mask, rng.integers(0, shape[-1], (*shape[:-1], 1)), False, axis=-1)
    return mask
