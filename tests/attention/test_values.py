"""The engine gives the right values: hand-worked, high-precision and adversarial, for every block size."""

import numpy as np
import pytest
from attention.oracles import longdouble_attention, mpmath_attention, naive_attention, normal, random_mask

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.attention.dense import dense

Q2, K2, V2 = [[1, 0], [0, 1]], [[1, 1], [2, 0]], [[1, 0, 0], [0, 1, 0]]
CAUSAL = Mask(causal=True)
EPS32, EPS64 = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


@pytest.mark.parametrize(
    ("arrays", "mask", "weights", "output"),
    [
        pytest.param(
            (Q2, K2, V2),
            None,
            [[0.33023845, 0.66976155], [0.66976155, 0.33023845]],
            [[0.33023845, 0.66976155, 0], [0.66976155, 0.33023845, 0]],
            id="course",
        ),
        pytest.param(
            (Q2, K2, V2),
            CAUSAL,
            [[1, 0], [0.66976155, 0.33023845]],
            [[1, 0, 0], [0.66976155, 0.33023845, 0]],
            id="course-causal",
        ),
        pytest.param(
            (np.eye(2), np.eye(2), [[1, 2], [3, 4]]),
            None,
            [[0.669762, 0.330238], [0.330238, 0.669762]],
            [[1.660477, 2.660477], [2.339523, 3.339523]],
            id="identity",
        ),
        pytest.param(
            (np.eye(2), np.eye(2), [[1, 2], [3, 4]]),
            CAUSAL,
            [[1, 0], [0.330238, 0.669762]],
            [[1, 2], [2.339523, 3.339523]],
            id="identity-causal",
        ),
        pytest.param(
            (np.full((1, 128), 256.0), [[256.0] * 128, [0.0] * 128], [[1.0], [2.0]]),
            None,
            [[1, 0]],
            [[1]],
            id="saturated",
        ),
    ],
)
def test_hand_worked(arrays, mask, weights, output):
    result = attend(*arrays, mask=mask)
    np.testing.assert_allclose(result.weights(), weights, atol=1e-6)
    np.testing.assert_allclose(result.output, output, atol=1e-6)


def test_softmax_runs_over_the_keys():
    """Scores [[1, 0], [3, 0]]: the wrong axis would give [[.1192, .5], [.8808, .5]]."""
    result = attend([[1.0, 0.0], [3.0, 0.0]], np.eye(2), np.eye(2), scale=1)
    np.testing.assert_array_equal(result.scores(), [[1, 0], [3, 0]])
    np.testing.assert_allclose(result.weights(), [[0.7311, 0.2689], [0.9526, 0.0474]], atol=1e-4)


def test_the_saturated_example_has_the_score_that_overflows_float16():
    result = attend(np.full((1, 128), 256.0), [[256.0] * 128, [0.0] * 128], [[1.0], [2.0]])
    np.testing.assert_allclose(result.scores(), [[741455.2, 0]], rtol=1e-7)


def test_causal_weights_of_the_course_are_exactly_one_and_zero():
    np.testing.assert_array_equal(attend(Q2, K2, V2, mask=CAUSAL).weights()[0], [1.0, 0.0])


def test_unscaled_dot_products():
    output = attend(np.eye(2), [[0, 1], [1, 0]], [[1, 2], [3, 4]], scale=1).output
    np.testing.assert_allclose(output, [[2.462117, 3.462117], [1.537883, 2.537883]], atol=1e-6)


def test_query_heads_share_keys_in_runs():
    q, k = np.zeros((1, 4, 3, 2)), np.zeros((1, 2, 5, 2))
    v = np.stack([np.full((5, 3), 1.0), np.full((5, 3), 2.0)])[None]
    np.testing.assert_array_equal(attend(q, k, v).output[0, :, 0, 0], [1, 1, 2, 2])


RECTANGULAR = ((5, 3), (7, 3), (7, 4))


@pytest.mark.parametrize("block_size", range(1, 8))
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="plain"),
        pytest.param({"mask": Mask(causal=True, query_offset=0)}, id="causal-top-left"),
        pytest.param({"mask": Mask(causal=True, query_offset=2)}, id="causal-bottom-right"),
        pytest.param({"mask": Mask(window=Window(1, 2), query_offset=1)}, id="window"),
        pytest.param({"mask": Mask(window=Window(None, 0), query_offset=1)}, id="half-open-window"),
        pytest.param({"mask": Mask(key_lengths=4)}, id="padding"),
        pytest.param({"mask": random_mask(3, (5, 7))}, id="given"),
        pytest.param({"mask": Mask(causal=True, query_offset=3, key_lengths=5, window=Window(3, 1))}, id="combined"),
        pytest.param({"bias": normal(9, (5, 7))[0]}, id="bias"),
        pytest.param({"softcap": 0.75}, id="softcap"),
        pytest.param(
            {"softcap": 2.0, "bias": normal(8, (5, 7))[0], "mask": random_mask(4, (5, 7))}, id="cap-bias-mask"
        ),
        pytest.param({"scale": 0}, id="scale-zero"),
        pytest.param({"scale": -1.5}, id="scale-negative"),
    ],
)
def test_high_precision(settings, block_size):
    q, k, v = normal(1, *RECTANGULAR)
    result = attend(q, k, v, block_size=block_size, **settings)
    exact = {name: value for name, value in settings.items() if name != "mask"}
    output, lse = mpmath_attention(q, k, v, forbidden=result.forbidden(), **exact)
    np.testing.assert_allclose(result.output, output, atol=8 * EPS64)
    np.testing.assert_allclose(result.lse, lse, atol=8 * EPS64)
    scores, weights, dense_output = dense(q, k, v, forbidden=result.forbidden(), **exact)
    np.testing.assert_allclose(result.scores(), scores, atol=8 * EPS64)
    np.testing.assert_allclose(result.weights(), weights, atol=4 * EPS64)
    np.testing.assert_allclose(result.output, dense_output, atol=8 * EPS64)


@pytest.mark.parametrize("block_size", [1, 3, 8, 64, None])
@pytest.mark.parametrize(
    ("q", "k", "v", "mask"),
    [
        pytest.param((3, 6, 5), (3, 8, 5), (3, 8, 2), (3, 6, 8), id="rank-3"),
        pytest.param((3, 6, 5), (3, 8, 5), (3, 8, 2), (6, 8), id="rank-3-shared-mask"),
        pytest.param((2, 6, 4, 3), (2, 6, 8, 3), (2, 6, 8, 5), (2, 1, 4, 8), id="rank-4-mask-per-batch"),
        pytest.param((2, 6, 4, 3), (2, 2, 8, 3), (2, 2, 8, 5), (1, 6, 4, 8), id="grouped-mask-per-head"),
        pytest.param((2, 6, 4, 3), (2, 1, 8, 3), (2, 1, 8, 5), (2, 6, 4, 8), id="multi-query"),
        pytest.param((1, 4, 1, 3), (1, 2, 200, 3), (1, 2, 200, 5), (1, 4, 1, 200), id="decoding"),
    ],
)
def test_leading_axes(q, k, v, mask, block_size):
    arrays, forbidden = normal(2, q, k, v), random_mask(5, mask)
    result = attend(*arrays, mask=forbidden, block_size=block_size)
    scores, weights, output = dense(*arrays, forbidden=np.broadcast_to(forbidden, (*q[:-1], k[-2])))
    np.testing.assert_allclose(result.output, output, atol=1e-14)
    np.testing.assert_allclose(result.weights(), weights, atol=1e-15)
    np.testing.assert_allclose(result.scores(), scores, atol=1e-14)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        pytest.param(2, [[2, 2], [2, 2]], id="one-for-all"),
        pytest.param([1, 3], [[1, 1], [3, 3]], id="per-batch"),
        pytest.param([[1, 2], [3, 4]], [[1, 2], [3, 4]], id="per-head"),
    ],
)
def test_key_lengths(lengths, expected):
    q, k, v = normal(3, (2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 2))
    live = ~attend(q, k, v, mask=Mask(key_lengths=lengths)).forbidden()
    np.testing.assert_array_equal(live.sum(-1), np.repeat(np.array(expected)[..., None], 3, axis=-1))


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_float32_error_is_bounded(causal):
    """Each score carries an error near eps·|s|·sqrt(d_k), each weight as much relatively, averaged over the keys."""
    q, k, v = normal(4, (2, 300, 32), (2, 300, 32), (2, 300, 16), dtype=np.float32)
    result = attend(q, k, v, mask=Mask(causal=causal))
    assert result.output.dtype == np.float32
    exact = longdouble_attention(q, k, v, forbidden=result.forbidden())
    assert np.abs(result.output - exact).max() <= 16 * EPS32 * np.abs(v).max()


def test_float64_error_is_no_worse_than_naive_code():
    ours, naive = [], []
    for seed in range(40):
        q, k, v = normal(seed, (2, 48, 16), (2, 80, 16), (2, 80, 8))
        exact = longdouble_attention(q, k, v)
        ours.append(np.abs(attend(q, k, v).output - exact).max())
        naive.append(np.abs(naive_attention(q, k, v) - exact).max())
    assert max(ours) <= 1.5 * max(naive)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_size", [1, 2, 3, 6])
@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([1e4, -1e4, 0, 3, 1e4, 2], id="huge"),
        pytest.param([-3e38, 3e38, 0, 1, 2, 3], id="near-overflow"),
        pytest.param([0, 1, 2, 3, 4, 700], id="late-maximum"),
        pytest.param([-2000, -1500, -1000, -750, -500, -499], id="all-very-negative"),
        pytest.param([-745, -740, 0, -744, -100, -103], id="denormal-weights"),
        pytest.param([1e-40, -1e-40, 0, 1e-39, 0, 0], id="denormal-scores"),
    ],
)
def test_extreme_scores(scores, block_size, dtype):
    q, k, v = np.ones((1, 1), dtype), np.array(scores, dtype)[:, None], normal(6, (6, 2), dtype=dtype)[0]
    result = attend(q, k, v, scale=1, block_size=block_size)
    exact, lse = mpmath_attention(q, k, v, scale=1)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(result.output, exact, atol=8 * eps)
    np.testing.assert_allclose(result.lse, lse, rtol=4 * eps, atol=4 * eps)


def test_the_largest_values_average_without_overflow():
    values = np.array([[1e308], [1.5e308], [-1e308]])
    output = attend(np.zeros((1, 2)), np.zeros((3, 2)), values).output
    np.testing.assert_allclose(output, [[0.5e308]], rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [3, 40, 130, 600])
@pytest.mark.parametrize("mask", [None, Mask(causal=True)], ids=["full", "causal"])
def test_the_mean_of_the_largest_number_is_that(mask, length, dtype):
    largest = np.finfo(dtype).max
    q, k = normal(3, (2, length, 4), (2, length, 4), dtype=dtype)
    v = np.full((2, length, 3), largest)
    v[1] *= -1
    output = attend(q, k, v, mask=mask).output
    np.testing.assert_allclose(output, np.broadcast_to(v[:, :1], output.shape), rtol=64 * np.finfo(dtype).eps)


def test_the_largest_values_leave_the_smallest_beside_them_as_they_are():
    values = np.array([[1.5e308, 1e-308, 5e-324], [1.5e308, 3e-308, 5e-324]])
    output = attend(np.zeros((1, 2)), np.zeros((2, 2)), values).output
    np.testing.assert_allclose(output, [[1.5e308, 2e-308, 5e-324]], rtol=1e-14, atol=0)


def test_scale_is_applied_before_the_product_can_overflow():
    result = attend([[1e200]], [[1e200], [2e200]], [[1.0], [2.0]], scale=1e-300)
    np.testing.assert_allclose(result.scores(), [[1e100, 2e100]], rtol=1e-14)


def test_no_queries_give_an_empty_result():
    result = attend(np.zeros((2, 0, 3)), np.ones((2, 4, 3)), np.ones((2, 4, 5)))
    assert (result.output.shape, result.lse.shape, result.weights().shape) == ((2, 0, 5), (2, 0), (2, 0, 4))
    assert result.row_sums().shape == (2, 0)


def test_no_heads_give_an_empty_result():
    assert attend(np.zeros((0, 3, 2)), np.zeros((0, 4, 2)), np.zeros((0, 4, 5))).output.shape == (0, 3, 5)
