"""What was computed of a case, and how to read any part of any of its matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention
from sdpa_cli.attention.difference import Difference
from sdpa_cli.cases import Case

Indices = slice | NDArray[np.intp]
Matrix = Literal["mask", "scores", "weights", "heads", "concatenated", "output"]
MATRICES: tuple[Matrix, ...] = ("mask", "scores", "weights", "heads", "concatenated", "output")
"""In the order of the computation; `heads` and `concatenated` only a layer has."""

# Scores and weights are read in blocks of rows of about this many cells (8 MiB of float64), never whole.
BLOCK_CELLS = 2**20


@dataclass(frozen=True)
class Verdict:
    """How one matrix compares with what the case expects of it."""

    name: Matrix
    difference: Difference | None
    """The worst disagreement; None where all cells agree."""
    error: float
    """The largest error of any cell, agreeing or not."""
    hint: str | None = None


@dataclass(frozen=True)
class Cache:
    """The keys and values that were cached."""

    before: int
    """Tokens that were in the cache from the start."""
    kept: tuple[int, ...]
    """Tokens it held at each step."""
    nbytes: int
    """Bytes of it, after the last."""


@dataclass(frozen=True, eq=False)
class Computed:
    """A case and all that was computed of it. Scores and weights stay with the attention, window by window."""

    case: Case
    attention: Attention
    verdicts: tuple[Verdict, ...] = ()
    """One for each expected matrix, in the order of the computation."""
    forbidden: int = 0
    """How many cells of the scores the mask forbids, over all leading axes."""
    concatenated: NDArray[Any] | None = None
    """Of a layer: the heads' outputs side by side, ``(…, Tq, H · d_v)``."""
    projected: NDArray[Any] | None = None
    """Of a layer: its output, ``(…, Tq, d_out)``."""
    cache: Cache | None = None

    @property
    def holds(self) -> bool:
        """Whether everything the case expects holds."""
        return all(verdict.difference is None for verdict in self.verdicts)

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Those worth showing: a layer has one output per head, and steps between them and its own."""
        if self.case.layer is None:
            return ("mask", "scores", "weights", "output")
        weights = self.case.layer.projections
        unchanged = weights.W_O is None and weights.b_O is None
        if weights.heads is None:
            return ("mask", "scores", "weights", *(() if unchanged else ("heads",)), "output")
        return ("mask", "scores", "weights", "heads", *(() if unchanged else ("concatenated",)), "output")


def axes_of(computed: Computed, name: Matrix) -> tuple[str, ...]:
    """What the leading axes of a matrix are: ``batch``, ``head``, both or none."""
    count = len(shape_of(computed, name)) - 2
    layer = computed.case.layer
    if count != 1:
        return ("batch", "head")[:count]
    return ("head",) if layer is not None and layer.x.ndim == 2 else ("batch",)


def shape_of(computed: Computed, name: Matrix) -> tuple[int, ...]:
    """The shape of a matrix: ``(…, Tq, Tk)`` of scores and weights, ``(…, Tq, d)`` of outputs."""
    merged = _merged(computed, name)
    if merged is not None:
        return merged.shape
    return computed.attention.shapes["O" if name in ("heads", "output") else "S"]


def deciding_axes(computed: Computed, name: Matrix) -> frozenset[int]:
    """The leading axes that tell a matrix from its neighbours: all; of the mask, those along which it varies."""
    if name != "mask":
        return frozenset(range(len(shape_of(computed, name)) - 2))
    mask = computed.case.mask
    # Each with its number of axes that are not leading ones.
    parts = ((mask.key_lengths, 0), (mask.segments, 1), (mask.query_segments, 1), (mask.forbidden, 2))
    arrays = [(np.asarray(part), inner) for part, inner in parts if part is not None]
    return frozenset(
        axis
        for array, inner in arrays
        for axis in range(array.ndim - inner)
        if array.shape[axis] > 1 and (array != array.take([0], axis=axis)).any()
    )


def read(computed: Computed, name: Matrix, rows: Indices = slice(None), cols: Indices = slice(None)) -> NDArray[Any]:
    """A window of one matrix, ``(…, rows, columns)``, computed when it is asked for.

    Parameters
    ----------
    computed, name
        The matrix. The mask is True where a key is forbidden.
    rows, cols
        Which rows and columns, each a slice or a vector of 0-based indices.
    """
    merged = _merged(computed, name)
    return _read(computed.attention, name, rows, cols) if merged is None else merged[..., rows, :][..., cols]


def window(computed: Computed, name: Matrix, leading: tuple[int, ...]) -> Callable[[Indices, Indices], NDArray[Any]]:
    """What reads windows of one matrix at one index of its leading axes; nothing of the others is computed."""
    merged = _merged(computed, name)
    if merged is not None:
        return lambda rows, cols: merged[leading][rows][:, cols]
    one = computed.attention.at(*leading)
    return lambda rows, cols: _read(one, name, rows, cols)


def _read(attention: Attention, name: Matrix, rows: Indices, cols: Indices) -> NDArray[Any]:
    if name in ("heads", "output"):
        return attention.output[..., rows, :][..., cols]
    windows = {"mask": attention.forbidden, "scores": attention.scores, "weights": attention.weights}
    return windows[name](rows, cols)


def _merged(computed: Computed, name: Matrix) -> NDArray[Any] | None:
    """A matrix that is no part of the attention itself."""
    return {"concatenated": computed.concatenated, "output": computed.projected}.get(name)


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut a matrix ``(…, rows, columns)`` into blocks of rows small enough to be held in memory.

    Examples
    --------
    >>> list(row_blocks((3, 1024, 1024)))[:2]
    [slice(0, 341, None), slice(341, 682, None)]
    """
    rows = shape[-2]
    step = max(1, BLOCK_CELLS * rows // max(1, math.prod(shape)))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))
