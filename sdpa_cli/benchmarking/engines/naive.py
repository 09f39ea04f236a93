"""The course's formula in NumPy: one score matrix per head, whole. What the streaming engine is measured against."""

from __future__ import annotations

import math

import numpy as np

from sdpa_cli.benchmarking.engines import Call
from sdpa_cli.benchmarking.inputs import Array, Inputs, forbidden
from sdpa_cli.benchmarking.workloads import Workload


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Make the mask beforehand. BLAS was given its threads when this process was started."""
    mask = forbidden(workload, inputs)
    batch, heads, queries, depth = inputs.q.shape
    group = workload.heads // workload.kv_heads
    q = inputs.q.reshape(batch, workload.kv_heads, group, queries, depth)
    if mask is not None:
        mask = mask if mask.ndim == 2 else mask[:, :, None]

    def call() -> Array:
        scores = q @ inputs.k[:, :, None].swapaxes(-1, -2)
        scores *= q.dtype.type(1 / math.sqrt(depth))
        if mask is not None:
            np.copyto(scores, -np.inf, where=mask)
        scores -= scores.max(-1, keepdims=True)
        weights = np.exp(scores, out=scores)  # in place throughout: naive, but not wasteful
        weights /= weights.sum(-1, keepdims=True)
        output: Array = weights @ inputs.v[:, :, None]
        return output.reshape(batch, heads, queries, -1)

    return call


def versions() -> dict[str, str]:
    """NumPy is all it stands on."""
    return {"numpy": np.__version__}
