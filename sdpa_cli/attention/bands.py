"""The cells of a tile that causal and window allow."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Reach = tuple[int | None, int | None]
"""How many keys before and after its own position a query may look at; None for all."""

_SMALL, _MIDDLING = 1 << 16, 1 << 20
"""Bytes up to which many bands are kept whole, and up to which some are: as many as differ along a window's edges."""


def band(reach: Reach, first: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """All bits of an integer set where a cell is within reach, else 0. Not to be written to.

    What causal and window say depends on the distance of query and key alone, so the tiles along an edge are all alike,
    and are kept. A large one is a vector read at a stride, which takes twice as long as to read it in order.

    Parameters
    ----------
    reach
        Of every query.
    first
        Position of the first key less that of the first query.
    shape
        ``(rows, columns)``.
    dtype
        An integer's.

    Examples
    --------
    >>> band((None, 0), 0, (2, 3), np.dtype("i4"))
    array([[-1,  0,  0],
           [-1, -1,  0]], dtype=int32)
    """
    size = shape[0] * shape[1] * dtype.itemsize
    of_size = _small if size <= _SMALL else _middling if size <= _MIDDLING else _strided
    return of_size(reach, first, shape, dtype)


def _vector_at_a_stride(reach: Reach, first: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    (rows, columns), (left, right) = shape, reach
    distance = np.arange(first + 1 - rows, first + columns)
    near = np.ones(len(distance), np.bool_)
    if left is not None:
        near &= distance >= -left
    if right is not None:
        near &= distance <= right
    vector: Array = -near.astype(dtype)
    vector.flags.writeable = False
    step = dtype.itemsize
    return np.ndarray(shape, dtype, vector, (rows - 1) * step, (-step, step))


def _in_order(reach: Reach, first: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    cells = np.ascontiguousarray(_vector_at_a_stride(reach, first, shape, dtype))
    cells.flags.writeable = False
    return cells


_small, _middling, _strided = (
    lru_cache(maxsize=64)(_in_order),
    lru_cache(maxsize=6)(_in_order),
    lru_cache(maxsize=64)(_vector_at_a_stride),
)
