"""The one comparison: what agrees, what does not, and which cell is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention.difference import Difference, Tolerance, compare

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        pytest.param([1.0, 2.0], [1.0, 2.0], id="equal"),
        pytest.param([1 + 9e-7], [1.0], id="within-atol-plus-rtol"),
        pytest.param([1e12 + 1e5], [1e12], id="within-rtol"),
        pytest.param([INF, -INF], [INF, -INF], id="same-infinities"),
        pytest.param([], [], id="nothing"),
        pytest.param([0.0], [-0.0], id="signed-zero"),
    ],
)
def test_agrees(actual, expected):
    assert compare(actual, expected) is None


@pytest.mark.parametrize(
    ("actual", "expected", "index"),
    [
        pytest.param([1.0, 2.1], [1.0, 2.0], (1,), id="off"),
        pytest.param([[0.5, 1.0], [2.0, 9.0]], [[0.0, 1.0], [2.0, 3.0]], (1, 1), id="worst-cell"),
        pytest.param([1.0, NAN], [5.0, 1.0], (1,), id="nan-is-worst"),
        pytest.param([NAN], [NAN], (0,), id="nan-agrees-with-nothing"),
        pytest.param([INF], [-INF], (0,), id="opposite-infinities"),
        pytest.param([1e308], [INF], (0,), id="finite-for-infinite"),
        pytest.param([INF], [1e308], (0,), id="infinite-for-finite"),
        pytest.param([1e308], [-1e308], (0,), id="difference-overflows"),
    ],
)
def test_differs(actual, expected, index):
    assert compare(actual, expected).index == index


def test_a_difference_tells_everything():
    found = compare([[1.0, 2.5], [3.0, 4.25]], [[1.0, 2.0], [3.0, 4.0]], Tolerance(atol=0.125, rtol=0.0))
    assert found == Difference(index=(0, 1), expected=2.0, actual=2.5, error=0.5, limit=0.125, count=2, total=4)


def test_shapes_must_be_equal():
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(1, 2\) cannot be compared"):
        compare([1.0, 2.0], [[1.0, 2.0]])


@given(st.lists(st.floats(allow_nan=False), max_size=5))
@settings(deadline=None, max_examples=50)
def test_everything_but_nan_agrees_with_itself(values):
    assert compare(values, values, Tolerance(0.0, 0.0)) is None
