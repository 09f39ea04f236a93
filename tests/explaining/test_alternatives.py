"""Leave-one-out against the engine; other weights against their definition; and where there are none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.attention import attend
from sdpa_cli.explaining.alternatives import leave_one_out, other_weights

SEEDS = st.integers(0, 10_000)


def row(seed, keys, d_v, factor=1.0):
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((1, 3)), factor * rng.standard_normal((keys, 3)), rng.standard_normal((keys, d_v))
    return q, k, v


@given(SEEDS, st.integers(2, 7), st.integers(1, 3), st.sampled_from([1.0, 30.0]))
def test_leaving_a_key_out_is_forbidding_it(seed, keys, d_v, factor):
    q, k, v = row(seed, keys, d_v, factor)
    found = leave_one_out(attend(q, k, v).weights()[0], v)
    for j in range(keys):
        without = attend(q, k, v, mask=np.arange(keys)[None] == j).output[0]
        np.testing.assert_allclose(found.outputs[j], without, rtol=1e-6, atol=1e-9)


@given(SEEDS, st.integers(2, 9), st.integers(1, 4))
def test_other_weights_give_the_same_output_or_there_are_none(seed, keys, d_v):
    q, k, v = row(seed, keys, d_v)
    weights = attend(q, k, v).weights()[0]
    found = other_weights(weights, v)
    if keys <= d_v + 1:
        assert found is None
        return
    assert found is not None
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(found.weights @ v, weights @ v, atol=1e-9)
    assert found.distance == pytest.approx(np.abs(found.weights - weights).sum() / 2)
    assert found.distance > 1e-9


def test_equal_values_hide_everything():
    found = other_weights(np.array([0.9, 0.1]), np.ones((2, 3)))
    np.testing.assert_allclose(found.weights, [0, 1])


def test_the_largest_weight_may_be_the_only_one_that_is_determined():
    values = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 0.0]])
    found = other_weights(np.array([0.2, 0.2, 0.6]), values)
    assert found.weights[2] == pytest.approx(0.6)
    assert sorted(found.weights[:2]) == pytest.approx([0, 0.4])


def test_the_course_s_counterexample():
    weights, values = np.array([0.1, 0.9]), np.array([[10.0, 0.0], [-1.0, 0.0]])
    found = leave_one_out(weights, values)
    np.testing.assert_allclose(weights @ values, [0.1, 0])
    np.testing.assert_allclose(found.outputs, [[-1, 0], [10, 0]])
    assert other_weights(weights, values) is None


def test_a_weight_of_nearly_1_leaves_exact_others():
    weights = np.array([1 - 2e-14, 1e-14, 1e-14])
    np.testing.assert_allclose(leave_one_out(weights, np.array([[1.0], [2.0], [4.0]])).outputs[0], [3.0])
