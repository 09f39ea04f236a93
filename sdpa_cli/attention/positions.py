"""Where a token stands, told to an attention that cannot see order: sinusoids, rotations (RoPE), slopes (ALiBi)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]
Pairing = Literal["interleaved", "half"]
PAIRINGS: tuple[Pairing, ...] = ("interleaved", "half")


@dataclass(frozen=True)
class Rope:
    """A rotary position embedding: which components of a query or key turn, in which pairs, and how fast.

    Parameters
    ----------
    pairing
        ``"interleaved"`` turns components (0, 1), (2, 3), …, as the paper has it; ``"half"`` turns components r and
        r + dim/2, as GPT-NeoX and Llama checkpoints in Hugging Face's layout do.
    dim
        How many of the first components turn, an even number; the others pass unchanged. All by default.
    base
        Pair r turns by ``position · base^(−2r/dim)`` radians.
    """

    pairing: Pairing = "interleaved"
    dim: int | None = None
    base: float = 10000.0


def sinusoidal(positions: ArrayLike, d: int, base: float = 10000.0) -> NDArray[np.float64]:
    """The fixed position encoding of the Transformer, to be added to the embeddings.

    Component 2r of position i is ``sin(i / base^(2r/d))``, component 2r + 1 the cosine of the same angle. An odd d ends
    on a sine.

    Parameters
    ----------
    positions
        Any shape ``(…, T)``.
    d
        Components, at least 1.
    base
        Ratio of the longest wavelength to the shortest.

    Returns
    -------
    ndarray
        ``(…, T, d)``.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017, section 3.5.

    Examples
    --------
    >>> sinusoidal([0, 1], 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    component = np.arange(d)
    angles = np.asarray(positions, np.float64)[..., None] / base ** (component // 2 * 2 / d)
    return np.where(component % 2 == 0, np.sin(angles), np.cos(angles))


def rotate(x: ArrayLike, positions: ArrayLike | None = None, rope: Rope = Rope()) -> Array:
    """Turn queries or keys by their positions (RoPE), so that their dot products see only how far apart they are.

    Parameters
    ----------
    x
        ``(…, T, d_k)``.
    positions
        ``(T,)``, or one row per batch entry ``(B, T)``; 0, 1, … by default.
    rope
        Which components turn, and how.

    Returns
    -------
    ndarray
        Of x's shape; float32 if x is float32 or float16, else float64.

    Raises
    ------
    InputError
        If the rotary dimension is odd or larger than d_k, or the positions do not fit.

    References
    ----------
    .. [1] J. Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", arXiv:2104.09864, 2021,
       section 3.2.

    Examples
    --------
    >>> rotate([[1, 2, 3, 4]], [1]).round(4)
    array([[-1.1426,  1.9221,  2.9599,  4.0298]])
    >>> rotate([[1, 2, 3, 4]], [1], Rope(pairing="half")).round(4)
    array([[-1.9841,  1.9599,  2.4624,  4.0198]])
    """
    given = np.asarray(x)
    where = np.arange(given.shape[-2]) if positions is None else np.asarray(positions)
    problems = [*rope_problems(rope, given.shape[-1]), *position_problems(where, given.shape)]
    if problems:
        raise InputError(*problems)
    dtype = np.dtype(np.float32 if given.dtype in (np.float16, np.float32) else np.float64)
    dim = given.shape[-1] if rope.dim is None else rope.dim
    if where.ndim == 2:
        where = where.reshape(where.shape[0], *(1,) * (given.ndim - 3), where.shape[1])
    # The angles are reduced in float64: a float32 position of 100 000 radians has lost three digits already.
    angles = where[..., None] * rope.base ** (-np.arange(0, dim, 2) / dim)
    cos, sin = np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)
    first, second = _pairs(rope.pairing, dim)
    turned = given.astype(dtype)
    a, b = given[..., first], given[..., second]
    turned[..., first] = a * cos - b * sin
    turned[..., second] = a * sin + b * cos
    return turned


def _pairs(pairing: Pairing, dim: int) -> tuple[slice, slice]:
    """The first and the second components of all pairs."""
    if pairing == "interleaved":
        return slice(0, dim, 2), slice(1, dim, 2)
    return slice(0, dim // 2), slice(dim // 2, dim)


def alibi_slopes(heads: int) -> NDArray[np.float64]:
    """The slopes that ALiBi gives to each head: the farther a key, the more is taken off its score.

    For a power of 2 they are ``2^(−8/H), 2^(−16/H), …, 2^(−8)``; any other number of heads takes those of the power
    below, then every other one of the power above.

    Parameters
    ----------
    heads
        H, at least 1.

    Returns
    -------
    ndarray
        ``(H,)``.

    References
    ----------
    .. [1] O. Press, N. A. Smith and M. Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input
       Length Extrapolation", arXiv:2108.12409, 2021, section 3.

    Examples
    --------
    >>> alibi_slopes(6)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625, 0.5       ,
           0.125     ])
    """
    power = 1 << (heads.bit_length() - 1)
    return np.concatenate([_geometric(power), _geometric(2 * power)[::2][: heads - power]])


def _geometric(heads: int) -> NDArray[np.float64]:
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def rope_problems(rope: Rope, d_k: int) -> list[Problem]:
    """What is wrong with a rotary embedding of queries and keys of length d_k."""
    found = []
    if rope.pairing not in PAIRINGS:
        message = f"rope pairing is {rope.pairing!r}"
        found.append(Problem("choice", message, "'interleaved' or 'half'", None, ("rope", "pairing")))
    base = rope.base
    if not (isinstance(base, Real) and not isinstance(base, bool) and math.isfinite(base) and base > 0):
        message = f"rope base is {base!r}"
        found.append(Problem("rope-base", message, "a finite number above 0", "10000 is usual", ("rope", "base")))
    dim, path = (d_k, ("rope",)) if rope.dim is None else (rope.dim, ("rope", "dim"))
    if not isinstance(dim, Integral) or isinstance(dim, bool) or not 0 < dim <= d_k:
        message = f"rotary dimension {dim!r} does not fit d_k = {d_k}"
        expected = f"an even number from 2 to {d_k}" if d_k > 1 else "a d_k of at least 2"
        found.append(Problem("rotary-dim", message, expected, None, path))
    elif dim % 2:
        fewer = "; turn only the first ones with a smaller, even dim" if dim > 1 else ""
        hint = f"components turn in pairs{fewer}"
        found.append(Problem("rotary-dim", f"rotary dimension {dim} is odd", "an even number", hint, path))
    return found


def position_problems(positions: Array, shape: tuple[int, ...]) -> list[Problem]:
    """Whether there is one whole number for each token of an array ``(…, T, d)``, or for each of each batch entry."""
    path = ("position_ids",)
    if positions.dtype.kind not in "iu":
        return [Problem("type", "position_ids are not all whole numbers", "integers", None, path)]
    tokens = shape[-2]
    fits = [(tokens,), (shape[0], tokens)] if len(shape) > 2 else [(tokens,)]
    if positions.shape in fits:
        return []
    message = f"position_ids has shape {positions.shape}"
    expected = " or ".join(str(fit) for fit in fits)
    return [Problem("shape-mismatch", message, expected, "one position for each token", path)]
