"""The numbers of a workload: the same seeded arrays in every process that asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.benchmarking.workloads import Workload

Array = NDArray[Any]
SEED = 2017


@dataclass(frozen=True, eq=False)
class Inputs:
    """What an engine is given."""

    q: Array
    """``(B, H, Tq, d_k)``."""
    k: Array
    """``(B, H_kv, Tk, d_k)``."""
    v: Array
    """``(B, H_kv, Tk, d_v)``."""
    random_mask: Array | None
    """``(Tq, Tk)``, True = forbidden; None where the workload has no random mask."""


def make_inputs(workload: Workload) -> Inputs:
    """Draw a workload's arrays: standard normal, so that scaled scores have the variance of about 1 that is usual."""
    rng = np.random.default_rng(SEED)
    dtype = np.float32 if workload.dtype == "float32" else np.float64
    batch, depth = workload.batch, workload.depth
    q = rng.standard_normal((batch, workload.heads, workload.queries, depth), dtype)
    k = rng.standard_normal((batch, workload.kv_heads, workload.keys, depth), dtype)
    v = rng.standard_normal((batch, workload.kv_heads, workload.keys, depth), dtype)
    if not workload.forbidden_share:
        return Inputs(q, k, v, None)
    mask = rng.random((workload.queries, workload.keys), np.float32) < workload.forbidden_share
    mask[:, 0] = False  # every query keeps a key, whatever the shape and the share
    return Inputs(q, k, v, mask)


def forbidden(workload: Workload, inputs: Inputs) -> Array | None:
    """The whole mask as engines without one of their own need it.

    Returns
    -------
    ndarray or None
        True = forbidden, of shape ``(Tq, Tk)``, or ``(B, 1, 1, Tk)`` for padding; None where all is allowed.
    """
    if workload.lengths is not None:
        lengths = np.asarray(workload.lengths)[:, None, None, None]
        return np.asarray(np.arange(workload.keys) >= lengths)
    if inputs.random_mask is not None:
        return inputs.random_mask
    if not workload.causal and workload.reach is None:
        return None
    rows, keys = np.arange(workload.queries)[:, None], np.arange(workload.keys)
    mask = np.zeros((workload.queries, workload.keys), bool)
    if workload.causal:
        mask |= keys > rows
    if workload.reach is not None:
        mask |= keys < rows - workload.reach
        mask |= keys > rows + workload.reach
    return mask


def forbidden_row(workload: Workload, inputs: Inputs, batch: int, row: int) -> Array:
    """One query's forbidden keys, ``(Tk,)``, without the matrix. The oracle's own words for the same rule."""
    keys = np.arange(workload.keys)
    mask = np.zeros(workload.keys, bool)
    if workload.causal:
        mask |= keys > row
    if workload.reach is not None:
        mask |= (keys < row - workload.reach) | (keys > row + workload.reach)
    if workload.lengths is not None:
        mask |= keys >= workload.lengths[batch]
    if inputs.random_mask is not None:
        mask |= inputs.random_mask[row]
    return mask
