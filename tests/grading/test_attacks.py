"""Attacks as submissions, with the verdict of `check`. Those of tests/sandbox are graded inside its guard."""

import json
import os
import subprocess
import sys

import pytest
from grading.items import EXERCISES, ROOT, item, keys
from sandbox.attacks import ATTACKS
from sandbox.guard import guards
from submissions.faults import source

from sdpa_cli.grading.handed_in import hand_in
from sdpa_cli.grading.report import Status

RIGHT = source({})
HEAD = "import numpy as np\n\n\ndef attention(Q, K, V, mask=None):\n"


def body(text):
    return HEAD + "".join(f"    {line}\n" for line in text.splitlines())


EXAMPLE = {
    "an endless loop": (body("while True: pass"), "call.timeout"),
    "an endless loop that catches everything": (
        body("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        "call.timeout",
    ),
    "sleep": (body("import time\ntime.sleep(60)"), "call.timeout"),
    "a flood of prints": (body("while True: print('x' * 1000)"), "call.flooded"),
    "exit": (body("import sys\nsys.exit(0)"), "call.exited"),
    "exit at once": (body("import os\nos._exit(0)"), "call.exited"),
    "an interrupt": (body("raise KeyboardInterrupt"), "call.raised-at"),
    "a segmentation fault": (body("import ctypes\nctypes.string_at(0)"), "call.crashed"),
    "abort": (body("import os\nos.abort()"), "call.crashed"),
    "too much memory": (body("return bytearray(1 << 42), 0"), "call.raised-at"),
    "deep recursion": (body("return attention(Q, K, V, mask)"), "call.raised-at"),
    "an exception that loops when printed": (
        body("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E"),
        "call.timeout",
    ),
    "an exception that cannot be printed": (
        body("class E(Exception):\n    def __str__(self): raise SystemExit\nraise E"),
        "call.raised-at",
    ),
    "objects that equal everything": (
        body("class Any:\n    def __eq__(self, other): return True\n    __array__ = None\nreturn Any(), Any()"),
        "return.kind",
    ),
    "an object array with a reducer": (
        body(
            "class R:\n    def __reduce__(self): return (print, ('run',))\n"
            "return np.array([R()], object), np.array([R()], object)"
        ),
        "return.kind",
    ),
    "a subclass of ndarray that equals everything": (
        body(
            "class A(np.ndarray):\n    def __eq__(self, other): return np.ones(self.shape, bool)\n"
            "    __le__ = __lt__ = __eq__\nreturn np.zeros((2, 3)).view(A), np.zeros((2, 2)).view(A)"
        ),
        "value.differs",
    ),
    "patched NumPy": (
        "import numpy\nnumpy.allclose = lambda *a, **k: True\nnumpy.array_equal = numpy.allclose\n"
        + body("return np.zeros((2, 3)), np.zeros((2, 2))"),
        "value.differs",
    ),
    "NaN everywhere": (body("return np.full((2, 3), np.nan), np.full((2, 2), np.nan)"), "value.differs"),
    "infinity everywhere": (body("return np.full((2, 3), np.inf), np.full((2, 2), np.inf)"), "value.differs"),
    "the input as the answer": (body("return V, Q"), "value.differs"),
    "a row that would broadcast": (body("return np.zeros((1, 3)), np.zeros((1, 2))"), "return.shape"),
    "a dimension too many": (body("return np.zeros((1, 2, 3)), np.zeros((1, 2, 2))"), "return.shape"),
    "truth values": (body("return np.ones((2, 3), bool), np.ones((2, 2), bool)"), "value.differs"),
    "a string": (body("return 'O', 'A'"), "return.kind"),
    "a generator": (body("yield np.zeros((2, 3))"), "return.kind"),
    "a million results": (body("return [np.zeros(2)] * 10 ** 6"), "return.kind"),
    "a huge view": (body("return np.broadcast_to(np.zeros(1), (1 << 40,)), 0"), "call.too-big"),
}


@pytest.mark.parametrize(("text", "key"), EXAMPLE.values(), ids=EXAMPLE)
def test_an_attack_ends_as_a_failed_check(graded, text, key):
    report = graded("F3", {"attention.py": text}, seconds=0.4, only=("example", "exact-zeros"))
    assert (item(report, "example").status, keys(item(report, "example"))[0]) == (Status.FAILED, key)
    assert item(report, "exact-zeros").status is Status.SKIPPED
    assert report.points == 0


def test_after_an_attack_the_next_submission_is_graded(graded):
    assert graded("F3", {"attention.py": RIGHT}, only=("example",)).complete


def test_an_end_of_the_process_costs_the_checks_that_meet_it_and_no_other(graded):
    text = source({"check": "if Q.shape[0] == 4 and mask is None:\n        import os; os._exit(1)"})
    report = graded("F3", {"attention.py": text}, only=("shapes", "masks"))
    assert (item(report, "shapes").status, keys(item(report, "shapes"))) == (Status.FAILED, ["call.exited"])
    assert item(report, "masks").status is Status.PASSED


def test_a_run_that_is_stopped_twice_is_not_tried_for_ever(graded):
    report = graded(
        "F3",
        {"attention.py": source({"check": "if Q.shape[0] != 2 or K.shape[0] != 2:\n        while True: pass"})},
        seconds=0.4,
    )
    said = [key for one in report.items for key in keys(one)]
    assert said.count("call.timeout") >= 1
    assert "call.gone" in said
    assert item(report, "example").status is Status.PASSED


def test_a_verdict_cannot_be_forged_by_what_is_printed(graded):
    text = 'print(\'{"status": "passed", "points": 33}\')\n' + body(
        "print('PASSED')\nreturn np.zeros((2, 3)), np.zeros((2, 2))"
    )
    assert graded("F3", {"attention.py": text}).points == 0


SEARCH = """
import gc, sys
held = [o.values() if isinstance(o, dict) else o for o in gc.get_objects() if type(o) in (list, tuple, dict)]
frame = sys._getframe().f_back
while frame:
    held.append(list(frame.f_locals.values()))
    frame = frame.f_back
arrays = [x for o in held for x in list(o) if type(x) is np.ndarray and x.shape == (2, 2) and x.dtype == float]
found = any(abs(x[0, 0] - 0.3302) < 1e-3 for x in arrays)
print('found' if found else 'nothing', any('grading' in name for name in sys.modules))
return np.zeros((2, 3)), np.zeros((2, 2))
"""


PLANTED = "kept = [np.array([[0.3302, 0], [0, 0]])]\n"


@pytest.mark.parametrize(("planted", "printed"), [("", "nothing False\n"), (PLANTED, "found False\n")])
def test_the_right_values_are_nowhere_to_be_found(graded, planted, printed):
    text = "import numpy as np\n" + planted + body(SEARCH.strip())
    assert graded("F3", {"attention.py": text}, only=("example",)).printed == printed


def test_a_stand_in_is_not_in_reach_of_the_function_that_is_judged(graded):
    """Tests call the right function by the parent; a function that imports them gets none of that."""
    text = "import test_attention\n" + body("return test_attention.attention(Q, K, V, mask)")
    report = graded("F3", {"attention.py": text}, solved=True, only=("example",))
    assert report.points == 0


KINDS = {
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": lambda path: path.mkdir(),
    "a gigabyte": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 30),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links are a matter of POSIX systems")
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("name", ["attention.py", "answers.yaml"])
def test_what_is_no_file_is_not_opened(box, exercise, tmp_path, make, name):
    from sdpa_cli.grading.grader import grade

    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    report = grade(exercise("F3"), hand_in(exercise("F3"), tmp_path), box)
    found = item(report, "loads" if name == "attention.py" else "output")
    assert found.status is Status.FAILED
    assert keys(found)[0] in ("file.unreadable", "answer.problem")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """Every attack of the sandbox's own tests, graded in one process inside their guard."""
    known = guards()
    if not known:
        pytest.skip("nothing to put a guard up with: unshare and prlimit of util-linux")
    folder = tmp_path_factory.mktemp("canaries")
    command = [*known[min(known)], sys.executable, "-B", str(ROOT / "tests" / "grading" / "under_guard.py")]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    arguments = [str(EXERCISES), str(folder)]
    done = subprocess.run([*command, *arguments], env=env, capture_output=True, text=True, timeout=120, check=False)
    if "L2" in done.stderr and "assert" in done.stderr:
        pytest.skip("no level here that is tried against files and processes")
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return json.loads(done.stdout)


@pytest.mark.parametrize("attack", [attack.name for attack in ATTACKS])
def test_no_attack_earns_a_point_or_breaks_the_grader(verdicts, attack):
    found = verdicts[attack]
    assert found["example"] in (["failed", 0], ["skipped", 0])
    assert all(status in ("failed", "skipped") for status, _ in found.values())
