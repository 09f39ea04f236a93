"""How far the grading has come: figures, a live line, plain lines."""

import sys

import pytest

from sdpa_cli.classroom.results import Result, Standing
from sdpa_cli.classroom.roster import Student
from sdpa_cli.classroom.running import Done
from sdpa_cli.classroom.saying import class_speaker
from sdpa_cli.views.classroom.progress import Tally, watched


def done(number, standing=Standing.GRADED, fresh=True):
    return Done(number, Result(Student("x"), standing), fresh)


def test_the_rate_is_of_what_was_graded_in_this_run(f3):
    clock = iter([0.0, 4.0])
    tally = Tally(class_speaker("en", f3), lambda: next(clock))
    for number in range(10):
        tally.add(done(number, fresh=number >= 4))
    assert tally.add(done(10, Standing.MISSING, fresh=False)) == 11
    assert tally.words(23) == "11 of 23, 1.5 per second, 8 s left: 10 graded, 1 missing"


def test_from_a_few_nothing_is_said_about_the_pace(f3):
    clock = iter([0.0, 4.0])
    tally = Tally(class_speaker("hu", f3), lambda: next(clock))
    tally.add(done(0, Standing.ERROR))
    assert tally.words(9) == "1 / 9: 1 az eszköz hibázott"


@pytest.mark.parametrize(
    ("fresh", "words"),
    [(True, "8 / 8, másodpercenként 2: 8 értékelve"), (False, "8 / 8: 8 értékelve")],
    ids=["graded now", "known before"],
)
def test_at_the_end_nothing_is_left(f3, fresh, words):
    clock = iter([0.0, 4.0])
    tally = Tally(class_speaker("hu", f3), lambda: next(clock))
    for number in range(8):
        tally.add(done(number, fresh=fresh))
    assert tally.words(8) == words


def test_at_the_end_nothing_is_left_however_few_there_were(f3):
    clock = iter([0.0, 4.0])
    tally = Tally(class_speaker("en", f3), lambda: next(clock))
    tally.add(done(0))
    assert tally.words(1) == "1 of 1: 1 graded"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_live_line_and_a_log_plain_ones(f3, monkeypatch, capsys, terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    with watched(class_speaker("en", f3)) as note:
        for number in range(3):
            note(done(number), 3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("\x1b[" in shown.err) == terminal
    assert terminal or shown.err == "3 of 3: 3 graded\n"
