"""What each kind of check of code says about a submission that fails it."""

from contextlib import closing

import numpy as np
import pytest
from grading.items import item, keys
from submissions.faults import LINES, source

from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.kinds.values import ValueRule
from sdpa_cli.grading.report import Message, Status
from sdpa_cli.grading.saying import speaker
from sdpa_cli.sandbox import Sandbox

RIGHT = source({})


def changed(**lines):
    return source({name: lines[name] for name in lines})


FAILS = {
    "returns only the output": (RIGHT.replace("return O, A", "return O"), "example", "return.count"),
    "returns nothing": (RIGHT.replace("return O, A", "return"), "example", "return.kind"),
    "returns a dict": (RIGHT.replace("return O, A", "return {'O': O}"), "example", "return.kind"),
    "returns complex numbers": (RIGHT.replace("return O, A", "return O + 0j, A"), "example", "return.kind"),
    "returns objects": (RIGHT.replace("return O, A", "return O.astype(object), A"), "example", "return.kind"),
    "returns lists of lists": (RIGHT.replace("return O, A", "return O.tolist(), A"), "example", "return.kind"),
    "swaps the two": (RIGHT.replace("return O, A", "return A, O"), "example", "return.swapped"),
    "returns a scalar": (RIGHT.replace("return O, A", "return O.sum(), A"), "example", "return.shape"),
    "a shape that would broadcast": (RIGHT.replace("return O, A", "return O[:, :1], A"), "example", "return.shape"),
    "returns NaN": (RIGHT.replace("return O, A", "return O * np.nan, A"), "example", "value.differs"),
    "raises": (changed(scores="raise RuntimeError('no idea')"), "example", "call.raised-at"),
    "no such parameter": (
        RIGHT.replace("mask=None", "M=None").replace("mask is None", "M is None").replace("else mask", "else M"),
        "example-causal",
        "call.raised",
    ),
    "no such function": (RIGHT.replace("def attention", "def attend"), "example", "call.missing"),
    "imports what is not there": ("import torch\n" + RIGHT, "loads", "file.does-not-load"),
    "ends the program": (changed(scores="raise SystemExit"), "example", "call.exited"),
    "hides every NaN in V": (changed(seen="V0 = np.nan_to_num(V)"), "poison", "value.hides-nan"),
    "hides every NaN in the scores": (
        RIGHT.replace("    S = Q @ np.swapaxes(K, -1, -2)", "    S = np.nan_to_num(Q @ np.swapaxes(K, -1, -2))"),
        "poison",
        "value.hides-nan",
    ),
    "hides every NaN in what it returns": (
        RIGHT.replace("return O, A", "return np.nan_to_num(O), np.nan_to_num(A)"),
        "poison",
        "value.hides-nan",
    ),
    "lets a forbidden NaN through": (changed(seen="V0 = V"), "poison", "value.differs"),
    "takes an empty row": (changed(check=""), "empty-row", "raises.returned-forbidden"),
    "refuses an empty row otherwise": (
        changed(check="if M.all(axis=-1).any(): raise KeyError('row')"),
        "empty-row",
        "raises.other",
    ),
    "takes keys of another length": (
        changed(scores="S = Q[:, :K.shape[1]] @ K.T if Q.ndim == 2 else Q @ np.swapaxes(K, -1, -2)"),
        "shape-of-keys",
        "raises.returned-key-column",
    ),
    "takes fewer values": (
        changed(seen="V0 = V", output="O = A[..., :len(V0)] @ V0 if V0.ndim == 2 else A @ V0"),
        "shape-of-values",
        "raises.returned-value-row",
    ),
    "small leak": (changed(finish="A = np.where(M, 1e-7, A)"), "exact-zeros", "law.zero-weights"),
    "rows that do not sum to 1": (changed(finish="A = A * 1.00005"), "row-sums", "law.row-sums"),
    "changes its input": (
        changed(scale="Q *= 1; Q[...] = 0; S = S / np.sqrt(Q.shape[-1])"),
        "inputs",
        "law.inputs-unchanged",
    ),
    "remembers": (
        "seen = set()\n"
        + changed(output="key = Q.tobytes() + M.tobytes(); O = A @ V0 + 1e-3 * (key in seen); seen.add(key)"),
        "repeatable",
        "law.repeatable",
    ),
    "looks at the position": (
        changed(scale="S = S / np.sqrt(Q.shape[-1]) + np.arange(S.shape[-1]) * (S.shape[-2:] == (2, 3))"),
        "permutation",
        "law.key-permutation",
    ),
    "knows no batch": (RIGHT.replace("np.swapaxes(K, -1, -2)", "K.T"), "batch", "call.raised-at"),
}


@pytest.mark.parametrize(("text", "check", "key"), FAILS.values(), ids=FAILS)
def test_a_failed_check_says_why(graded, text, check, key):
    found = item(graded("F3", {"attention.py": text}), check)
    assert found.status is Status.FAILED
    assert key in keys(found)
    assert found.earned == 0


@pytest.mark.parametrize(
    ("law", "check", "name", "line"),
    [
        ("shift", "shift", "mask", "L = np.where(M, -np.inf, S * np.abs(S))"),
        ("linearity", "linearity", "output", "O = A @ V0 ** 2"),
        ("output-range", "range", "output", "O = A @ V0 * 1.5"),
        ("future", "future", "output", "O = A @ V0 + V0[-1]"),
        ("key-permutation", "permutation", "output", "O = A @ V0 + V0[0]"),
    ],
    ids=["shift", "linearity", "range", "future", "permutation"],
)
def test_a_law_is_broken_without_any_answer_key(graded, law, check, name, line):
    # The two-token example must pass, or the law is not tried: so the fault shows on larger inputs only.
    text = changed(**{name: f"{line} if K.shape[0] > 2 else {LINES[name].split(' = ')[1]}"})
    found = item(graded("F3", {"attention.py": text}), check)
    assert (found.status, keys(found)) == (Status.FAILED, [f"law.{law}"])


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("if np.isnan(S[~M]).any() or np.isnan(V0).any(): raise ValueError('NaN')", Status.PASSED),
        ("if np.isnan(S[~M]).any() or np.isnan(V0).any(): raise KeyError('NaN')", Status.FAILED),
        ("if np.isnan(V).any(): raise ValueError('NaN')", Status.FAILED),
    ],
    ids=["refused", "refused otherwise", "refused although it is forbidden"],
)
def test_a_nan_that_counts_may_be_refused(graded, line, status):
    text = RIGHT.replace("    L = np.where", f"    {line}\n    L = np.where")
    assert item(graded("F3", {"attention.py": text}), "poison").status is status


@pytest.mark.parametrize("check", ["repeatable", "permutation", "shift", "linearity", "future"])
def test_a_law_says_of_nan_that_it_is_nan(graded, check):
    found = item(graded("F3", {"attention.py": changed(output="O = A @ V0 * np.nan")}, only=(check,)), check)
    assert speaker("en").say(found.finding.messages[0]) == (
        "output[1,1] is NaN; what is computed of finite numbers must be finite"
    )


def test_a_second_call_that_raises_is_told_as_such(graded):
    text = "seen = set()\n" + changed(output="O = A @ V0; assert Q.tobytes() not in seen; seen.add(Q.tobytes())")
    found = item(graded("F3", {"attention.py": text}, only=("row-sums", "repeatable")), "repeatable")
    assert keys(found) == ["call.raised-at"]


def test_a_check_that_needs_another_says_which(graded):
    report = graded("F3", {"attention.py": changed(normalise="A = P")})
    found = item(report, "shape-of-values")
    assert found.status is Status.SKIPPED
    assert found.finding.messages[0].values["needs"] == ("row-sums",)


def test_checks_with_commas_in_their_titles_are_told_apart(exercise):
    message = Message("skipped.needs", {"needs": ("bias", "all", "inputs")})
    assert speaker("en", exercise("X1")).say(message) == (
        "not tried; first needed: an additive bias; heads, softcap and masks together; inputs are left as they were"
    )


def test_only_some_checks_and_what_they_need(graded):
    report = graded("F3", {"attention.py": RIGHT}, only=("exact-zeros",))
    assert [one.check for one in report.items] == ["row-sums", "exact-zeros"]
    assert report.complete


@pytest.mark.parametrize(
    ("data", "key", "said"),
    [
        (None, "file.missing", "attention.py"),
        (b"def attention(:\n", "file.does-not-load", "SyntaxError"),
        (b"x = 1\n\xe9 = 2\n", "file.does-not-load", "byte 1 of the line, 0xE9"),
        (b"\xff\xfed\0e\0f\0", "file.does-not-load", "UTF-16"),
        (b"a = 1\nb = '\0'\n", "file.does-not-load", "byte 6 of the line"),
        (b"import torch\n", "file.does-not-load", "ModuleNotFoundError"),
        (b"1 / 0\n", "file.does-not-load", "ZeroDivisionError"),
        (b"raise SystemExit(0)\n", "file.does-not-load", "ended the whole program"),
        (b"while True: pass\n", "file.does-not-load", "no answer after"),
    ],
    ids=["missing", "syntax", "latin-1", "utf-16", "nul", "torch", "raises", "exits", "loops"],
)
def test_a_file_that_cannot_be_loaded_says_why_and_all_of_code_is_skipped(graded, data, key, said):
    files = {} if data is None else {"attention.py": data}
    report = graded("F3", files, seconds=0.5)
    found = report.items[0]
    assert (found.check, keys(found)) == ("loads", [key])
    assert said in speaker("en").say(found.finding.messages[0])
    assert item(report, "example").status is Status.SKIPPED
    assert report.points == 0


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + RIGHT.encode(),
        RIGHT.replace("\n", "\r\n").encode(),
        RIGHT.replace("\n", "\r").encode(),
        ("# -*- coding: iso-8859-2 -*-\n# \u0151r\u00fclt\n" + RIGHT).encode("iso-8859-2"),
        ("# őrült\n" + RIGHT).encode(),
    ],
    ids=["bom", "crlf", "cr", "latin-2", "utf-8"],
)
def test_every_encoding_that_python_accepts_is_accepted(graded, data):
    assert item(graded("F3", {"attention.py": data}, only=("example",)), "example").status is Status.PASSED


COUNTING = "n = 0\ndef attention(Q, K, V, mask=None):\n    global n\n    n += 1\n    return n + 0 * Q, Q\n"


def test_what_is_asked_after_a_hidden_case_can_tell_nothing_of_it(box, exercise):
    """A diagnosis is shown: neither a hidden case's numbers nor a process that has seen them may have a part in it."""
    cases = [case for check in exercise("F3").checks for case in getattr(check.rule, "cases", ())][:3]
    with closing(Attempt(exercise("F3"), HandedIn({"attention.py": COUNTING.encode()}), box, seed=1)) as attempt:
        attempt.observe(cases[0])
        attempt.show_hidden()
        attempt.observe(cases[1])
        attempt.forget_hidden()
        attempt.observe(cases[2])
    assert [call.case for call in attempt.calls] == [cases[0], cases[2]]
    assert [np.unique(call.outcome.value[0]).tolist() for call in attempt.calls] == [[1.0], [1.0]]


@pytest.mark.parametrize(("hurried", "processes"), [(False, 2), (True, 1)], ids=["at leisure", "hurried"])
def test_a_timeout_is_waited_for_again_unless_all_is_graded_again(graded, monkeypatch, hurried, processes):
    opened = []
    really = Sandbox.open
    monkeypatch.setattr(Sandbox, "open", lambda *args, **more: opened.append(args) or really(*args, **more))
    endless = "def attention(Q, K, V, mask=None):\n    while True: pass\n"
    report = graded("F3", {"attention.py": endless}, seconds=0.2, only=("example",), hurried=hurried)
    assert keys(item(report, "example")) == ["call.timeout"]
    assert len(opened) == processes


def test_hidden_cases_wait_for_a_seed_and_then_count(graded):
    waiting = item(graded("F3", {"attention.py": RIGHT}), "hidden")
    assert (waiting.status, waiting.earned, keys(waiting)) == (Status.OPEN, 0, ["hidden.later"])
    assert item(graded("F3", {"attention.py": RIGHT}, seed=1), "hidden").status is Status.PASSED
    wrong = item(graded("F3", {"attention.py": changed(scale="S = S / np.sqrt(V.shape[-1])")}, seed=1), "hidden")
    assert wrong.status is Status.FAILED


def test_what_the_code_prints_is_kept_apart(graded):
    report = graded("F3", {"attention.py": "print('[red]hello[/red] \x1b[31m')\n" + RIGHT})
    assert report.printed == "[red]hello[/red] \N{REPLACEMENT CHARACTER}[31m\n"
    assert all("hello" not in str(one.finding.messages) for one in report.items)


def test_the_tool_s_own_failure_costs_no_points_and_is_no_pass(graded, monkeypatch):
    def broken(self, attempt):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(ValueRule, "judge", broken)
    report = graded("F3", {"attention.py": RIGHT}, only=("example",))
    assert (report.items[0].status, report.broken) == (Status.ERROR, True)


WEIRD = [
    "np.float64(1), np.float64(2)",
    "np.zeros(0), np.zeros(0)",
    "np.zeros((0, 3)), np.zeros((3, 0))",
    "O[..., None], A[None]",
    "O.astype(np.float16), A.astype(np.float16)",
    "np.ones(O.shape, int), np.ones(A.shape, np.uint8)",
    "O * 1e308, A * 1e308",
    "np.full_like(O, np.nan), np.full_like(A, np.inf)",
    "O.T, A.T",
    "O[:1], A[:1]",
    "np.zeros((2,) * 8), A",
    "(O, A), A",
    "'O', None",
]


@pytest.mark.parametrize("value", WEIRD)
def test_whatever_comes_back_is_the_submission_s_failure_and_never_the_tool_s(graded, value):
    # The first checks pass, so that all the others have to do with what is weird.
    text = RIGHT.replace("return O, A", f"return (O, A) if len(K) < 3 or Q.shape == (2, 2) else ({value})")
    report = graded("F3", {"attention.py": text}, seed=1)
    assert not report.broken
    assert not report.complete


ENDINGS = {
    "an exit": ("raise SystemExit", "attention ended the whole program (SystemExit); return the result instead"),
    "an exit by a kind of it": (
        "raise type('Bye', (SystemExit,), {})",
        "attention ended the whole program (SystemExit); return the result instead",
    ),
    "no message": ("raise MemoryError", "attention raised MemoryError (at attention.py:8)"),
    "a library": (
        "import torch",
        "attention raised ModuleNotFoundError: No module named 'torch' (at attention.py:8); only NumPy, Python's own "
        "library and the files that are handed in can be imported",
    ),
}


@pytest.mark.parametrize(("line", "said"), ENDINGS.values(), ids=ENDINGS)
def test_how_a_call_ended_is_a_whole_sentence(graded, line, said):
    found = item(graded("F3", {"attention.py": changed(scores=line)}, only=("example",)), "example")
    assert speaker("en").say(found.finding.messages[0]) == said


@pytest.mark.parametrize("base", ["ValueError", "np.linalg.LinAlgError"])
def test_an_exception_of_one_s_own_that_is_a_value_error_is_right(graded, base):
    text = RIGHT.replace("\n\n\ndef", f"\n\n\nclass EmptyRow({base}):\n    pass\n\n\ndef", 1)
    text = text.replace("raise ValueError(", "raise EmptyRow(")
    assert "raise EmptyRow(" in text
    report = graded("F3", {"attention.py": text}, only=("empty-row",))
    assert item(report, "empty-row").status is Status.PASSED


NO_ROUNDING = {
    "a constant in the normaliser": changed(normalise="A = P / (P.sum(axis=-1, keepdims=True) + 1e-3)"),
    "noise in a column of zeros": changed(output="O = A @ V0 + 5e-4"),
}


@pytest.mark.parametrize("text", NO_ROUNDING.values(), ids=NO_ROUNDING)
def test_a_small_error_that_rounding_cannot_make_is_not_called_rounding(graded, text):
    found = item(graded("F3", {"attention.py": text}, only=("example",)), "example")
    assert found.status is Status.FAILED
    assert not {"reading.float16", "reading.float32"} & set(keys(found))
