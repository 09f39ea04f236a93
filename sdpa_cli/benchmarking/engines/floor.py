"""NumPy's own floor: the two matrix products and the exponential over the engine's own live tiles, and no more.

No row maximum, no row sum, no mask, no division, no check, and so no answer. Nothing made of NumPy and these tiles can
be faster on this machine: it tells how much the streaming engine still wastes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sdpa_cli.attention import inputs as attention_inputs
from sdpa_cli.attention.blas import one_blas_thread
from sdpa_cli.attention.products import multiply
from sdpa_cli.attention.regions import Verdict
from sdpa_cli.attention.scores import key_rows, products, scaled_queries, stacked, value_rows
from sdpa_cli.attention.scratch import Scratch, own_scratch
from sdpa_cli.attention.threads import share
from sdpa_cli.attention.tiles import Cut, plan, regions, tiles
from sdpa_cli.benchmarking.engines import Call
from sdpa_cli.benchmarking.engines.streaming import mask_of
from sdpa_cli.benchmarking.inputs import Array, Inputs
from sdpa_cli.benchmarking.workloads import Workload


@dataclass(frozen=True, eq=False)
class _Step:
    """One live tile."""

    queries: Array
    """``(b, h_kv, g, rows, d_k)``, scaled."""
    keys: Array
    values: Array


def prepare(workload: Workload, inputs: Inputs, threads: int) -> Call:
    """Scale the queries and walk the engine's regions and tiles beforehand; the call shares the regions as it does."""
    problem = attention_inputs.prepare(
        {"Q": inputs.q, "K": inputs.k, "V": inputs.v}, mask_of(workload, inputs), None, attention_inputs.Options()
    )
    cut = plan(problem)
    tasks = [list(_steps(problem.part(region), cut)) for region in regions(problem, cut)]
    exponential = fastest_exponential(problem.dtype)

    def do(steps: list[_Step]) -> None:
        with own_scratch() as scratch:
            for step in steps:
                _walk(step, scratch, exponential)

    def call() -> None:
        with one_blas_thread():
            share(tasks, do, threads)

    return call


def _steps(part: attention_inputs.Inputs, cut: Cut) -> Iterator[_Step]:
    everything = slice(0, part.queries)
    queries = scaled_queries(part, everything)
    for tile in tiles(part.rule, everything, cut.keys):
        if tile.verdict is not Verdict.FORBIDDEN:
            yield _Step(queries[..., tile.rows, :], key_rows(part, tile.cols), value_rows(part, tile.cols))


def _walk(step: _Step, scratch: Scratch, exponential: Callable[..., Array]) -> None:
    scores = products(step.queries, step.keys, scratch)
    exponential(scores, out=scores)
    weights = stacked(scores)
    shape = (*weights.shape[:-1], step.values.shape[-1])
    multiply(weights, step.values, scratch.array("outputs", shape, weights.dtype))


def fastest_exponential(dtype: np.dtype[np.generic]) -> Callable[..., Array]:
    """`numpy.exp` or `numpy.exp2`: which of them has a vector kernel depends on the processor and on NumPy."""
    sample, out = np.linspace(-20, 0, 1 << 14).astype(dtype), np.empty(1 << 14, dtype)

    def seconds(function: Callable[..., Array]) -> float:
        start = time.perf_counter()
        for _ in range(8):
            function(sample, out=out)
        return time.perf_counter() - start

    return min((np.exp, np.exp2), key=seconds)


def versions() -> dict[str, str]:
    """NumPy is all it stands on."""
    return {"numpy": np.__version__}
