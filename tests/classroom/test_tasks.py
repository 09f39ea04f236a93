"""What a worker does with one task, and what it refuses."""

from dataclasses import replace

import pytest

from sdpa_cli.classroom.packing import Packed, pack, unpack
from sdpa_cli.classroom.records import from_text
from sdpa_cli.classroom.tasks import Task, _box, best_level, grade_task, secret, versions
from sdpa_cli.errors import InputError, Problem, Worded
from sdpa_cli.grading.report import Message, Status

TALKATIVE = b"""
def attention(Q, K, V, mask=None):
    print(object(), attention)
    raise RuntimeError(object())
"""


@pytest.fixture(scope="module")
def task(f3):
    return Task(pack(f3), (("attention.py", TALKATIVE),), (), secret("word"), best_level(), versions())


def test_an_exercise_travels_as_bytes(f3):
    again = unpack(pack(f3))
    assert (again.name, [check.name for check in again.checks]) == (f3.name, [check.name for check in f3.checks])
    assert pack(again).sha256 == pack(f3).sha256
    assert again.folder != f3.folder


def test_hidden_checks_are_judged_last_and_nothing_is_lost(f3, task):
    """What a submission saw of them, it could tell in the items after them."""
    order, own = [item.check for item in from_text(grade_task(task)).report.items], [c.name for c in f3.checks]
    assert (order[-1], own[-1] == "hidden") == ("hidden", False)
    assert sorted(order) == sorted(own)


def test_the_same_task_gives_the_same_bytes_from_another_sandbox(task):
    first = grade_task(task)
    _box.cache_clear()
    assert grade_task(task) == first
    assert "object at 0x…" in from_text(first).report.printed


def test_what_could_not_be_read_is_told(task):
    why = Worded("unreadable-source", "attention.py is a link", key="a.key", values=(("name", "attention.py"),))
    found = from_text(grade_task(replace(task, unreadable=(("attention.py", why),), files=())))
    first = found.report.items[0]
    assert (first.check, first.status, first.finding.messages[0].values) == (
        "loads",
        Status.FAILED,
        {"problem": Message("a.key", {"name": "attention.py"})},
    )


def test_another_version_is_refused(task):
    with pytest.raises(InputError, match=r"the grades are to be made by sdpa 0\.0"):
        grade_task(replace(task, versions="sdpa 0.0"))


@pytest.mark.parametrize("name", ["../../evil.py", "conftest.py", "/etc/passwd"])
def test_a_name_of_a_file_is_never_a_stranger_s(task, name):
    with pytest.raises(ValueError, match="is no file of F3"):
        grade_task(replace(task, files=((name, b""),)))


def test_whatever_a_grade_depends_on_is_in_its_key(task):
    others = [
        replace(task, files=(("attention.py", TALKATIVE + b"#"),)),
        replace(task, unreadable=(("answers.yaml", Problem("unreadable-source", "why")),)),
        replace(task, exercise=Packed(task.exercise.name, task.exercise.files[:-1])),
        replace(task, seed=None),
        replace(task, versions="sdpa 0.0"),
        replace(task, level=type(task.level)(0)),
    ]
    assert len({one.key for one in [task, *others]}) == len(others) + 1
