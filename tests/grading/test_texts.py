"""Prose lives in data: every language says the same, everything is used, and code holds none."""

import ast
import re

import pytest
from grading.items import ROOT

from sdpa_cli.grading.grader import LOADS
from sdpa_cli.grading.kinds.laws import LAWS
from sdpa_cli.grading.kinds.values import SPOILS
from sdpa_cli.grading.saying import PACKAGE
from sdpa_cli.grading.stages import STAGES
from sdpa_cli.languages import LANGUAGES, load, placeholders
from sdpa_cli.sandbox import Kind

ENGLISH = load(PACKAGE, "en").entries
# Keys that are put together in the code.
COMPOSED = {
    *(f"call.{kind}" for kind in Kind if kind not in (Kind.RETURNED, Kind.RAISED)),
    *(f"raises.returned-{how}" for how in (*SPOILS, "forbidden")),
    *(f"stage.{stage}" for stage in STAGES),
    "reading.float32",
    "reading.float16",
}


def literals():
    folders = [ROOT / "sdpa_cli" / name for name in ("grading", "sandbox", "views/grading", "cli")]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text_with_the_same_places(language):
    entries = load(PACKAGE, language).entries
    assert {key: placeholders(text) for key, text in entries.items()} == {
        key: placeholders(text) for key, text in ENGLISH.items()
    }


def test_every_text_is_used_and_every_one_used_is_there():
    families = {key.split(".")[0] for key in ENGLISH}
    shaped = {text for text in literals() if re.fullmatch(r"[a-z]+\.[a-z0-9-]*[a-z0-9]", text)}
    used = {text for text in shaped if text.split(".")[0] in families} | COMPOSED
    assert used == set(ENGLISH)


def test_laws_have_a_text_each():
    assert {f"law.{law}" for law in LAWS} <= set(ENGLISH)
    assert LOADS == "loads"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_left_in_english(language):
    if language == "en":
        return
    entries = load(PACKAGE, language).entries
    same = {key for key, text in entries.items() if text == ENGLISH[key]}
    assert same <= {"file.unreadable", "answer.problem", "view.bonus", "answer.hint", "stage.output"}
