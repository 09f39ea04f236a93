"""Every engine computes the attention that the workload means: told by an oracle that shares no code with them."""

from importlib import import_module

import numpy as np
import pytest

from sdpa_cli.attention import attend
from sdpa_cli.benchmarking import oracle
from sdpa_cli.benchmarking.engines import ENGINES, UnsupportedError, choose, missing
from sdpa_cli.benchmarking.engines.floor import fastest_exponential
from sdpa_cli.benchmarking.engines.streaming import mask_of
from sdpa_cli.benchmarking.inputs import forbidden, forbidden_row, make_inputs
from sdpa_cli.benchmarking.workloads import Workload
from sdpa_cli.errors import InputError

SMALL = [
    Workload("full", 13, 13, heads=3, kv_heads=3, depth=8),
    Workload("full", 13, 13, "float64", heads=3, kv_heads=3, depth=8),
    Workload("causal", 21, 21, heads=2, kv_heads=2, depth=8, causal=True),
    Workload("window", 21, 21, "float64", heads=2, kv_heads=2, depth=8, reach=3),
    Workload("padding", 17, 17, batch=3, heads=2, kv_heads=2, depth=8, lengths=(5, 17, 1)),
    Workload("random-mask", 19, 19, heads=2, kv_heads=2, depth=8, forbidden_share=0.5),
    Workload("gqa-decode", 1, 23, heads=6, kv_heads=2, depth=8),
    Workload("gqa-prefill", 15, 15, batch=2, heads=6, kv_heads=2, depth=8, causal=True),
    Workload("gqa-window", 15, 15, batch=2, heads=6, kv_heads=2, depth=8, reach=2),
]


def by_name(workload):
    return workload.name


@pytest.mark.parametrize("workload", SMALL, ids=by_name)
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.name != "floor"], ids=lambda one: one.name)
def test_an_engine_computes_what_the_workload_means(engine, workload):
    if missing(engine):
        pytest.skip(f"{engine.name} is not installed")
    inputs = make_inputs(workload)
    try:
        output = np.asarray(import_module(engine.module).prepare(workload, inputs, 1)())
    except UnsupportedError as reason:
        pytest.skip(f"{engine.name}: {reason}")
    assert output.shape == (workload.batch, workload.heads, workload.queries, workload.depth)
    assert output.dtype == workload.dtype
    everywhere = [tuple(cell) for cell in np.ndindex(output.shape[:3])]
    error = oracle.max_error(output.reshape(-1, workload.depth), oracle.expected_rows(workload, inputs, everywhere))
    assert error <= 1e-6 if engine.name == "jax" else oracle.agrees(error, workload)


@pytest.mark.parametrize("workload", SMALL, ids=by_name)
def test_the_mask_is_the_same_in_everyones_words(workload):
    inputs = make_inputs(workload)
    shape = (workload.batch, workload.heads, workload.queries, workload.keys)
    rows = np.stack(
        [forbidden_row(workload, inputs, b, i) for b in range(workload.batch) for i in range(workload.queries)]
    ).reshape(workload.batch, 1, workload.queries, workload.keys)
    matrix = forbidden(workload, inputs)
    assert (np.broadcast_to(False if matrix is None else matrix, shape) == rows).all()
    ours = attend(inputs.q, inputs.k, inputs.v, mask=mask_of(workload, inputs)).forbidden()
    assert (ours == rows).all()
    assert not rows.all(-1).any(), "a query without a key has no answer to compare"


@pytest.mark.parametrize("workload", SMALL, ids=by_name)
def test_the_floor_has_no_answer(workload):
    floor = import_module(choose(["floor"])[0].module)
    inputs = make_inputs(workload)
    before = inputs.q.copy()
    assert floor.prepare(workload, inputs, 2)() is None
    assert (inputs.q == before).all()


def test_the_floor_takes_one_of_numpys_exponentials():
    assert fastest_exponential(np.dtype(np.float32)) in (np.exp, np.exp2)


def test_inputs_are_the_same_in_every_process():
    workload = SMALL[5]
    one, other = make_inputs(workload), make_inputs(workload)
    for name in ("q", "k", "v", "random_mask"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert 0.3 < one.random_mask.mean() < 0.7


def test_the_oracle_notices_a_wrong_head_and_a_nan():
    workload = SMALL[7]
    inputs = make_inputs(workload)
    cells = oracle.sample(workload)
    right = oracle.expected_rows(workload, inputs, cells)
    tiled = oracle.expected_rows(workload, inputs, [(b, (h + 1) % 6, i) for b, h, i in cells])
    assert not oracle.agrees(oracle.max_error(tiled, right), workload)
    assert not oracle.agrees(oracle.max_error(right * np.nan, right), workload)
    assert oracle.agrees(oracle.max_error(right, right), workload)


def test_the_sample_holds_the_first_row_and_the_last():
    cells = oracle.sample(SMALL[7])
    assert cells[0] == (0, 0, 0)
    assert cells[-1] == (1, 5, 14)
    assert len(cells) == oracle.SAMPLES


def test_engines_are_chosen_in_the_order_of_the_table():
    assert [engine.name for engine in choose(["jax", "naive", "streaming"])] == ["streaming", "naive", "jax"]


def test_an_unknown_engine_is_named_with_its_near_neighbour():
    with pytest.raises(InputError) as caught:
        choose(["pytorch"])
    (problem,) = caught.value.problems
    assert problem.message == "no engine is called 'pytorch'"
    assert problem.expected == "one of streaming, naive, floor, torch, onnxruntime, jax"
    assert problem.hint == "did you mean 'torch'?"


def test_what_a_quadratic_engine_needs_is_known_beforehand():
    workload = Workload("full", 1024, 1024)
    predicted = {engine.name: engine.predicted_bytes(workload) for engine in choose(["streaming", "naive", "jax"])}
    assert predicted["streaming"] == workload.output_bytes
    assert predicted["naive"] == workload.matrix_bytes + workload.output_bytes
    assert predicted["jax"] > predicted["naive"]
