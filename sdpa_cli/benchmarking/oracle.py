"""What a sample of output rows should be, in extended precision, owing nothing to any engine that is timed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdpa_cli.benchmarking.inputs import Array, Inputs, forbidden_row
from sdpa_cli.benchmarking.workloads import Workload

PRECISION = f"{np.finfo(np.longdouble).nmant + 1}-bit significand"
"""What `numpy.longdouble` is here: 64 bits on x86, 113 on some machines, only 53 (no better than float64) on others."""

SAMPLES = 12
_WORST_ERROR = {"float32": 1e-4, "float64": 1e-10}

Cell = tuple[int, int, int]
"""Batch entry, query head and query row, from 0."""


def sample(workload: Workload) -> tuple[Cell, ...]:
    """The rows that are looked at: first, last, and some between, over all batch entries and heads."""
    rng = np.random.default_rng(workload.queries)
    sizes = (workload.batch, workload.heads, workload.queries)
    drawn = zip(*(rng.integers(size, size=SAMPLES - 2).tolist() for size in sizes), strict=True)
    last: Cell = (sizes[0] - 1, sizes[1] - 1, sizes[2] - 1)
    return ((0, 0, 0), *((int(b), int(h), int(i)) for b, h, i in drawn), last)


def expected_rows(workload: Workload, inputs: Inputs, cells: Sequence[Cell]) -> Array:
    """The output at the given rows, ``(len(cells), d_v)``, by the formula of the course, one row at a time.

    Scores, exponentials and sums are `numpy.longdouble`; forbidden keys are left out rather than given −inf.
    """
    return np.stack([_row(workload, inputs, cell) for cell in cells])


def _row(workload: Workload, inputs: Inputs, cell: Cell) -> Array:
    batch, head, row = cell
    kv_head = head // (workload.heads // workload.kv_heads)
    live = ~forbidden_row(workload, inputs, batch, row)
    query = inputs.q[batch, head, row].astype(np.longdouble)
    keys = inputs.k[batch, kv_head][live].astype(np.longdouble)
    values = inputs.v[batch, kv_head][live].astype(np.longdouble)
    scores = (keys * query).sum(-1) / np.sqrt(np.longdouble(workload.depth))
    weights = np.exp(scores - scores.max())
    result: Array = (weights[:, None] * values).sum(0) / weights.sum()
    return result


def max_error(actual: Array, expected: Array) -> float:
    """The largest absolute error; NaN where a value is not a number."""
    return float(np.abs(actual.astype(np.longdouble) - expected).max())


def agrees(error: float, workload: Workload) -> bool:
    """Whether an error is rounding. A NaN never is."""
    return error <= _WORST_ERROR[workload.dtype]
