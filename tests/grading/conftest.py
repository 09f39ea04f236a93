"""One sandbox for all tests of grading, and a way to grade a source text."""

from dataclasses import replace

import pytest
from grading.items import EXERCISES, SOLUTIONS

from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.library import find_exercise
from sdpa_cli.sandbox import Level, Sandbox


@pytest.fixture(scope="session")
def box():
    with Sandbox() as box:
        assert box.level >= Level.L1, "submissions of these tests must be confined"
        yield box


@pytest.fixture(scope="session")
def exercise():
    """Exercises by name, each read once."""
    known = {}

    def find(name):
        if name not in known:
            known[name] = find_exercise(EXERCISES, name)
        return known[name]

    return find


@pytest.fixture(scope="session")
def graded(box, exercise):
    """Grade files, given as text or bytes by name; everything else is the solution's where `solved`."""

    def run(name, files, *, solved=False, seconds=5.0, **wanted):
        ours = (
            {path.name: path.read_bytes() for path in (SOLUTIONS / name).iterdir() if path.is_file()} if solved else {}
        )
        given = {file: text.encode() if isinstance(text, str) else text for file, text in files.items()}
        return grade(replace(exercise(name), seconds=seconds), HandedIn(ours | given), box, Wanted(**wanted))

    return run
