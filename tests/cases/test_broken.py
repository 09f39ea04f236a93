"""Broken case files, each with every word that must be said about it beside it."""

from pathlib import Path

import pytest

from sdpa_cli.cases import load_cases
from sdpa_cli.errors import InputError, render

BROKEN = Path(__file__).parent / "broken"
FILES = sorted(BROKEN.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_broken_file_is_answered_with_these_words(file, monkeypatch):
    monkeypatch.chdir(BROKEN)
    with pytest.raises(InputError) as caught:
        compute(file.name)
    told = "".join(f"{render(problem)}\n" for problem in caught.value.problems)
    assert told == file.with_suffix(".txt").read_text("utf-8")


def compute(name):
    for case in load_cases([name]):
        case.attend()


def test_every_answer_has_its_file():
    assert {file.stem for file in BROKEN.glob("*.txt")} == {file.stem for file in FILES}


def test_every_caret_stands_below_its_column():
    for file in FILES:
        lines = file.with_suffix(".txt").read_text("utf-8").splitlines()
        for header, shown, caret in zip(lines, lines[1:], lines[2:], strict=False):
            if header.startswith(f"{file.name}:") and caret.strip() == "^":
                _, line, column, *_ = header.split(":")
                source = file.read_text("utf-8-sig", "replace").splitlines()[int(line) - 1]
                if shown == f"    {source}" and shown.isascii():
                    assert caret.index("^") == int(column) + 3
