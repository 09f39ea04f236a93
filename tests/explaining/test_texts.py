"""Every language has every text, with the same places to fill, and every text is told by something."""

import re
from functools import cache

import pytest
from explaining.questions import QUESTIONS, trace

from sdpa_cli.explaining.comparing.faults import named
from sdpa_cli.explaining.speaking import ROOMS, texts_for
from sdpa_cli.explaining.trace import Words, words
from sdpa_cli.faults import CATALOGUE
from sdpa_cli.languages import LANGUAGES, Texts, load, placeholders
from sdpa_cli.views.explaining.documents import document
from sdpa_cli.views.explaining.forms import told
from sdpa_cli.views.explaining.notation import Notation
from sdpa_cli.views.explaining.prose import Voice

ROOM_NAMES = ("", *sorted({f".{room}" for rooms in ROOMS.values() for room in rooms}))
REASONS = ("causal", "window", "padding", "given", "segment", "sparse")
# Told by the views themselves, whatever is explained.
OF_THE_PAGE = {f"page.{name}" for name in ("step", "sum", "allowed", "holds", "fails", "steps", "source", "keys")}
CODE = re.compile(r"`[^`]*`")


def texts(room, language):
    return load(f"sdpa_cli.explaining{room}", language).entries


class Listening(dict):
    """Texts that note which of them are asked for."""

    def __init__(self, entries):
        super().__init__(entries)
        self.heard = set()

    def __getitem__(self, key):
        self.heard.add(key)
        return super().__getitem__(key)


@cache
def heard():
    found = set()
    for name in QUESTIONS:
        entries = Listening(texts_for(trace(name), "en").entries)
        document(trace(name), Voice(Texts("en", entries), Notation(".")))
        found |= entries.heard
    return found | OF_THE_PAGE | {f"reason.{name}" for name in REASONS}


@pytest.mark.parametrize("room", ROOM_NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_places(room, language):
    english, other = texts(room, "en"), texts(room, language)
    assert other.keys() == english.keys()
    assert {key: placeholders(text) for key, text in other.items()} == {
        key: placeholders(text) for key, text in english.items()
    }


@pytest.mark.parametrize("room", ROOM_NAMES)
def test_no_text_is_unused(room):
    assert set(texts(room, "en")) - heard() == set()


@pytest.mark.parametrize("room", ROOM_NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_and_spaces_are_the_language_s_own(room, language):
    wrong = r"\d,\d" if language == "en" else r"\d\.\d"
    for key, text in texts(room, language).items():
        prose = CODE.sub("", text)
        assert not re.search(wrong, prose), key
        assert "  " not in text, key
        assert text == text.strip(), key
        assert text.count("`") % 2 == 0, key
        assert "..." not in prose, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_mask_can_be_drawn_with_first_letters(language):
    entries = texts("", language)
    letters = [entries[f"reason.{name}"][0] for name in REASONS]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CATALOGUE)
def test_every_fault_is_told_whole(name, language):
    entries = texts(".comparing", language)
    assert f"law.{named(name).law}.name" in entries
    for part in ("cause", "symptom", "shows", "cure"):
        assert entries[f"fault.{name}.{part}"].endswith("."), part


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_can_be_told(language):
    for name in QUESTIONS:
        assert document(trace(name), told(trace(name), language))


def test_a_value_may_be_a_text_itself():
    voice = told(trace("derive two"), "da")
    inner = words("reason.causal")
    (text,) = {"".join(piece.content for piece in voice.pieces(value)) for value in (inner, (inner,))}
    assert text == "kausal"
    assert isinstance(inner, Words)
