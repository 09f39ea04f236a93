"""The cells of a tile that causal and window allow, made from one vector."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_FEW = 1 << 14
"""Cells up to which a band is kept whole: what is read in order is read in half of the time."""
Reach = tuple[int | None, int | None]
"""How many keys before and after its own position a query may look at; None for all."""


@lru_cache(maxsize=64)
def band(reach: Reach, first: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """All bits of an integer set where a cell is within reach, else 0.

    What causal and window say depends on the distance of query and key alone, so a tile of it is a vector, read at a
    stride: ten times as fast to make as to compare each cell. It is kept, because the tiles along an edge are all
    alike, and not to be written to.

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
    rows, columns = shape
    left, right = reach
    distance = np.arange(first + 1 - rows, first + columns)
    near = np.ones(len(distance), np.bool_)
    if left is not None:
        near &= distance >= -left
    if right is not None:
        near &= distance <= right
    vector: Array = -near.astype(dtype)
    vector.flags.writeable = False
    step = dtype.itemsize
    cells: Array = np.ndarray(shape, dtype, vector, (rows - 1) * step, (-step, step))
    return np.ascontiguousarray(cells) if cells.size <= _FEW else cells
