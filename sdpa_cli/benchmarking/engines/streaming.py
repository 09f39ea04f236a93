"""The tool's own engine, called as anyone would call it."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.benchmarking.engines import Call
from sdpa_cli.benchmarking.inputs import Inputs
from sdpa_cli.benchmarking.workloads import Workload


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Say the workload's mask in this tool's words."""
    mask = mask_of(workload, inputs)
    return lambda: attend(inputs.q, inputs.k, inputs.v, mask=mask, threads=threads).output


def mask_of(workload: Workload, inputs: Inputs) -> Mask:
    """The workload's mask, by its rules rather than as a matrix."""
    return Mask(
        causal=workload.causal,
        window=None if workload.reach is None else Window(workload.reach, workload.reach),
        key_lengths=workload.lengths,
        forbidden=inputs.random_mask,
    )


def versions() -> dict[str, str]:
    """NumPy is all it stands on."""
    return {"numpy": np.__version__}
