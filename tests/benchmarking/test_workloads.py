"""The table of workloads: complete, named once, selected by name or glob."""

import pytest

from sdpa_cli.benchmarking.workloads import QUICK, WORKLOADS, Workload, select
from sdpa_cli.errors import InputError

NAMES = [workload.name for workload in WORKLOADS]
LENGTHS = (16, 64, 128, 512, 1024, 2048, 4096)


def test_every_workload_has_a_name_of_its_own():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(
    "name",
    [
        *(f"{kind}-{length}" for kind in ("full", "causal") for length in LENGTHS),
        *("random-mask-2048", "window-2048", "window-8192", "padding-2048", "decode-8192", "gqa-decode-8192"),
        *("gqa-prefill-2048", "one-head-16384", "one-head-causal-16384"),
    ],
)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_the_table_is_complete(name, dtype):
    assert f"{name}-{dtype}" in NAMES


@pytest.mark.parametrize(
    ("name", "workload"),
    [
        ("full-512-f64", Workload("full", 512, 512, "float64", 1, 8, 8, 64)),
        ("causal-16-f32", Workload("causal", 16, 16, causal=True)),
        ("window-8192-f32", Workload("window", 8192, 8192, reach=255)),
        ("padding-2048-f32", Workload("padding", 2048, 2048, batch=4, lengths=(512, 1024, 1536, 2048))),
        ("decode-8192-f32", Workload("decode", 1, 8192, heads=32, kv_heads=32)),
        ("gqa-prefill-2048-f32", Workload("gqa-prefill", 2048, 2048, heads=32, kv_heads=8, causal=True)),
        ("one-head-65536-f32", Workload("one-head", 65536, 65536, heads=1, kv_heads=1)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_means_one_problem(name, workload):
    assert select([name]) == (workload,)


def test_sizes():
    workload = Workload("x", 3, 5, "float64", batch=2, heads=4, kv_heads=2, depth=7)
    assert workload.scores == 2 * 4 * 3 * 5
    assert workload.matrix_bytes == 2 * 4 * 3 * 5 * 8
    assert workload.output_bytes == 2 * 4 * 3 * 7 * 8


def test_shrinking_keeps_everything_but_lengths():
    small = select(["padding-2048-f32"])[0].shrunk(8)
    assert (small.queries, small.keys, small.lengths) == (8, 8, (8, 8, 8, 8))
    assert (small.kind, small.batch, small.heads, small.dtype) == ("padding", 4, 8, "float32")
    assert select(["gqa-decode-8192-f32"])[0].shrunk(8).queries == 1


def test_the_quick_ones_exist():
    assert len(select(QUICK)) == len(QUICK)


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["full-16-f32"], ["full-16-f32"]),
        (["causal-1*-f64"], ["causal-16-f64", "causal-128-f64", "causal-1024-f64"]),
        (["window-2048-f32", "full-64-f32"], ["full-64-f32", "window-2048-f32"]),
        (["full-16-*", "full-16-f32"], ["full-16-f32", "full-16-f64"]),
    ],
)
def test_selection_keeps_the_order_of_the_table(patterns, names):
    assert [workload.name for workload in select(patterns)] == names


def test_what_matches_nothing_is_named_with_its_near_neighbour():
    with pytest.raises(InputError) as caught:
        select(["full-512-f32", "casual-512-f32", "zzz*"])
    near, far = caught.value.problems
    assert near.message == "no workload is called 'casual-512-f32'"
    assert near.hint == "did you mean 'causal-512-f32'?"
    assert near.expected.startswith("one of full-16-f32, full-16-f64, ")
    assert (far.message, far.hint) == ("no workload is called 'zzz*'", None)
