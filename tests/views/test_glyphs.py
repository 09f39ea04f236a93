import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.views.glyphs import ASCII, Glyphs, flush_right, glyphs_for, width

ENCODINGS = {"utf-8": True, "utf-16": True, "cp1252": False, "ascii": False, "latin-1": False, "cp437": False}


@pytest.mark.parametrize(("encoding", "full"), ENCODINGS.items())
def test_signs_are_all_of_one_set_that_the_output_can_show(encoding, full):
    glyphs = glyphs_for(encoding)
    assert bool(glyphs.levels) is full
    for sign in vars(glyphs).values():
        "".join(sign).encode(encoding)


def test_the_plain_set_is_plain():
    assert all("".join(sign).isascii() for sign in vars(ASCII).values())


SHOWN = {
    "usual": ("the", None, "the"),
    "markup": ("[red]", None, "[red]"),
    "escape": ("\x1b[31mred", None, "\\x1b[31mred"),
    "lines": ("a\nb\tc\r", None, "a\\nb\\tc\\r"),
    "direction": ("a\u202eb", None, "a\\u202eb"),
    "line separator": ("a\u2028b", None, "a\\u2028b"),
    "lone surrogate": ("a\ud800b", None, "a\\ud800b"),
    "private use": ("\U000f0000", None, "\\U000f0000"),
    "cut": ("abcdefgh", 5, "abcd…"),
    "exact": ("abcde", 5, "abcde"),
    "wide cut": ("日本語です", 6, "日本…"),
    "combining": ("e\u0301te\u0301", 3, "e\u0301te\u0301"),
}


@pytest.mark.parametrize(("text", "limit", "shown"), SHOWN.values(), ids=SHOWN)
def test_foreign_text_is_made_fit_to_be_shown(text, limit, shown):
    assert Glyphs("utf-8").shown(text, limit) == shown


@given(st.text(), st.sampled_from(["utf-8", "cp1252", "ascii"]), st.integers(4, 20))
def test_foreign_text_stays_within_its_line_its_cells_and_its_encoding(text, encoding, limit):
    shown = glyphs_for(encoding).shown(text, limit)
    assert width(shown) <= limit
    assert "\n" not in shown
    assert "\x1b" not in shown
    shown.encode(encoding)
    assert width(flush_right(shown, 25)) == 25
