"""How a problem is told, whatever its line holds."""

import copy
import pickle

import pytest

from sdpa_cli.errors import ExitCode, InputError, Place, Problem, SdpaError, render


def place(source, column=1):
    return Place("case.yaml", 3, column, source)


def shown(source, column=1):
    """The line and the caret below it."""
    return render(Problem("x", "wrong", place=place(source, column))).splitlines()[1:]


def test_everything_a_problem_knows_is_told():
    problem = Problem("x", "wrong", "right", "turn round", ("Q",), place("Q: [[1, x]]", 9))
    assert render(problem) == (
        "case.yaml:3:9: error: wrong\n    Q: [[1, x]]\n            ^\n  expected: right\n  hint: turn round"
    )


def test_a_problem_without_a_place():
    assert render(Problem("x", "wrong")) == "error: wrong"


def test_a_problem_on_an_empty_line():
    assert render(Problem("x", "wrong", place=place(""))) == "case.yaml:3:1: error: wrong"


@pytest.mark.parametrize(
    ("source", "column", "line", "indent"),
    [
        ("Q: x", 4, "Q: x", 3),
        ("\tQ:\tx", 5, "    Q:    x", 10),
        ("日本: x", 5, "日本: x", 6),
        ("e\u0301: x", 5, "e\u0301: x", 3),
        ("Q: x", 5, "Q: x", 4),
        ("\x1b[31m: x", 8, "\\x1b[31m: x", 10),
        ("a\u202eb: x", 6, "a\\u202eb: x", 10),
        ("a\xa0b: x", 6, "a\\xa0b: x", 8),
        ("a\U000e0001: x", 5, "a\\U000e0001: x", 13),
    ],
    ids=["plain", "tabs", "wide", "combining", "end", "escape", "bidi", "no-break space", "tag"],
)
def test_the_caret_stands_where_the_terminal_shows_the_column(source, column, line, indent):
    assert shown(source, column) == [f"    {line}", f"    {' ' * indent}^"]


@pytest.mark.parametrize(
    ("column", "start", "stop"),
    [(1, 0, 96), (49, 0, 96), (50, 1, 97), (500, 451, 547), (975, 904, 1000), (1001, 904, 1000)],
)
def test_a_long_line_is_cut_around_the_column(column, start, stop):
    source = "".join(chr(ord("a") + i % 26) for i in range(1000))
    line, caret = shown(source, column)
    assert line == f"    {'…' * (start > 0)}{source[start:stop]}{'…' * (stop < 1000)}"
    assert line[caret.index("^") :][:1] == source[column - 1 : column]


def test_a_long_line_of_wide_characters_stays_within_its_width():
    line, caret = shown("注" * 1000, 500)
    assert line == f"    …{'注' * 48}…"
    assert caret == f"    {' ' * 49}^"


def test_messages_cannot_steer_a_terminal_either():
    assert render(Problem("x", "\x1b]0;title\x07", "\r\x9b", "\u2066")) == (
        "error: \\x1b]0;title\\x07\n  expected: \\r\\x9b\n  hint: \\u2066"
    )


def test_an_error_says_all_it_knows_a_line_for_each_problem():
    error = InputError(
        Problem("x", "one", place=place("")), Problem("y", "two", "three"), Problem("z", "four", "5", "6")
    )
    assert str(error) == "case.yaml:3:1: one\ntwo, expected three\nfour, expected 5 (6)"
    assert (error.exit_code, isinstance(error, ValueError)) == (ExitCode.BAD_INPUT, True)


def test_a_located_error_is_another_one_of_the_same_kind():
    error = InputError(Problem("x", "one", path=("Q",)))
    there = error.located(lambda path: place(path[0]))
    assert (type(there), there.problems[0].place, error.problems[0].place) == (InputError, place("Q"), None)


@pytest.mark.parametrize("travel", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_can_travel_between_processes(travel):
    error = travel(SdpaError(Problem("x", "one", place=place("")), Problem("y", "two")))
    assert [problem.message for problem in error.problems] == ["one", "two"]
