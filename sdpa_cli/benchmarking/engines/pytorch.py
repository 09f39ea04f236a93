"""PyTorch's CPU ``scaled_dot_product_attention``."""

from __future__ import annotations

from sdpa_cli.benchmarking.engines import Call
from sdpa_cli.benchmarking.inputs import Inputs, forbidden
from sdpa_cli.benchmarking.workloads import Workload


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Share the arrays with torch. It knows causal masks; every other mask must be a matrix, True = allowed."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(threads)
    q, k, v = (torch.from_numpy(array) for array in (inputs.q, inputs.k, inputs.v))
    mask = None if workload.causal else forbidden(workload, inputs)
    allowed = None if mask is None else torch.from_numpy(~mask)
    grouped = workload.heads != workload.kv_heads

    def call() -> object:
        with torch.inference_mode():
            return scaled_dot_product_attention(
                q, k, v, attn_mask=allowed, is_causal=workload.causal, enable_gqa=grouped
            )

    return call


def versions() -> dict[str, str]:
    """Torch's own version."""
    import torch

    return {"torch": torch.__version__}
