"""Positions: right values, and what rotations and slopes promise."""

import numpy as np
import pytest
from attention.oracles import normal
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import Mask, Rope, alibi_slopes, attend, rotate, sinusoidal
from sdpa_cli.errors import InputError

quick = settings(deadline=None, max_examples=30)
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        pytest.param(4, [0.841471, 0.540302, 0.01, 0.99995], id="even"),
        pytest.param(5, [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], id="odd"),
        pytest.param(1, [0.841471], id="one"),
    ],
)
def test_sinusoidal_at_position_1(d, expected):
    np.testing.assert_allclose(sinusoidal([1], d), [expected], atol=5e-7)


def test_sinusoidal_at_position_0_is_0_and_1():
    np.testing.assert_array_equal(sinusoidal([[0, 0]], 4), [[[0, 1, 0, 1]] * 2])


@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        pytest.param(Rope(), [-1.142640, 1.922076, 2.959851, 4.029800], id="interleaved"),
        pytest.param(Rope(pairing="half"), [-1.984111, 1.959901, 2.462378, 4.019800], id="half"),
        pytest.param(Rope(dim=2), [-1.142640, 1.922076, 3, 4], id="partial"),
        # base 1 turns every pair by the position itself: (3, 4) by 1 radian, by hand with cos 1 and sin 1.
        pytest.param(Rope(base=1), [-1.142640, 1.922076, -1.744977, 4.685622], id="base"),
        pytest.param(Rope(pairing="half", dim=2), [-1.142640, 1.922076, 3, 4], id="half-partial"),
    ],
)
def test_rotation_of_1234_at_position_1(rope, expected):
    np.testing.assert_allclose(rotate([[1, 2, 3, 4]], [1], rope), [expected], atol=5e-7)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_a_partial_rotation_is_the_whole_one_of_the_first_components(pairing):
    """Its angles go by its own dimension, not by d_k."""
    (x,) = normal(1, (5, 8))
    turned = rotate(x, rope=Rope(pairing, dim=4))
    np.testing.assert_array_equal(turned[:, :4], rotate(x[:, :4], rope=Rope(pairing)))
    np.testing.assert_array_equal(turned[:, 4:], x[:, 4:])


ropes = st.builds(Rope, st.sampled_from(["interleaved", "half"]), st.sampled_from([None, 2, 4]), st.floats(2, 1e5))


@given(seeds, ropes, st.integers(-1000, 1000), st.integers(0, 1000))
@quick
def test_rotated_products_see_only_the_distance(seed, rope, shift, distance):
    q, k = normal(seed, (1, 6), (1, 6))
    here = rotate(q, [distance], rope) @ rotate(k, [0], rope).T
    there = rotate(q, [distance + shift], rope) @ rotate(k, [shift], rope).T
    np.testing.assert_allclose(there, here, atol=1e-11)


@given(seeds, ropes)
@quick
def test_rotation_keeps_lengths_and_inputs(seed, rope):
    (x,) = normal(seed, (2, 5, 6))
    kept = x.copy()
    turned = rotate(x, rope=rope)
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-14)
    np.testing.assert_array_equal(turned[:, 0], x[:, 0])


def test_both_pairings_are_one_rotation_of_reordered_components():
    (x,) = normal(1, (3, 6))
    order = [0, 2, 4, 1, 3, 5]
    np.testing.assert_allclose(rotate(x)[:, order], rotate(x[:, order], rope=Rope(pairing="half")), atol=1e-15)


def test_positions_per_batch_entry():
    (x,) = normal(2, (2, 3, 2, 4))
    turned = rotate(x, [[0, 1], [5, 6]])
    np.testing.assert_array_equal(turned[1], rotate(x[1], [5, 6]))
    np.testing.assert_array_equal(turned[0], rotate(x[0], [0, 1]))


def test_float32_stays_float32():
    assert rotate(np.ones((2, 4), np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        pytest.param(8, [2.0**-n for n in range(1, 9)], id="power-of-2"),
        pytest.param(6, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125], id="6"),
        pytest.param(1, [2.0**-8], id="1"),
        pytest.param(3, [2.0**-4, 2.0**-8, 2.0**-2], id="3"),
    ],
)
def test_slopes(heads, expected):
    np.testing.assert_allclose(alibi_slopes(heads), expected, rtol=1e-15)


@pytest.mark.parametrize("heads", range(1, 40))
def test_there_is_one_falling_slope_per_head(heads):
    slopes = alibi_slopes(heads)
    assert slopes.shape == (heads,)
    assert ((slopes > 0) & (slopes < 1)).all()
    assert len(set(slopes.tolist())) == heads


@pytest.mark.parametrize("block_size", [1, 3, None])
@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True), Mask(causal=True, query_offset=2)], ids=repr)
def test_slopes_are_a_bias_of_distances(mask, block_size):
    queries = 5 if mask.query_offset is None else 3
    q, k, v = normal(3, (2, 4, queries, 3), (2, 2, 5, 3), (2, 2, 5, 2))
    position = np.arange(queries) + (mask.query_offset or 0)
    distances = np.abs(position[:, None] - np.arange(5))
    bias = -alibi_slopes(4)[:, None, None] * distances
    sloped = attend(q, k, v, mask=mask, alibi=True, block_size=block_size)
    biased = attend(q, k, v, mask=mask, bias=np.broadcast_to(bias, (2, 4, queries, 5)))
    np.testing.assert_allclose(sloped.output, biased.output, atol=1e-14)
    np.testing.assert_allclose(sloped.scores(), biased.scores(), atol=1e-14)
    np.testing.assert_allclose(sloped.at(1, 2).weights(), biased.at(1, 2).weights(), atol=1e-15)


def test_stated_slopes_and_a_bias_add_up():
    q, k, v, bias = normal(4, (3, 2), (3, 2), (3, 2), (3, 3))
    distances = np.abs(np.arange(3)[:, None] - np.arange(3))
    both = attend(q, k, v, alibi=0.5, bias=bias)
    np.testing.assert_allclose(both.output, attend(q, k, v, bias=bias - 0.5 * distances).output, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message", "path"),
    [
        pytest.param(lambda: rotate(np.ones((2, 3))), "rotary dimension 3 is odd", ("rope",), id="odd"),
        pytest.param(
            lambda: rotate(np.ones((2, 4)), rope=Rope(dim=3)),
            "rotary dimension 3 is odd",
            ("rope", "dim"),
            id="odd-dim",
        ),
        pytest.param(
            lambda: rotate(np.ones((2, 4)), rope=Rope(dim=6)),
            "rotary dimension 6 does not fit d_k = 4",
            ("rope", "dim"),
            id="too-large",
        ),
        pytest.param(lambda: rotate(np.ones((2, 4)), rope=Rope(base=0)), "rope base is 0", ("rope", "base"), id="base"),
        pytest.param(
            lambda: rotate(np.ones((2, 4)), [0, 1, 2]), "position_ids has shape (3,)", ("position_ids",), id="positions"
        ),
        pytest.param(
            lambda: rotate(np.ones((2, 4)), [0.5, 1]),
            "position_ids are not all whole numbers",
            ("position_ids",),
            id="fractions",
        ),
        pytest.param(
            lambda: rotate(np.ones((2, 4)), rope=Rope(pairing="thirds")),
            "rope pairing is 'thirds'",
            ("rope", "pairing"),
            id="pairing",
        ),
        pytest.param(
            lambda: attend(np.ones((3, 2, 4)), np.ones((3, 2, 4)), np.ones((3, 2, 4)), alibi=True),
            "ALiBi gives each head its slope, and Q of rank 3 has no axis of heads",
            ("alibi",),
            id="alibi-rank-3",
        ),
        pytest.param(
            lambda: attend(*[np.ones((1, 4, 2, 4))] * 3, alibi=[0.5, 0.25]),
            "alibi has shape (2,), and there are H = 4 heads",
            ("alibi",),
            id="alibi-count",
        ),
        pytest.param(
            lambda: attend(np.ones((2, 4)), np.ones((3, 4)), np.ones((3, 4)), alibi=0.5),
            "ALiBi with Tq = 2 and Tk = 3 does not say where the queries stand among the keys",
            ("mask",),
            id="alibi-offset",
        ),
    ],
)
def test_refusals(call, message, path):
    with pytest.raises(InputError) as caught:
        call()
    assert [(p.message, p.path) for p in caught.value.problems] == [(message, path)]
