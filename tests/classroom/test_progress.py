"""How far the grading has come: figures, a live line, plain lines."""

import re
import sys

import pytest

from sdpa_cli.classroom.records import Record
from sdpa_cli.classroom.results import Result, Standing
from sdpa_cli.classroom.roster import Student
from sdpa_cli.classroom.running import Done
from sdpa_cli.classroom.saying import class_speaker
from sdpa_cli.grading.report import Report
from sdpa_cli.views.classroom.progress import Tally, watched


def done(number, standing=Standing.GRADED, fresh=True, record=None):
    return Done(number, Result(Student("x"), standing, record=record), fresh)


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


def test_less_than_half_a_second_is_no_estimate(f3):
    clock = iter([0.0, 4.0])
    tally = Tally(class_speaker("en", f3), lambda: next(clock))
    for number in range(99):
        tally.add(done(number))
    assert tally.words(100) == "99 of 100, 24.8 per second: 99 graded"


def test_one_needs_attention_and_two_need_it(f3):
    tally = Tally(class_speaker("en", f3), lambda: 0.0)
    tally.add(done(0, Standing.ATTENTION))
    assert tally.words(9).endswith(": 1 needs attention")
    tally.add(done(1, Standing.ATTENTION))
    assert tally.words(9).endswith(": 2 need attention")


def test_nothing_of_the_live_line_is_cut_off(f3, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    with watched(class_speaker("en", f3)) as note:
        for number, standing in enumerate(Standing):
            note(done(number, standing), 9)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|━|╸|╺", "", capsys.readouterr().err)
    assert "1 graded, 1 missing, 1 unreadable, 1 needs attention, 1 tool failed" in " ".join(shown.split())


def interrupted(speaker):
    with watched(speaker) as note:
        note(done(0, Standing.MISSING), 9)
        for number in (1, 2):
            note(done(number, record=Record(Report("F3", (), "L3", ""), {})), 9)
        raise KeyboardInterrupt


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Interrupted: 2 graded and kept; the same command goes on from there.\n"),
        ("hu", "Megszakítva: 2 értékelés elkészült és megmarad; ugyanez a parancs onnan folytatja.\n"),
        ("da", "Afbrudt: 2 er bedømt og gemt; den samme kommando fortsætter derfra.\n"),
    ],
)
def test_an_interrupt_says_what_is_kept(f3, monkeypatch, capsys, terminal, language, words):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(KeyboardInterrupt):
        interrupted(class_speaker(language, f3))
    assert capsys.readouterr().err.endswith(words)


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
