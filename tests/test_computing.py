"""What `compute` finds beside the attention itself: verdicts, their hints, and counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import attend
from sdpa_cli.attention.difference import Tolerance, compare
from sdpa_cli.cases import Expectation, load_cases
from sdpa_cli.computing import Computed, compute, read, results, row_blocks, shape_of, verifying, window

CASE = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


@pytest.fixture
def of(tmp_path):
    def computed(text):
        path = tmp_path / "case.yaml"
        path.write_text(CASE + text, "utf-8")
        (case,) = load_cases([path])
        return compute(case)

    return computed


def test_a_case_that_expects_nothing_holds(of):
    result = of("")
    assert result.verdicts == ()
    assert result.holds


def test_verdicts_come_in_the_order_of_the_computation(of):
    result = of("expect: {output: [[0, 1, 0], [1, 0, 0]], weights: [[0.33, 0.67], [0.67, 0.33]], atol: 0.01}")
    assert [verdict.name for verdict in result.verdicts] == ["weights", "output"]
    assert [verdict.difference is None for verdict in result.verdicts] == [True, False]
    assert not result.holds
    assert result.verdicts[0].error == pytest.approx(0.000238, abs=1e-6)


HINTS = {
    "decimals": (
        "expect: {weights: [[0.3302, 0.6698], [0.6698, 0.3302]]}",
        "the expected values have 4 decimals; atol: 5e-05 allows for that",
    ),
    "few decimals": (
        "expect: {weights: [[0.33, 0.67], [0.67, 0.33]]}",
        "the expected values have 2 decimals; atol: 5e-03 allows for that",
    ),
    "one decimal": (
        "expect: {weights: [[0.3, 0.7], [0.7, 0.3]]}",
        "the expected values have 1 decimal; atol: 5e-02 allows for that",
    ),
    "almost half of the last decimal": (
        "expect: {weights: [[0.330238, 0.669762], [0.669762, 0.330238]], atol: 0, rtol: 0}",
        "the expected values have 6 decimals; atol: 5e-07 allows for that",
    ),
    "more than half of the last decimal": (
        "expect: {weights: [[0.330239, 0.669761], [0.669761, 0.330239]], atol: 0, rtol: 0}",
        None,
    ),
    "wrong beyond its decimals": ("expect: {weights: [[0.3302, 0.6698], [0.6698, 0.2302]]}", None),
    "a forbidden weight": (
        "mask: causal\nexpect: {weights: [[0.3302, 0.6698], [0.6698, 0.3302]]}",
        "the mask forbids key 2 to query 1, so its weight is 0; is the mask what you mean?",
    ),
    "a forbidden score": (
        "mask: causal\nexpect: {scores: [[0.70710678, 1.41421356], [0.70710678, 0]]}",
        "the mask forbids key 2 to query 1, so its score is -inf; is the mask what you mean?",
    ),
    "an allowed score": (
        "expect: {scores: [[0.70710678, 1.41421356], [-inf, 0]]}",
        "the mask allows key 1 to query 2; is the mask what you mean?",
    ),
}


@pytest.mark.parametrize(("text", "hint"), HINTS.values(), ids=HINTS)
def test_hints(of, text, hint):
    (verdict,) = of(text).verdicts
    assert verdict.difference is not None
    assert verdict.hint == hint


FILES = {
    "float16": ("float16", 0.6697615, "are float16, which keeps 3 of their decimals; atol: 5e-04 allows for that"),
    "float16 of few decimals": ("float16", 0.7, "have 1 decimal; atol: 5e-02 allows for that"),
    "float16 beyond its decimals": ("float16", 0.6679, None),
    "float32": ("float32", 0.66976154, "are float32, which keeps 7 of their decimals; atol: 5e-08 allows for that"),
    "float32 of few decimals": ("float32", 0.6698, "have 4 decimals; atol: 5e-05 allows for that"),
    "float64": ("float64", 0.6697615, "have 7 decimals; atol: 5e-08 allows for that"),
}


@pytest.mark.parametrize(("dtype", "weight", "hint"), FILES.values(), ids=FILES)
def test_a_file_s_values_are_as_fine_as_its_dtype(of, tmp_path, dtype, weight, hint):
    """Without a warning of NumPy's, too: those are errors here."""
    np.save(tmp_path / "weights.npy", np.array([[1 - weight, weight], [weight, 1 - weight]], dtype))
    (verdict,) = of("expect: {weights: {file: weights.npy}, atol: 0, rtol: 0}").verdicts
    assert verdict.hint == (hint and f"the expected values {hint}")


MASKED = "the mask allows key 1 to query 1; is the mask what you mean?"
EXTREMES = {
    "largest float16": ("float16", 65504, None),
    "float16 of no decimals": ("float16", 2048, None),
    "largest float32": ("float32", 3.4028235e38, None),
    "large float64": ("float64", 1e308, None),
    "infinite": ("float16", -np.inf, MASKED),
    "not a number": ("float16", np.nan, MASKED),
}


@pytest.mark.parametrize(("dtype", "score", "hint"), EXTREMES.values(), ids=EXTREMES)
def test_of_values_that_no_decimals_fit_no_decimals_are_counted(of, tmp_path, dtype, score, hint):
    np.save(tmp_path / "scores.npy", np.array([[score, 1.4], [0.7, 0]], dtype))
    (verdict,) = of("expect: {scores: {file: scores.npy}}").verdicts
    assert verdict.hint == hint


def test_the_hint_s_tolerance_makes_the_case_hold(of):
    assert of("expect: {weights: [[0.3302, 0.6698], [0.6698, 0.3302]], atol: 5e-05}").holds


@pytest.mark.parametrize(
    ("mask", "forbidden"),
    {"none": ("none", 0), "causal": ("causal", 1), "given": ("[[1, 0], [0, 0]]", 1)}.values(),
)
def test_forbidden_cells_are_counted(of, mask, forbidden):
    assert of(f"mask: {mask}").forbidden == forbidden


@settings(deadline=None, max_examples=60)
@given(
    shape=st.sampled_from([(5, 3), (2, 5, 3), (2, 2, 5, 3)]),
    wrong=st.lists(st.tuples(st.integers(0, 59), st.sampled_from([0.1, 7.0, np.inf, np.nan])), max_size=4),
    cells=st.integers(1, 40),
)
def test_comparing_in_blocks_finds_what_one_comparison_finds(shape, wrong, cells):
    rng = np.random.default_rng(1)
    q, k = rng.standard_normal((*shape[:-1], 2)), rng.standard_normal((*shape[:-2], 3, 2))
    attention = attend(q, k, k)
    expected = attention.weights()
    for place, value in wrong:
        expected.flat[place % expected.size] += value
    tolerance = Tolerance(1e-9, 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "BLOCK_CELLS", cells)
        found = verifying._verify(Computed(None, attention), "weights", expected, tolerance)
    whole = compare(attention.weights(), expected, tolerance)
    assert (found.difference is None) == (whole is None)
    if whole is not None:
        # Of two cells that are equally wrong, either is the worst.
        assert (found.difference.count, found.difference.total) == (whole.count, whole.total)
        assert np.isfinite(found.difference.error) == np.isfinite(whole.error)
        assert not np.isfinite(whole.error) or found.difference.error == pytest.approx(whole.error, rel=1e-9)
        assert not abs(attention.weights()[found.difference.index] - expected[found.difference.index]) <= 1e-9


@given(rows=st.integers(0, 40), columns=st.integers(0, 40), cells=st.integers(1, 100))
def test_row_blocks_cover_each_row_once(rows, columns, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "BLOCK_CELLS", cells)
        blocks = list(row_blocks((rows, columns)))
    assert [i for block in blocks for i in range(block.start, block.stop)] == list(range(rows))
    assert all((block.stop - block.start) * columns <= max(cells, columns) for block in blocks)


def test_a_large_expectation_is_never_held_whole(of, monkeypatch):
    """Verification asks for no more rows at a time than a block has."""
    monkeypatch.setattr(results, "BLOCK_CELLS", 2)
    asked = []
    monkeypatch.setattr(verifying, "read", lambda *args: asked.append(args[2]) or read(*args))
    assert of("expect: {weights: [[0.3302, 0.6698], [0.6698, 0.3302]], atol: 1e-3}").holds
    assert asked == [slice(0, 1), slice(1, 2)]


HEADS = {"one": (4, 3), "batch": (2, 4, 3), "heads": (2, 4, 4, 3)}


@pytest.mark.parametrize("shape", HEADS.values(), ids=HEADS)
def test_one_head_alone_is_that_part_of_the_whole(of, shape):
    rng = np.random.default_rng(2)
    kv = (shape[0], 2, 5, 3) if len(shape) == 4 else (*shape[:-2], 5, 3)
    q, k, v = rng.standard_normal(shape), rng.standard_normal(kv), rng.standard_normal(kv)
    forbidden = rng.random((*shape[:-1], 5)) < 0.4
    whole = attend(q, k, v, mask=forbidden, bias=rng.standard_normal(forbidden.shape), empty_rows="zero")
    everything = Computed(of("").case, whole)
    assert shape_of(everything, "output") == shape
    for index in np.ndindex(shape[:-2]):
        one = whole.at(*index)
        for name in ("mask", "scores", "weights", "output"):
            alone = window(everything, name, index)(slice(None), slice(None))
            np.testing.assert_allclose(alone, read(everything, name)[index], rtol=1e-12)
        np.testing.assert_array_equal(one.forbidden(), forbidden[index])
        np.testing.assert_array_equal(one.live_counts(), 5 - forbidden[index].sum(-1))
        np.testing.assert_array_equal(one.lse, whole.lse[index])


def test_expectation_has_a_tolerance_of_its_own():
    assert Expectation().tolerance == Tolerance(1e-6, 1e-6)
