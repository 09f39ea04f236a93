"""From embeddings to heads and back: the learned projections around attention, which itself has no parameters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.head_checks import HeadShapes, projection_problems, ragged_problems
from sdpa_cli.errors import InputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Projections:
    """The learned matrices of one attention layer, packed for all heads or one per head.

    Parameters
    ----------
    W_Q, W_K, W_V
        Packed ``(d_model, H · d_k)``, ``(d_model, H_kv · d_k)``, ``(d_model, H_kv · d_v)``, where head h owns the h-th
        run of columns; or one matrix per head, ``(H, d_model, d_k)`` and so on.
    W_O
        ``(H · d_v, d_out)`` or ``(H, d_v, d_out)``. Without it the output is the concatenation of the heads.
    b_Q, b_K, b_V, b_O
        Added after the product: as many numbers as it has columns, packed or one row per head.
    num_heads
        H. Without it, and with matrices of rank 2, there is one head and no axis for it.
    num_kv_heads
        H_kv, which must divide H: H is multi-head attention, 1 multi-query attention, anything between is grouped-query
        attention. H by default.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017, section 3.2.2.
    .. [2] N. Shazeer, "Fast Transformer Decoding: One Write-Head is All You Need", arXiv:1911.02150, 2019.
    .. [3] J. Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
       arXiv:2305.13245, 2023.
    """

    W_Q: ArrayLike
    W_K: ArrayLike
    W_V: ArrayLike
    W_O: ArrayLike | None = None
    b_Q: ArrayLike | None = None
    b_K: ArrayLike | None = None
    b_V: ArrayLike | None = None
    b_O: ArrayLike | None = None
    num_heads: int | None = None
    num_kv_heads: int | None = None

    @property
    def given(self) -> dict[str, ArrayLike]:
        """The matrices and biases that are given, by name."""
        every = ((field.name, getattr(self, field.name)) for field in fields(self) if field.name[1] == "_")
        return {name: value for name, value in every if value is not None}

    @property
    def arrays(self) -> dict[str, Array]:
        """The same, as arrays."""
        return {name: np.asarray(value) for name, value in self.given.items()}

    @property
    def heads(self) -> int | None:
        """H as stated, or as the per-head matrices have it; None for a single head without an axis."""
        return _stated(self.num_heads, np.asarray(self.W_Q))

    @property
    def kv_heads(self) -> int | None:
        """H_kv as stated, or as the per-head matrices have it."""
        return _stated(self.num_kv_heads, np.asarray(self.W_K)) or self.heads


def _stated(number: int | None, weight: Array) -> int | None:
    return weight.shape[0] if number is None and weight.ndim == 3 else number


def project(x: ArrayLike, projections: Projections, memory: ArrayLike | None = None) -> tuple[Array, Array, Array]:
    """Queries, keys and values of every head: ``Q = X W_Q + b_Q``, and so on.

    Parameters
    ----------
    x
        Embeddings ``(T, d_model)`` or ``(B, T, d_model)``.
    projections
        The learned matrices.
    memory
        What keys and values are made of, shaped like `x` but for its own T and d_model: cross-attention. `x` itself by
        default: self-attention.

    Returns
    -------
    q, k, v
        ``(…, H, Tq, d_k)``, ``(…, H_kv, Tk, d_k)``, ``(…, H_kv, Tk, d_v)``; without the axis H for a single head.

    Raises
    ------
    InputError
        With every problem found.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> q, k, v = project(x, Projections(np.eye(2), np.eye(2), 10 * np.eye(2), num_heads=2))
    >>> v.tolist()
    [[[10.0], [30.0]], [[20.0], [40.0]]]
    """
    raw = {"X": x} if memory is None else {"X": x, "memory": memory}
    ragged = [p for name, value in (raw | projections.given).items() for p in ragged_problems(name, value)]
    if ragged:
        raise InputError(*ragged)
    embeddings = {name: np.asarray(value) for name, value in raw.items()}
    arrays = projections.arrays
    stated = HeadShapes(projections.heads, projections.kv_heads, projections.num_heads, projections.num_kv_heads)
    problems = projection_problems(embeddings, arrays, stated)
    if problems:
        raise InputError(*problems)
    source = embeddings.get("memory", embeddings["X"])
    q = _projected(embeddings["X"], arrays["W_Q"], arrays.get("b_Q"), projections.heads)
    k = _projected(source, arrays["W_K"], arrays.get("b_K"), projections.kv_heads)
    v = _projected(source, arrays["W_V"], arrays.get("b_V"), projections.kv_heads)
    return q, k, v


@np.errstate(all="ignore")  # what is not finite is refused at the scores; a warning here would name no cell
def _projected(x: Array, weight: Array, bias: Array | None, heads: int | None) -> Array:
    product: Array = x @ packed(weight)
    if bias is not None:
        product = product + bias.reshape(-1)
    return product if heads is None else split_heads(product, heads)


def packed(weight: ArrayLike) -> Array:
    """One matrix per head ``(H, d_model, d)`` side by side as ``(d_model, H · d)``; a packed one as it is.

    Examples
    --------
    >>> packed([[[1], [2]], [[3], [4]]]).tolist()
    [[1, 3], [2, 4]]
    """
    given = np.asarray(weight)
    return given if given.ndim == 2 else given.transpose(1, 0, 2).reshape(given.shape[1], -1)


def split_heads(x: ArrayLike, heads: int) -> Array:
    """``(…, T, H · d)`` as ``(…, H, T, d)``: head h has the h-th run of columns. A view.

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4]], 2).tolist()
    [[[1, 2]], [[3, 4]]]
    """
    given = np.asarray(x)
    return given.reshape(*given.shape[:-1], heads, -1).swapaxes(-2, -3)


def merge_heads(x: ArrayLike) -> Array:
    """``(…, H, T, d)`` as ``(…, T, H · d)``: the outputs of all heads side by side.

    Examples
    --------
    >>> merge_heads([[[1, 2]], [[3, 4]]]).tolist()
    [[1, 2, 3, 4]]
    """
    given = np.asarray(x).swapaxes(-2, -3)
    return given.reshape(*given.shape[:-2], -1)


@np.errstate(all="ignore")
def combine(heads: ArrayLike, projections: Projections) -> tuple[Array, Array]:
    """The concatenation of the heads' outputs, and what W_O makes of it.

    The product is the sum over the heads of ``O_h W_O[h]``, with ``W_O[h]`` the rows that meet head h.

    Parameters
    ----------
    heads
        ``(…, H, Tq, d_v)``, or ``(…, Tq, d_v)`` of a single head without an axis.
    projections
        The matrices that were projected with.

    Returns
    -------
    concatenated, output
        ``(…, Tq, H · d_v)`` and ``(…, Tq, d_out)``.
    """
    concatenated = np.asarray(heads) if projections.heads is None else merge_heads(heads)
    arrays = projections.arrays
    output = concatenated
    if "W_O" in arrays:
        output = concatenated @ arrays["W_O"].reshape(concatenated.shape[-1], -1)
    if "b_O" in arrays:
        output = output + arrays["b_O"]
    return concatenated, output
