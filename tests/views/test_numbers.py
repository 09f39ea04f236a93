import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.views.numbers import brief, cell_text, decimals_for

WRITTEN = {
    "usual": (0.70710678, 4, "0.7071"),
    "negative zero": (-0.0, 4, "0.0000"),
    "rounds to zero": (-4e-5, 4, "-4.000e-05"),
    "just shows": (5.1e-5, 4, "0.0001"),
    "huge": (1e308, 4, "1.000e+308"),
    "tiny": (-1e-308, 4, "-1.000e-308"),
    "smallest": (5e-324, 4, "4.941e-324"),
    "six digits": (999999.0, 2, "999999.00"),
    "seven digits": (1e6, 2, "1.0e+06"),
    "one decimal": (0.05, 1, "0.1"),
    "infinite": (math.inf, 4, "inf"),
    "minus infinity": (-math.inf, 4, "-inf"),
    "not a number": (math.nan, 4, "nan"),
    "more digits": (1 / 3, 17, "0.33333333333333331"),
}


@pytest.mark.parametrize(("value", "precision", "text"), WRITTEN.values(), ids=WRITTEN)
def test_numbers_are_written(value, precision, text):
    assert cell_text(value, precision) == text


@given(st.floats(-1e300, 1e300), st.integers(1, 17))
def test_a_written_number_is_close_and_zero_only_if_it_is_zero(value, precision):
    text = cell_text(value, precision)
    assert (float(text) == 0) == (value == 0)
    assert abs(float(text) - value) <= max(0.5001 * 10.0**-precision, 0.51 * 10.0 ** (1 - precision) * abs(value))
    assert not text.startswith("-0.") or float(text) < 0
    assert len(text) <= precision + 9


@pytest.mark.parametrize(
    ("largest", "decimals"),
    [(0.0, 4), (1.0, 4), (1e308, 4), (0.9999, 4), (0.0999, 5), (0.001, 6), (1e-5, 8), (9e-6, 4)],
)
def test_small_matrices_get_more_decimals(largest, decimals):
    assert decimals_for(largest) == decimals


@pytest.mark.parametrize(("value", "text"), [(0.16984, "0.1698"), (-0.0, "0"), (5e-05, "5e-05"), (math.inf, "inf")])
def test_numbers_in_sentences(value, text):
    assert brief(value) == text
