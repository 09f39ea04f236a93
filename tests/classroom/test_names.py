"""Names in exports: who is meant, which upload, how late."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.classroom.names import Label, bare_words, canvas_label, moodle_label, plain_label, same, tidy, version_of


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Anna Kovács_1042_assignsubmission_file_", Label("Anna Kovács", "1042")),
        ("Anna Kovács_1042_assignsubmission_file", Label("Anna Kovács", "1042")),
        ("Anna_Maria Kovács_7_assignsubmission_onlinetext_", Label("Anna_Maria Kovács", "7")),
        ("O'Brien, Łucja_7_assignsubmission_file_attention.py", Label("O'Brien, Łucja", "7", rest="attention.py")),
        ("Résztvevő 12_12_assignsubmission_file_", Label("Résztvevő 12", "12")),
        ("Anna Kovács", None),
    ],
)
def test_moodle(text, label):
    assert moodle_label(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("kovacsanna_77_9001_attention.py", Label("kovacsanna", "77", rest="attention.py")),
        ("kovácsanna_LATE_77_9001_my_file-2.py", Label("kovácsanna", "77", late=True, rest="my_file-2.py")),
        ("kis_pista_77_9001_attention.py", Label("kis_pista", "77", rest="attention.py")),
        ("kovacsanna_77_text.html", Label("kovacsanna", "77", rest="text.html")),
        ("kovacsanna_LATE_77_link.html", Label("kovacsanna", "77", late=True, rest="link.html")),
        ("anon_aB3xY_9001_attention.py", Label("anon_aB3xY", rest="attention.py")),
        ("LATE_anon_aB3xY_text.html", Label("anon_aB3xY", late=True, rest="text.html")),
        ("anon_aB3xY_9001_3_attention.py", Label("anon_aB3xY", rest="3_attention.py")),
        ("LATE_anon_aB3xY_9001_2_a.py", Label("anon_aB3xY", late=True, rest="2_a.py")),
        ("anon_12345_9001_attention.py", Label("anon_12345", rest="attention.py")),
        ("attention.py", None),
        ("test_attention.py", None),
        ("attention_2.py", None),
        ("text.html", None),
    ],
)
def test_canvas(text, label):
    assert canvas_label(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Kovács Anna", Label("Kovács Anna")),
        ("Kovács Anna (ABC123)", Label("Kovács Anna", "ABC123")),
        ("Kovács Anna [ABC123]", Label("Kovács Anna", "ABC123")),
        ("Kovács Anna (the younger)", Label("Kovács Anna (the younger)")),
        ("LATE_Kovács Anna", Label("Kovács Anna".replace(" ", " "), late=True)),
        ("kovacs-LATE", Label("kovacs", late=True)),
        ("Slate", Label("Slate")),
        ("(12)", Label("(12)")),
        ("a\u202eb\u200bc", Label("abc")),
    ],
)
def test_plain(text, label):
    assert plain_label(text).id == label.id
    assert plain_label(text).late == label.late
    assert plain_label(text).name.strip("_-") == label.name


@pytest.mark.parametrize(
    ("stem", "found"),
    [
        ("attention", ("attention", 1)),
        ("attention-2", ("attention", 2)),
        ("attention (12)", ("attention", 12)),
        ("attention(3)", ("attention", 3)),
        ("-2", ("-2", 1)),
        ("attention-2024", ("attention-2024", 1)),
    ],
)
def test_version(stem, found):
    assert version_of(stem) == found


def test_two_spellings_of_one_name_are_one():
    assert same(unicodedata.normalize("NFD", "Kovács  Lőrinc")) == same("kovács lőrinc")
    assert same("Bálint") != same("Balint")
    assert bare_words("Kovács, Anna") == bare_words("anna kovacs")


@given(st.text())
def test_a_tidy_name_is_one_line_that_stays_tidy(text):
    assert tidy(tidy(text)) == tidy(text)
    assert not any(unicodedata.category(char)[0] == "C" for char in tidy(text))
