"""What is said about a class: every language says everything, with the same values, and nothing is never said."""

import re
from pathlib import Path

import pytest

import sdpa_cli
from sdpa_cli.classroom.saying import PACKAGE
from sdpa_cli.grading.saying import PACKAGE as GRADING
from sdpa_cli.languages import LANGUAGES, load, placeholders

ENGLISH = load(PACKAGE, "en").entries
HOUSE = Path(sdpa_cli.__file__).parent
FILES = [path for room in ("classroom", "views/classroom") for path in (HOUSE / room).glob("*.py")]
SOURCE = "".join(path.read_text("utf-8") for path in FILES)


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_every_language_has_every_text_with_the_same_placeholders(language):
    entries = load(PACKAGE, language).entries
    assert {key: placeholders(text) for key, text in entries.items()} == {
        key: placeholders(t) for key, t in ENGLISH.items()
    }


def test_no_text_of_grading_is_covered_up():
    assert not set(ENGLISH) & set(load(GRADING, "en").entries)


def test_every_text_is_used():
    made = {"standing": r"standing\.\{", "hidden": r"hidden\.\{", "feedback": r"feedback\.\{item\.status\}"}
    statuses = {"feedback.passed", "feedback.failed", "feedback.skipped", "feedback.open", "feedback.error"}
    for key in ENGLISH:
        by_name = re.search(rf"""["']{re.escape(key)}["']""", SOURCE)
        family = key.partition(".")[0]
        by_family = family in made and re.search(made[family], SOURCE) and (family != "feedback" or key in statuses)
        assert by_name or by_family, key
