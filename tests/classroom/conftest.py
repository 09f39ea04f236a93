"""Classes, exercises and commands that the tests of grading share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdpa_cli.classroom.entries import Entry
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.library import find_exercise, own_exercises

TESTS = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def f3():
    return find_exercise(own_exercises(), "F3")


@pytest.fixture(scope="session")
def entries():
    """From paths, with bytes or a reason, to the files of an export."""

    def of(*paths, **contents):
        return [_entry(path, contents.get(path, b"")) for path in paths]

    return of


def _entry(path, content):
    def read():
        if isinstance(content, str):
            raise InputError(Problem("unreadable-source", content))
        return content

    return Entry(tuple(path.split("/")), read)


@pytest.fixture(scope="session")
def sdpa():
    """Run the command in a process of its own; perhaps inside another command."""

    def run(*arguments, inside=(), **options):
        command = [*inside, sys.executable, "-m", "sdpa_cli", *map(str, arguments)]
        env = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100", "LANG": "C.UTF-8"}
        return subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", env=env, check=False, **options
        )

    return run
