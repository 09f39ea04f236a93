"""A student's text, made safe to show."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.sandbox.text import clean


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_no_control_character_is_left_but_the_newline(text):
    assert all(char == "\n" or unicodedata.category(char)[0] != "C" for char in clean(text))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        pytest.param("łóżko ≤ 3", "łóżko ≤ 3", id="letters and signs stay"),
        pytest.param("a\r\nb\rc", "a\nb\ufffdc", id="line endings"),
        pytest.param("\x1b]0;title\x07", "\ufffd]0;title\ufffd", id="a terminal's title"),
        pytest.param("\u202egnp.exe", "\ufffdgnp.exe", id="right to left"),
        pytest.param("\ud800", "\ufffd", id="half a character"),
        pytest.param("[red]<b>=1+1", "[red]<b>=1+1", id="markup is for the view to escape"),
        pytest.param("x" * 21, "x" * 20 + "…", id="too long"),
    ],
)
def test_clean(text, cleaned):
    assert clean(text, 20) == cleaned
