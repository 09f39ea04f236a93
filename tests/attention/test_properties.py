"""What must hold for any attention: its symmetries, its convexity, and the deafness of forbidden keys."""

from itertools import pairwise

import numpy as np
import pytest
from attention.oracles import normal, random_mask
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import Mask, SoftmaxState, Window, attend

quick = settings(deadline=None, max_examples=30)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)


def problem(seed, queries, keys):
    q, k, v = normal(seed, (queries, 3), (keys, 3), (keys, 4))
    return q, k, v, random_mask(seed, (queries, keys))


@given(seeds, sizes, sizes, st.integers(1, 10))
@quick
def test_permuting_keys_changes_nothing(seed, queries, keys, block_size):
    q, k, v, mask = problem(seed, queries, keys)
    order = np.random.default_rng(seed).permutation(keys)
    one = attend(q, k, v, mask=mask, block_size=block_size)
    other = attend(q, k[order], v[order], mask=mask[:, order], block_size=block_size)
    np.testing.assert_allclose(other.output, one.output, atol=1e-14)
    np.testing.assert_allclose(other.weights(), one.weights()[:, order], atol=1e-15)


@given(seeds, sizes, sizes)
@quick
def test_permuting_queries_permutes_the_rows(seed, queries, keys):
    q, k, v, mask = problem(seed, queries, keys)
    order = np.random.default_rng(seed).permutation(queries)
    np.testing.assert_allclose(
        attend(q[order], k, v, mask=mask[order]).output, attend(q, k, v, mask=mask).output[order], atol=1e-14
    )


@given(seeds, st.floats(-1e3, 1e3))
@quick
def test_adding_a_constant_to_a_row_shifts_only_its_lse(seed, shift):
    q, k, v, mask = problem(seed, 4, 6)
    plain, shifted = attend(q, k, v, mask=mask), attend(q, k, v, mask=mask, bias=np.full((4, 6), shift))
    np.testing.assert_allclose(shifted.output, plain.output, atol=1e-11)
    np.testing.assert_allclose(shifted.lse, plain.lse + shift, atol=1e-11)


@given(seeds, st.floats(-5, 5), st.floats(-5, 5))
@quick
def test_the_output_is_linear_in_the_values(seed, a, b):
    q, k, v, mask = problem(seed, 4, 6)
    (w,) = normal(seed + 1, (6, 4))
    mixed = attend(q, k, a * v + b * w, mask=mask).output
    apart = a * attend(q, k, v, mask=mask).output + b * attend(q, k, w, mask=mask).output
    np.testing.assert_allclose(mixed, apart, atol=1e-13)


@given(seeds, sizes, sizes, st.integers(1, 10))
@quick
def test_outputs_are_convex_combinations_of_live_values(seed, queries, keys, block_size):
    q, k, v, mask = problem(seed, queries, keys)
    result = attend(q * 10, k, v, mask=mask, block_size=block_size)
    assert (result.weights() >= 0).all()
    assert (result.weights()[mask] == 0).all()
    np.testing.assert_allclose(result.row_sums(), 1, rtol=1e-13)
    live = np.where(mask[..., None], np.nan, v)
    slack = 1e-14 * np.abs(v).max()
    assert (result.output >= np.nanmin(live, axis=1) - slack).all()
    assert (result.output <= np.nanmax(live, axis=1) + slack).all()


MASKS = [
    pytest.param(lambda t: np.eye(t, dtype=bool)[::-1], id="given"),
    pytest.param(lambda t: Mask(causal=True), id="causal"),
    pytest.param(lambda t: Mask(window=Window(1, 1)), id="window"),
    pytest.param(lambda t: Mask(key_lengths=t // 2), id="padding"),
]


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 1e308], ids=str)
@pytest.mark.parametrize("block_size", [1, 2, 5, 8, None])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("victim", [0, 1, 2], ids=["keys", "values", "both"])
def test_what_a_forbidden_key_holds_changes_no_bit(mask, victim, block_size, poison):
    """Every query is asked alone about a poisoned copy: its forbidden keys are poisoned, its live ones are not."""
    q, k, v = normal(11, (8, 3), (8, 3), (8, 4))
    clean = attend(q, k, v, mask=mask(8), block_size=block_size)
    for i, forbidden in enumerate(clean.forbidden()):
        bad_k, bad_v = k.copy(), v.copy()
        if victim != 1:
            bad_k[forbidden] = poison
        if victim != 0:
            bad_v[forbidden] = poison
        poisoned = attend(q, bad_k, bad_v, mask=mask(8), block_size=block_size, nonfinite="propagate")
        np.testing.assert_array_equal(poisoned.output[i], clean.output[i])
        np.testing.assert_array_equal(poisoned.weights()[i], clean.weights()[i])


@pytest.mark.parametrize("block_size", [1, 2, 3, 4])
def test_a_wild_value_reaches_those_who_may_look_and_nobody_else(block_size):
    v = np.array([[1.0], [2.0], [np.inf], [4.0]])
    output = attend(np.zeros((4, 1)), np.zeros((4, 1)), v, mask=Mask(causal=True), block_size=block_size).output
    np.testing.assert_array_equal(output[:, 0], [1.0, 1.5, np.inf, np.inf])


@given(seeds, st.tuples(*[st.integers(0, 3)] * 3))
@quick
def test_states_form_a_commutative_monoid(seed, widths):
    scores, values = normal(seed, (4, sum(widths)), (sum(widths), 2))
    scores *= 10.0 ** np.random.default_rng(seed).integers(0, 4)
    scores[random_mask(seed, scores.shape) if sum(widths) else np.zeros_like(scores, bool)] = -np.inf
    cuts = np.cumsum([0, *widths])
    a, b, c = (SoftmaxState.of(scores[:, i:j], values[i:j]) for i, j in pairwise(cuts))
    empty = SoftmaxState.empty((4,), 2, np.float64)
    same_bits(a.merge(b), b.merge(a))
    same_bits(a.merge(empty), a)
    same_bits(empty.merge(a), a)
    left, right = a.merge(b).merge(c), a.merge(b.merge(c))
    for one, other in zip(parts(left), parts(right), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


def parts(state):
    return state.m, state.l, state.acc


def same_bits(one, other):
    for x, y in zip(parts(one), parts(other), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("mask", [None, *MASKS])
def test_inputs_are_never_written_to(mask):
    arrays = normal(12, (6, 3), (6, 3), (6, 2), (6, 6))
    for array in arrays:
        array.setflags(write=False)
    *qkv, bias = arrays
    result = attend(*qkv, mask=mask and mask(6), bias=bias, softcap=2)
    assert np.isfinite(result.weights()).all()


def test_the_output_does_not_depend_on_whether_weights_were_asked_for():
    q, k, v = normal(13, (6, 3), (6, 3), (6, 2))
    asked = attend(q, k, v)
    asked.weights()
    np.testing.assert_array_equal(attend(q, k, v).output, asked.output)


@pytest.mark.parametrize(
    ("q", "k", "v"),
    [
        pytest.param((40, 3), (50, 3), (50, 2), id="rank-2"),
        pytest.param((2, 40, 3), (2, 50, 3), (2, 50, 2), id="rank-3"),
        pytest.param((2, 4, 40, 3), (2, 2, 50, 3), (2, 2, 50, 2), id="rank-4"),
    ],
)
def test_a_window_is_the_same_part_of_the_whole(q, k, v):
    arrays = normal(14, q, k, v)
    result = attend(*arrays, mask=Mask(causal=True, query_offset=3, key_lengths=33), bias=normal(15, (40, 50))[0])
    rows, cols = np.array([3, 30, 17]), slice(1, 44, 5)
    for view in (result.scores, result.weights, result.forbidden):
        np.testing.assert_allclose(view(rows, cols), view()[..., rows, :][..., cols], rtol=1e-12)
    np.testing.assert_allclose(result.row_sums(rows), 1, rtol=1e-13)


def test_a_row_with_one_live_key_weighs_it_exactly_one():
    q, k, v = normal(16, (50, 64), (50, 64), (50, 3))
    result = attend(q * 1e3, k, v, mask=~np.eye(50, dtype=bool), block_size=7)
    np.testing.assert_array_equal(result.weights(cols=slice(3, 9)), np.eye(50)[:, 3:9])
    np.testing.assert_array_equal(result.row_sums(), 1)
