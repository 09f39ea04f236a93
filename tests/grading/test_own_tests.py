"""A student's tests: accepted by the right function, and measured by the faults that they catch."""

import pytest
from grading.items import SOLUTIONS, item, keys
from submissions.faults import source

from sdpa_cli.grading.report import Status
from sdpa_cli.grading.saying import speaker

HEAD = """
import numpy as np
import pytest
from attention import attention
Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 1.0], [2.0, 0.0]])
V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
M = np.array([[False, True], [False, False]])
"""
VALUES = "def test_values():\n    assert np.allclose(attention(Q, K, V)[1][0], [0.3302, 0.6698], atol=1e-4)\n"
SUMS = "def test_sums():\n    assert np.allclose(attention(Q, K, V, mask=M)[1].sum(-1), 1)\n"
ZEROS = "def test_zeros():\n    assert attention(Q, K, V, mask=M)[1][0, 1] == 0\n"
RAISES = (
    "def test_raises():\n    with pytest.raises(ValueError):\n        attention(Q, K, V, mask=np.ones((2, 2), bool))\n"
)


@pytest.mark.parametrize(
    ("tests", "slipped"),
    [
        (VALUES, ["mask-after-softmax", "mask-ignored", "empty-row-unnoticed"]),
        (SUMS, ["no-scale", "mask-ignored", "empty-row-unnoticed"]),
        (VALUES + SUMS, ["mask-ignored", "empty-row-unnoticed"]),
        (VALUES + SUMS + ZEROS, ["empty-row-unnoticed"]),
        (VALUES + SUMS + ZEROS + RAISES, []),
    ],
    ids=["values", "sums", "two", "three", "four"],
)
def test_what_slips_through_is_said_and_costs(graded, tests, slipped):
    found = item(graded("F3", {"test_attention.py": HEAD + tests}, solved=True), "own-test")
    assert found.earned == 4 * (1 - len(slipped) / 4)
    if slipped:
        assert found.finding.messages[0].values["faults"] == ", ".join(slipped)
    else:
        assert keys(found) == ["tests.caught"]
    # It is the tests that miss a fault; the function makes none.
    assert found.finding.fault is None


UNUSABLE = {
    "no test": ("x = 1", "tests.none"),
    "calls nothing": ("def test_a():\n    assert 1 + 1 == 2", "tests.call-nothing"),
    "always fails": ("def test_a():\n    attention(Q, K, V)\n    assert False", "tests.refuse-right"),
    "wrong numbers": ("def test_a():\n    assert attention(Q, K, V)[0][0, 0] == 1", "tests.refuse-right"),
    "does not load": ("import torch", "tests.not-loaded"),
    "ends the process": ("def test_a():\n    import os; os._exit(0)", "tests.refuse-right"),
    "a mask of the wrong shape": ("def test_a():\n    attention(Q, K, V, mask=np.ones(3, bool))", "tests.refuse-right"),
    "too large": ("def test_a():\n    x = np.ones((4000, 2)); attention(x, x, x)", "tests.refuse-right"),
    "too many cells": ("def test_a():\n    x = np.ones((600, 2)); attention(x, x, x)", "tests.refuse-right"),
    "no arrays at all": ("def test_a():\n    attention('a', {}, None)", "tests.refuse-right"),
}


@pytest.mark.parametrize(("tests", "key"), UNUSABLE.values(), ids=UNUSABLE)
def test_tests_that_cannot_be_used_say_why(graded, tests, key):
    found = item(graded("F3", {"test_attention.py": HEAD + tests}, solved=True), "own-test")
    assert (found.earned, keys(found)) == (0, [key])


ON_A_RIGHT_FUNCTION = {
    "an exception": (
        "attention(Q, K, V); assert False",
        "test_a fails on a right function (test_attention.py:10): AssertionError",
    ),
    "more numbers than a call may have": (
        "x = np.ones((1500, 2)); attention(x, x, x)",
        "test_a fails on a right function (test_attention.py:10): "
        "ValueError: a test may send at most 8192 numbers in one call; these are 9000",
    ),
    "more than fits into a call": (
        "x = np.ones((4000, 2)); attention(x, x, x)",
        "test_a fails on a right function (test_attention.py:10): "
        "ValueError: a test may send at most 128 KiB in one call; this is more",
    ),
    "the end of the process": (
        "import os; os._exit(3)",
        "test_a fails on a right function (test_attention.py): "
        "test_a ended the whole program (exit status 3); return the result instead",
    ),
}


@pytest.mark.parametrize(("body", "words"), ON_A_RIGHT_FUNCTION.values(), ids=ON_A_RIGHT_FUNCTION)
def test_how_a_test_ended_on_a_right_function_is_said_in_words(graded, body, words):
    files = {"test_attention.py": HEAD + f"def test_a():\n    {body}"}
    (message,) = item(graded("F3", files, solved=True), "own-test").finding.messages
    assert speaker("en").say(message) == words


def test_a_failing_test_is_named_with_its_line(graded):
    found = item(
        graded(
            "F3", {"test_attention.py": HEAD + "def test_a():\n    attention(Q, K, V)\n    assert False"}, solved=True
        ),
        "own-test",
    )
    values = found.finding.messages[0].values
    assert (values["test"], values["place"], values["error"]) == ("test_a", "test_attention.py:11", "AssertionError")


def test_the_tests_do_not_need_a_function_that_loads(graded):
    report = graded("F3", {"attention.py": "def attention(:"}, solved=True)
    assert item(report, "own-test").status is Status.PASSED


def test_tests_may_use_what_else_is_in_the_function_s_file(graded):
    helper = source({}) + "\n\ndef row_sums(A):\n    return A.sum(axis=-1)\n"
    tests = "from attention import attention, row_sums\n" + HEAD + VALUES + ZEROS + RAISES
    tests += "def test_sums():\n    assert np.allclose(row_sums(attention(Q, K, V, mask=M)[1]), 1)\n"
    report = graded("F3", {"attention.py": helper, "test_attention.py": tests}, solved=True)
    assert item(report, "own-test").status is Status.PASSED


def test_the_course_s_fault_is_what_f4_asks_to_catch(graded):
    given = (SOLUTIONS.parent / "exercises" / "F4" / "starter" / "test_attention.py").read_text()
    found = item(graded("F4", {"test_attention.py": given}, solved=True), "own-check")
    assert found.finding.messages[0].values["faults"] == "mask-after-softmax"
