"""JAX's ``jax.nn.dot_product_attention``, compiled beforehand."""

from __future__ import annotations

import numpy as np

from sdpa_cli.benchmarking.engines import Call
from sdpa_cli.benchmarking.inputs import Array, Inputs
from sdpa_cli.benchmarking.workloads import Workload


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Lay the arrays out as JAX wants them, (B, T, H, d), and compile. XLA takes the CPUs this process may use."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    q, k, v = (jax.numpy.asarray(np.ascontiguousarray(a.swapaxes(1, 2))) for a in (inputs.q, inputs.k, inputs.v))
    allowed = None if inputs.random_mask is None else jax.numpy.asarray(~inputs.random_mask[None, None])
    lengths = None if workload.lengths is None else jax.numpy.asarray(workload.lengths, "int32")
    window = None if workload.reach is None else (workload.reach, workload.reach)

    def attention(q: object, k: object, v: object) -> object:
        return jax.nn.dot_product_attention(
            q,
            k,
            v,
            mask=allowed,
            is_causal=workload.causal,
            key_value_seq_lengths=lengths,
            local_window_size=window,
        )

    compiled = jax.jit(attention).lower(q, k, v).compile()
    return lambda: _heads_second(compiled(q, k, v).block_until_ready())


def _heads_second(output: object) -> Array:
    return np.asarray(output).swapaxes(1, 2)  # views: on the CPU, neither step copies


def versions() -> dict[str, str]:
    """JAX's own version."""
    import jax

    return {"jax": jax.__version__}
