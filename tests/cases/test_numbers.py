"""Numbers mean what they say, or are refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.cases.cells import NUMBERS, TRUTH_VALUES
from sdpa_cli.cases.numbers import NotUnderstood, decimal_comma, flag, number, truth, whole

NUMBER = [
    ("1", 1.0),
    ("-1", -1.0),
    ("+2", 2.0),
    ("1.50", 1.5),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5", -0.5),
    ("+.5", 0.5),
    ("1e3", 1000.0),
    ("1e-3", 0.001),
    ("1E+3", 1000.0),
    ("1.0e3", 1000.0),
    ("01.5", 1.5),
    ("00.5", 0.5),
    ("010e1", 100.0),
    ("5e-324", 5e-324),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    ("0e999", 0.0),
    ("0.0000", 0.0),
    ("9007199254740992", 9007199254740992.0),
    ("9007199254740993.0", 9007199254740992.0),
    ("100000000000000000000", 1e20),
    ("inf", math.inf),
    ("+inf", math.inf),
    ("-inf", -math.inf),
    (".inf", math.inf),
    ("-.Inf", -math.inf),
    (".INF", math.inf),
    ("Infinity", math.inf),
    ("-Infinity", -math.inf),
]
DECIMAL = "a decimal number such as 1.5, -2e-3 or inf"
REFUSED = [
    ("", "a number is missing here", DECIMAL, None),
    ("~", "a number is missing here", DECIMAL, None),
    ("null", "a number is missing here", DECIMAL, None),
    ("abc", "'abc' is not a number", DECIMAL, None),
    ("-", "'-' is not a number", DECIMAL, None),
    (".", "'.' is not a number", DECIMAL, None),
    ("1e", "'1e' is not a number", DECIMAL, None),
    ("e5", "'e5' is not a number", DECIMAL, None),
    ("1.2.3", "'1.2.3' is not a number", DECIMAL, None),
    ("1e5.5", "'1e5.5' is not a number", DECIMAL, None),
    ("1,5", "'1,5' is not a number", DECIMAL, "write the decimal point: 1.5"),
    ("1 2", "'1 2' is not a number", DECIMAL, "a comma is missing: 1, 2"),
    ("1 K", "'1 K' is not a number", DECIMAL, "a comma or a closing bracket may be missing"),
    (
        "1:30",
        "'1:30' is not a number",
        DECIMAL,
        "some YAML readers take it for 90 in base 60: write a plain decimal number",
    ),
    ("0x1F", "'0x1F' is not a number", DECIMAL, "hexadecimal is not read here: write 31"),
    ("-0o17", "'-0o17' is not a number", DECIMAL, "octal is not read here: write -15"),
    ("0b101", "'0b101' is not a number", DECIMAL, "binary is not read here: write 5"),
    ("1_000.5", "'1_000.5' is not a number", DECIMAL, "write it without underscores: 1000.5"),
    ("1/2", "'1/2' is not a number", DECIMAL, "write the value itself: fractions are not computed here"),
    ("1;2", "'1;2' is not a number", DECIMAL, "values are separated by commas"),
    ("1; 2", "'1; 2' is not a number", DECIMAL, "values are separated by commas"),
    ("-∞", "'-∞' is not a number", DECIMAL, "write -inf"),
    ("\u2212∞", "'\u2212∞' is not a number", DECIMAL, "write -inf"),
    ("off", "'off' is not a number", DECIMAL, "write 1 or 0 where a number is meant"),
    ("True", "'True' is not a number", DECIMAL, "write 1 or 0 where a number is meant"),
    ("−1.5", "'−1.5' contains U+2212 MINUS SIGN", DECIMAL, "type it with the keyboard's own: -1.5"),
    ("１", "'１' contains U+FF11 FULLWIDTH DIGIT ONE", DECIMAL, "type it with the keyboard's own: 1"),
    ("\xa01", "'\xa01' contains U+00A0 NO-BREAK SPACE", DECIMAL, "type it with the keyboard's own: 1"),
    ("010", "'010' has a leading zero, which some YAML readers take for octal", None, "write 10"),
    ("-08", "'-08' has a leading zero, which some YAML readers take for octal", None, "write -8"),
    ("00", "'00' has a leading zero, which some YAML readers take for octal", None, "write 0"),
    (
        "1e400",
        "'1e400' is too large for float64",
        "a magnitude up to 1.797e308",
        "write inf where infinity is meant",
    ),
    (
        "-1e-400",
        "'-1e-400' is too small for float64 and would become 0",
        "0 or a magnitude from 5e-324",
        "write 0 where zero is meant",
    ),
    (
        "9007199254740993",
        "'9007199254740993' is not exact in float64, which would make it 9007199254740992",
        None,
        "write 9007199254740993.0 to accept the nearest float64",
    ),
    ("x" * 41, f"'{'x' * 39}…' is not a number", DECIMAL, None),
]


@pytest.mark.parametrize(("text", "value"), NUMBER, ids=[text for text, _ in NUMBER])
def test_a_number_is_what_it_says(text, value):
    assert number(text) == value
    assert math.copysign(1, number(text)) == math.copysign(1, value)


@pytest.mark.parametrize("text", ["nan", "NaN", ".nan", ".NAN", "-nan"])
def test_nan_is_a_number_too(text):
    assert math.isnan(number(text))


def test_minus_zero_keeps_its_sign():
    assert math.copysign(1, number("-0")) == math.copysign(1, number("-0.0")) == -1


@pytest.mark.parametrize(("text", "message", "expected", "hint"), REFUSED, ids=[repr(text) for text, *_ in REFUSED])
def test_what_is_refused_and_why(text, message, expected, hint):
    with pytest.raises(NotUnderstood) as caught:
        number(text)
    assert (caught.value.message, caught.value.expected, caught.value.hint) == (message, expected, hint)


@settings(deadline=None)
@given(st.floats())
def test_every_float_that_python_prints_is_read_back(value):
    for text in (repr(value), f"{value:.17g}", f"{value:.17e}"):
        assert number(text) == value or math.isnan(value)


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False).map(repr) | st.from_regex(r"[-+.0-9eE]{1,8}", fullmatch=True)))
def test_reading_in_bulk_agrees_with_reading_one_by_one(texts):
    values = NUMBERS.in_bulk(texts)
    if values is not None:
        assert values == [number(text) for text in texts]


@pytest.mark.parametrize("odd", ["010", "1_0", "1e400", "1e-400", "9007199254740993", "1 2", "1,5", "", "٣", "inf"])
def test_what_needs_care_is_never_read_in_bulk(odd):
    assert NUMBERS.in_bulk(["1", odd, "2"]) is None


@pytest.mark.parametrize("odd", ["on", "yes", "2", "1.0", "", "True ", "0 1"])
def test_a_mask_is_read_in_bulk_only_where_nothing_is_odd(odd):
    assert TRUTH_VALUES.in_bulk(["0", "1", "true", "false"]) == [0, 1, True, False]
    assert TRUTH_VALUES.in_bulk(["1", odd]) is None


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-7", -7), ("+3", 3), ("9223372036854775807", 2**63 - 1)])
def test_a_whole_number_is_what_it_says(text, value):
    assert whole(text) == value


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("2.0", "'2.0' is not a whole number", "write 2"),
        ("1e3", "'1e3' is not a whole number", "write 1000"),
        ("1.5", "'1.5' is not a whole number", None),
        ("inf", "'inf' is not a whole number", None),
        ("9223372036854775808", "'9223372036854775808' is too large", None),
        ("007", "'007' has a leading zero, which some YAML readers take for octal", "write 7"),
        ("two", "'two' is not a number", None),
    ],
)
def test_what_is_no_whole_number(text, message, hint):
    with pytest.raises(NotUnderstood) as caught:
        whole(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(("text", "value"), [("0", False), ("1", True), ("true", True), ("False", False)])
def test_a_mask_cell_is_what_it_says(text, value):
    assert truth(text) is value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("on", "write true: only some YAML readers take on for it"),
        ("No", "write false: only some YAML readers take No for it"),
        ("1 0", "a comma is missing: 1, 0"),
        ("1;0", "values are separated by commas"),
        ("1; 0", "values are separated by commas"),
        ("2", None),
        ("1.0", None),
        ("", None),
    ],
)
def test_what_is_no_mask_cell(text, hint):
    with pytest.raises(NotUnderstood, match="is neither true nor false") as caught:
        truth(text)
    assert (caught.value.expected, caught.value.hint) == ("0, 1, true or false", hint)


def test_a_flag_is_no_digit():
    with pytest.raises(NotUnderstood, match="'1' is neither true nor false"):
        flag("1")


@pytest.mark.parametrize(
    ("row", "suspicious"),
    [("[1,5, 2]", True), ("[1,5]", True), ("[1,5], [2, 3]", True), ("[1, 5]", False), ("[1,0,0]", False), ("[", False)],
)
def test_a_decimal_comma_is_suspected_only_where_it_may_be_one(row, suspicious):
    assert (decimal_comma(row) is not None) is suspicious
