"""The example cases: each feature has one, each expects numbers of an independent source, and all hold."""

import re
from pathlib import Path

import pytest

from sdpa_cli.cases import load_cases
from sdpa_cli.computing import compute

FOLDER = Path(__file__).parent.parent / "exercises" / "examples"
FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_holds(file):
    for case in load_cases([file]):
        assert case.title
        assert case.expect is not None
        assert compute(case).holds


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_says_where_its_numbers_come_from(file):
    text = file.read_text("utf-8")
    assert len(re.findall(r"^# (By hand|From PyTorch)", text, re.MULTILINE)) == text.count("\nexpect:")
