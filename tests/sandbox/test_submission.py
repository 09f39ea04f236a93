"""Submissions that mean well: what they return, print, raise and change arrives as it was."""

# ruff: noqa: E501 # a submission in a table is one line

import numpy as np
import pytest

from sdpa_cli.sandbox import Kind, Level, Limits, Sandbox, Start
from sdpa_cli.sandbox.inside.wire import Opaque

KINDS = [pytest.param((None, None), id="best"), pytest.param((Level.L0, Start.FRESH), id="fresh")]


@pytest.fixture(scope="module", params=KINDS)
def box(request):
    with Sandbox(*request.param) as made:
        yield made


@pytest.fixture(scope="module")
def best():
    with Sandbox() as made:
        yield made


ATTENTION = b"""
import numpy as np

def attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k: {Q.shape[-1]} and {K.shape[-1]}")
    S = Q @ K.T / np.sqrt(K.shape[-1])
    if mask is not None:
        S = np.where(mask, -np.inf, S)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    return A @ V, A
"""


def test_a_right_attention_gives_the_right_arrays(box):
    eye, v = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]])
    with box.open(ATTENTION) as submission:
        assert submission.load.kind is Kind.RETURNED
        plain = submission.call("attention", (eye, eye, v))
        causal = submission.call("attention", (eye, eye, v), {"mask": np.array([[False, True], [False, False]])})
    output, weights = plain.arrays
    np.testing.assert_allclose(weights, [[0.669762, 0.330238], [0.330238, 0.669762]], atol=1e-6)
    np.testing.assert_allclose(output, [[1.660477, 2.660477], [2.339523, 3.339523]], atol=1e-6)
    np.testing.assert_allclose(causal.arrays[0], [[1, 2], [2.339523, 3.339523]], atol=1e-6)
    assert causal.changed == ()


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param("return None", None, id="nothing"),
        pytest.param("return 2, 'x', [True, 1.5]", (2, "x", [True, 1.5]), id="a structure"),
        pytest.param("return {}", Opaque("dict"), id="a dictionary"),
        pytest.param("return np.zeros(2) * 1j", Opaque("ndarray(dtype=complex128, shape=(2,))"), id="complex"),
        pytest.param("return '\\x1b[31m\\u202e\\ud800'", "\ufffd[31m\ufffd\\ud800", id="text is cleaned"),
        pytest.param("return type('\\x1b\\n', (), {})()", Opaque("\ufffd\n"), id="names are, too"),
        pytest.param(
            "class Equal:\n        def __eq__(self, other): return True\n    return Equal()",
            Opaque("Equal"),
            id="equal to all",
        ),
    ],
)
def test_what_is_returned(best, body, value):
    with best.open(f"import numpy as np\ndef f():\n    {body}\n".encode(), "f.py") as submission:
        assert submission.call("f").value == value


@pytest.mark.parametrize(
    ("body", "dtype", "shape"),
    [
        pytest.param("np.float16([1, np.nan])", "float16", (2,), id="float16 and NaN"),
        pytest.param("np.ones((2, 0))", "float64", (2, 0), id="empty"),
        pytest.param("np.float32(3)", "float32", (), id="a NumPy scalar"),
        pytest.param("np.arange(4).reshape(2, 2).T", "int64", (2, 2), id="transposed"),
        pytest.param("np.ma.masked_all(3, dtype=bool)", "bool", (3,), id="masked"),
    ],
)
def test_arrays_that_are_returned(best, body, dtype, shape):
    with best.open(f"import numpy as np\ndef f(): return {body}\n".encode(), "f.py") as submission:
        (array,) = submission.call("f").arrays
    assert (type(array), array.dtype, array.shape) == (np.ndarray, dtype, shape)


def test_arrays_is_none_when_something_else_is_among_them(best):
    with best.open(b"import numpy as np\ndef f(): return np.ones(1), 2\n", "f.py") as submission:
        assert submission.call("f").arrays is None


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        pytest.param("Q[0] = 7", (0,), id="written"),
        pytest.param("K *= 2; V += 1", (1, "V"), id="in place"),
        pytest.param("Q.shape = (4,)", (0,), id="reshaped"),
        pytest.param("Q[0] = np.nan", (0,), id="poisoned"),
        pytest.param("return Q", (), id="returned"),
        pytest.param("Q = Q + 1", (), id="copied"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_inputs_changed_in_place_are_named(best, body, changed):
    q = np.array([[1.0, 2.0], [3.0, np.nan]])
    with best.open(f"import numpy as np\ndef f(Q, K, V):\n    {body}\n".encode(), "f.py") as submission:
        assert submission.call("f", (q, q), {"V": q}).changed == changed
        assert submission.call("f", (q, q), {"V": q}).changed == changed, "each call gets the inputs as they were"
    assert q.tolist()[0] == [1.0, 2.0]


def test_what_is_printed_is_kept_apart_and_comes_even_before_a_hang(box):
    source = b"""
import sys
print("loading")
def f(): print("out"); print("err\\x1b", file=sys.stderr)
def hang():
    print("so far")
    while True: pass
"""
    with box.open(source, "f.py", Limits(call_seconds=3)) as submission:
        assert submission.load.printed == "loading\n"
        assert submission.call("f").printed == "out\nerr\ufffd\n"
        assert submission.call("f").printed == "out\nerr\ufffd\n"
        hung = submission.call("hang")
        assert (hung.kind, hung.printed, hung.detail) == (Kind.TIMEOUT, "so far\n", "no answer after 3 s")
        assert submission.call("f").kind is Kind.GONE


def test_long_prints_are_cut(best):
    with best.open(b"def f(): print('x' * 5000)", "f.py", Limits(shown_bytes=100)) as submission:
        assert submission.call("f").printed == "x" * 100


@pytest.mark.parametrize(
    ("source", "error"),
    [
        pytest.param("def f():\n\n    1 / 0", ("ZeroDivisionError", "division by zero", "f.py", 3), id="in the call"),
        pytest.param("def f(): g()\ndef g(): [].pop()", ("IndexError", "pop from empty list", "f.py", 2), id="deeper"),
        pytest.param("import json\ndef f(): json.loads('{')", ("JSONDecodeError", None, "f.py", 2), id="in a library"),
        pytest.param("x = 1\nboom", ("NameError", "name 'boom' is not defined", "f.py", 2), id="at import"),
        pytest.param("x = 1\ny = (", ("SyntaxError", "'(' was never closed", "f.py", 2), id="syntax"),
        pytest.param("def f():\nreturn", ("IndentationError", None, "f.py", 2), id="indentation"),
        pytest.param(
            "def f(a): pass",
            ("TypeError", "f() missing 1 required positional argument: 'a'", None, None),
            id="signature",
        ),
        pytest.param(
            "def f(): raise ValueError('\\x1b[2J\\u202e' + 'x' * 9999)",
            ("ValueError", None, "f.py", 1),
            id="a long and coloured message",
        ),
        pytest.param("import scipy", ("ModuleNotFoundError", "No module named 'scipy'", "f.py", 1), id="not there"),
    ],
)
def test_what_is_raised_comes_with_its_line(best, source, error):
    with best.open(source.encode(), "f.py") as submission:
        outcome = submission.load if submission.load.kind is Kind.RAISED else submission.call("f")
    assert outcome.kind is Kind.RAISED
    fault = outcome.error
    assert (fault.type, fault.message if error[1] else None, fault.file, fault.line) == error
    assert len(fault.message) <= 501
    assert "\x1b" not in fault.message


@pytest.mark.parametrize(
    "value", [np.zeros(1, complex), object(), {}, [[[[[[1]]]]]]], ids=["complex", "object", "dict", "deep"]
)
def test_what_cannot_be_sent_is_refused(best, value):
    with best.open(b"def f(x): pass", "f.py") as submission, pytest.raises(TypeError, match="cannot be sent"):
        submission.call("f", (value,))


def test_a_function_that_is_not_there(best):
    with best.open(b"attention = 3", "f.py") as submission:
        assert submission.call("attention").kind is Kind.MISSING
        assert submission.call("attentoin").kind is Kind.MISSING
        assert submission.call("__builtins__.eval").kind is Kind.MISSING


GREETING = "x = 'ő'\ndef f(): return x\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(GREETING.encode(), id="UTF-8"),
        pytest.param(b"\xef\xbb\xbf" + GREETING.encode(), id="byte order mark"),
        pytest.param(GREETING.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(GREETING.replace("\n", "\r").encode(), id="CR"),
        pytest.param(b"# -*- coding: iso-8859-2 -*-\n" + GREETING.encode("iso-8859-2"), id="Latin-2, said"),
        pytest.param(
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1250 :\n" + GREETING.encode("cp1250"),
            id="cp1250, said in line 2",
        ),
        pytest.param(GREETING.removesuffix("\n").encode(), id="no last newline"),
    ],
)
def test_every_encoding_that_python_accepts_is_accepted(best, source):
    with best.open(source, "f.py") as submission:
        assert submission.call("f").value == "ő", submission.load


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        pytest.param(
            b"x = 1\r\ny = '\xf5'\r\n",
            2,
            "byte 6 of the line, 0xF5, is not utf-8; save the file as UTF-8, or name its encoding in line 1: # -*- coding: … -*-",
            id="Latin-2, not said",
        ),
        pytest.param(b"# \xf5", 1, "byte 3 of the line, 0xF5, is not utf-8; save the file as UTF-8", id="in line 1"),
        pytest.param("x = 1".encode("utf-16"), 1, "the file is saved as UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param(b"x = 1\n\n  \0", 3, "byte 3 of the line, 0x00, is no text", id="NUL"),
        pytest.param(b"# coding: klingon\n", 1, "unknown encoding: klingon", id="an unknown encoding"),
        pytest.param(
            b"# coding: ascii\nx = '\xf5'",
            2,
            "byte 6 of the line, 0xF5, is not ascii; save the file as UTF-8, or name its encoding in line 1: # -*- coding: … -*-",
            id="another than was said",
        ),
    ],
)
def test_other_bytes_are_reported_with_line_and_byte(best, source, line, message):
    with best.open(source, "f.py") as submission:
        error = submission.load.error
    assert (error.type, error.line, error.message) == ("SyntaxError", line, message)


def test_files_import_one_another(best):
    files = {
        "main.py": b"import helper\nfrom helper import two\ndef f(): return two() + helper.bad()",
        "helper.py": b"def two(): return 2\ndef bad(): return 1 / 0",
    }
    with best.open(files) as submission:
        error = submission.call("f").error
    assert (error.file, error.line) == ("helper.py", 2)


@pytest.mark.parametrize("name", ["../a.py", "a b.py", "class.py", "a.txt", "a", "", "a.b.py", "a.py\n"])
def test_a_name_that_is_no_module_is_refused(best, name):
    with pytest.raises(ValueError, match="cannot be a module's file"):
        best.open(b"", name)


def test_the_same_submission_has_the_same_outcome(best):
    source = b"import random, numpy as np\ndef f(): return random.random(), np.random.rand(), hash('x')"
    values = []
    for _ in range(2):
        with best.open(source, "f.py") as submission:
            values.append(submission.call("f").value)
    assert values[0] == values[1]


def test_a_submission_has_time_for_all_its_calls_together(best):
    source = b"import time\ndef f(): time.sleep(0.8)"
    with best.open(source, "f.py", Limits(call_seconds=10, submission_seconds=1.5)) as submission:
        assert [submission.call("f").kind for _ in range(3)] == [Kind.RETURNED, Kind.TIMEOUT, Kind.GONE]


def test_processor_time_is_limited(best):
    limits = Limits(call_seconds=20, cpu_seconds=1)
    with best.open(b"def f():\n    while True: pass", "f.py", limits) as submission:
        outcome = submission.call("f")
    assert (outcome.kind, outcome.detail) == (Kind.TIMEOUT, "more than 1 s of processor time")


@pytest.mark.parametrize(
    ("number", "detail"), [pytest.param(15, "signal SIGTERM", id="named"), pytest.param(40, "signal 40", id="nameless")]
)
@pytest.mark.parametrize("start", Start)
def test_any_signal_ends_a_submission_and_not_the_tool(start, number, detail):
    source = f"import os\ndef f(): os.kill(os.getpid(), {number})".encode()
    with Sandbox(Level.L0, start) as box, box.open(source, "f.py") as submission:
        outcome = submission.call("f")
    assert (outcome.kind, outcome.detail) == (Kind.CRASHED, detail)


def test_a_submission_may_be_closed_twice_and_asked_no_more(best):
    submission = best.open(b"def f(): pass", "f.py")
    submission.close()
    submission.close()
    assert submission.call("f").kind is Kind.GONE
    assert submission.run_tests() == {}
