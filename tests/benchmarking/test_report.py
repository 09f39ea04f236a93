"""The arithmetic of a report: ratios round by round, exponents, summaries."""

import pytest

from sdpa_cli.benchmarking.report import (
    Measurement,
    Status,
    compare,
    log_log_slope,
    ratio,
    slopes,
    summarise,
)
from sdpa_cli.benchmarking.workloads import Workload, select


def timed(engine, *rounds, workload="full-1024-f32", **rest):
    return Measurement(select([workload])[0], engine, rounds=rounds, **rest)


def test_a_ratio_is_the_median_of_the_rounds_not_the_ratio_of_the_medians():
    # The machine was slow in round 2 for both: only pairs tell that the one always takes twice as long.
    one, other = timed("naive", 2.0, 20.0, 4.0), timed("torch", 1.0, 10.0, 2.0)
    assert ratio(one, other) == 2.0
    assert ratio(timed("naive", 1.0, 9.0, 2.0), timed("torch", 1.0, 3.0, 4.0)) == 1.0


@pytest.mark.parametrize("other", [None, timed("torch")], ids=["absent", "failed"])
def test_there_is_no_ratio_to_what_was_not_timed(other):
    assert ratio(timed("naive", 1.0), other) is None
    assert ratio(timed("naive"), timed("torch", 1.0)) is None


def test_rows_stand_beside_those_of_their_own_workload():
    rows = compare(
        [
            timed("streaming", 2.0),
            timed("floor", 1.0),
            timed("torch", 4.0),
            timed("streaming", 3.0, workload="full-2048-f32"),
        ]
    )
    assert [(row.seconds, row.to_torch, row.to_floor, row.to_streaming) for row in rows] == [
        (2.0, 0.5, 2.0, 1.0),
        (1.0, 0.25, 1.0, 0.5),
        (4.0, 1.0, 4.0, 2.0),
        (3.0, None, None, 1.0),
    ]


def test_the_fastest_peer_is_one_that_answers_rightly():
    rows = compare(
        [
            timed("streaming", 6.0),
            timed("naive", 0.5),
            timed("torch", 3.0),
            timed("onnxruntime", 2.0),
            timed("jax", 1.0, status=Status.WRONG),
        ]
    )
    assert rows[0].to_fastest_peer == 3.0


def test_a_slope_is_the_exponent():
    lengths = (512, 1024, 2048, 4096)
    assert log_log_slope([(t, 3e-9 * t**2) for t in lengths]) == pytest.approx(2)
    assert log_log_slope([(t, 7.0 * t) for t in lengths]) == pytest.approx(1)
    assert log_log_slope([(t, 5.0) for t in lengths]) == pytest.approx(0)


@pytest.mark.parametrize("points", [[], [(512, 1.0)], [(512, 1.0), (1024, None)], [(512, 0), (1024, 4.0)]])
def test_one_point_has_no_slope(points):
    assert log_log_slope(points) is None


def test_slopes_are_fitted_to_each_series_where_arithmetic_dominates():
    lengths = (64, 512, 1024, 2048)
    measurements = [
        Measurement(Workload("full", t, t, dtype), engine, rounds=(1e-9 * t**2,), peak_bytes=memory(t))
        for t in lengths
        for dtype in ("float32", "float64")
        for engine, memory in (("naive", lambda t: 4 * t * t), ("streaming", lambda t: 256 * t))
    ]
    measurements += [Measurement(Workload("decode", 1, t), "naive", rounds=(1.0,)) for t in lengths]
    found = slopes(compare(measurements))
    assert {(slope.kind, slope.dtype, slope.engine) for slope in found} == {
        ("full", dtype, engine) for dtype in ("float32", "float64") for engine in ("naive", "streaming")
    }
    for slope in found:
        assert slope.lengths == (512, 1024, 2048)
        assert slope.time == pytest.approx(2)
        assert slope.memory == pytest.approx(2 if slope.engine == "naive" else 1)


def test_what_was_not_timed_is_no_part_of_a_slope():
    workloads = [Workload("full", t, t) for t in (1024, 2048, 4096)]
    timed_ones = [Measurement(workload, "naive", rounds=(workload.keys**2,)) for workload in workloads[:2]]
    stopped = Measurement(workloads[2], "naive", Status.STOPPED, "would need 17 GiB of 12 free")
    (slope,) = slopes(compare([*timed_ones, stopped]))
    assert slope.lengths == (1024, 2048)


def test_a_summary_takes_the_geometric_mean_and_names_the_worst():
    rows = compare(
        [
            measurement
            for workload, ours in (("full-1024-f32", 1.0), ("full-2048-f32", 4.0), ("full-128-f32", 3.0))
            for measurement in (
                timed("streaming", ours, workload=workload),
                timed("torch", 2.0, workload=workload),
                timed("jax", 1.0, workload=workload),
            )
        ]
    )
    found = {(one.keys, one.against): one for one in summarise(rows)}
    assert {one.engine for one in found.values()} == {"streaming"}
    assert set(found) == {
        (keys, against) for keys in ((1024, None), (128, 512)) for against in ("torch", "fastest peer")
    }
    long = found[(1024, None), "torch"]
    assert (long.workloads, long.geometric_mean, long.worst, long.worst_workload) == (2, 1.0, 2.0, "full-2048-f32")
    assert found[(1024, None), "fastest peer"].worst == 4.0
    assert found[(128, 512), "torch"].geometric_mean == pytest.approx(1.5)


def test_a_wrong_answer_is_no_part_of_a_summary():
    rows = compare([timed("streaming", 1.0, status=Status.WRONG), timed("torch", 2.0)])
    assert summarise(rows) == ()
