"""Whole classes, graded by the command: every standing as expected, killed and resumed, hostile, on a cluster."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from classroom.generated import (
    ALL,
    BROKEN,
    FAULTS,
    HARMLESS,
    RIGHTS,
    Kind,
    attack_kind,
    members,
    write_canvas,
    write_moodle,
    write_worksheet,
    wrong,
)
from sandbox.attacks import ATTACKS
from sandbox.guard import guards

from sdpa_cli.grading.library import own_exercises
from sdpa_cli.sandbox import Level
from sdpa_cli.sandbox.levels import candidates

pytestmark = pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading a class asks for L2, which is not here")
# One of each family; every attack has its own test beside the sandbox.
FEW_ATTACKS = {"loop in the call", "fork bomb", "os._exit at import", "print for ever", "a reply before the question",
               "patched built-ins", "read a neighbour", "kill everyone", "a huge array"}  # fmt: skip
HOSTILE = [attack_kind(attack) for attack in ATTACKS if attack.name in FEW_ATTACKS]
QUICK = [RIGHTS[0], *FAULTS[:5], BROKEN[0], BROKEN[7], RIGHTS[4], FAULTS[8]]


def laid_out(folder, kinds, count=0):
    people = members(kinds, count)
    write_moodle(folder / "export", people)
    write_worksheet(folder / "worksheet.csv", people)
    return people


def command(folder, *more, output="out", exercise="F3"):
    return ("grade", exercise, folder / "export", "--roster", folder / "worksheet.csv", "--seed", "secret word",
            "--output", folder / output, *more)  # fmt: skip


def report_in(folder, output="out"):
    return (folder / output / "F3" / "report.json").read_bytes()


@pytest.fixture(scope="module")
def graded(tmp_path_factory, sdpa):
    """A class with everything that is harmless, graded once."""
    folder = tmp_path_factory.mktemp("class")
    people = laid_out(folder, HARMLESS)
    done = sdpa(*command(folder))
    return folder, people, done


def test_everybody_stands_as_expected(graded):
    folder, people, done = graded
    assert (done.returncode, wrong(json.loads(report_in(folder)), people)) == (1, []), done.stderr
    assert any(person.kind.name == "missing" for person in people)


def test_a_log_gets_plain_lines(graded):
    _, people, done = graded
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"{len(people)} of {len(people)}, ")
    assert "\x1b" not in done.stderr


def test_the_same_command_again_grades_nobody_and_says_the_same(graded, sdpa):
    folder, people, done = graded
    before = report_in(folder)
    again = sdpa(*command(folder))
    assert (report_in(folder), again.stdout) == (before, done.stdout)
    assert again.stderr.startswith(f"{len(people)} of {len(people)}: ")


def test_the_secret_is_nowhere(graded):
    folder, _, _ = graded
    for path in (folder / "out").rglob("*"):
        assert path.is_dir() or b"secret word" not in path.read_bytes(), path


def test_a_canvas_export_is_the_same_class(graded, sdpa, tmp_path):
    folder, people, _ = graded
    flat = [
        person for person in people if not person.kind.special and not any("/" in name for name in person.kind.files)
    ]
    path = write_canvas(tmp_path / "canvas.zip", flat)
    done = sdpa("grade", "F3", path, "--seed", "secret word", "--output", tmp_path)
    report = json.loads((tmp_path / "F3" / "report.json").read_bytes())
    handed_in = [person for person in flat if person.kind.name != "missing"]
    assert (done.returncode, wrong(report, handed_in)) == (1, []), done.stderr
    moodle = {one["ids"][0]: one["points"] for one in json.loads(report_in(folder))["submissions"]}
    assert {one["ids"][0]: one["points"] for one in report["submissions"]}.items() <= moodle.items()


def test_killed_twice_it_goes_on_where_it_was(tmp_path, sdpa):
    laid_out(tmp_path, QUICK)
    assert sdpa(*command(tmp_path, output="whole")).returncode == 1
    book = tmp_path / "out" / "F3" / "gradebook.sqlite3"
    kept = set()
    for rows in (2, 5):
        family = kill_after(rows, book, command(tmp_path, "--workers", "1"))
        assert wait_for(lambda pids=family: not any(lives(pid) for pid in pids)), "a process is left behind"
        found = keys(book)
        assert kept <= found
        assert len(found) >= rows
        kept = found
    done = sdpa(*command(tmp_path))
    assert done.returncode == 1, done.stderr
    assert report_in(tmp_path) == report_in(tmp_path, "whole")
    assert kept <= keys(book)


@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_nobody_s_work_is_left_behind(tmp_path, monkeypatch, end):
    laid_out(tmp_path, QUICK)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    if end == "killed":
        kill_after(2, tmp_path / "out" / "F3" / "gradebook.sqlite3", command(tmp_path, "--workers", "2"))
    else:
        start(command(tmp_path, "--workers", "2")).wait()
    assert wait_for(lambda: not list((tmp_path / "tmp").iterdir())), list((tmp_path / "tmp").iterdir())


ENDLESS = Kind("endless", {"attention.py": b"import time\ndef attention(Q, K, V, mask=None): time.sleep(10 ** 6)\n"})


def test_ctrl_c_ends_at_once_and_says_what_is_kept(tmp_path, monkeypatch):
    """Nobody waits for the worker, who is not done with the third within the hour."""
    laid_out(tmp_path, [*RIGHTS[:2], ENDLESS])
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    arguments = command(tmp_path, "--exercises", exercises_with(tmp_path, seconds=3600), "--workers", "1")
    with (tmp_path / "said.txt").open("w+b") as said:
        process = start(arguments, stderr=said, start_new_session=True)
        assert wait_for(lambda: len(keys(tmp_path / "out" / "F3" / "gradebook.sqlite3")) == 2)
        family = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everybody in the foreground gets it
        assert process.wait(60) == 130
    words = (tmp_path / "said.txt").read_text("utf-8")
    assert words == "Interrupted: 2 graded and kept; the same command goes on from there.\n"
    assert wait_for(lambda: not any(lives(pid) for pid in family)), "a process is left behind"
    assert not list((tmp_path / "tmp").iterdir())


def kill_after(rows, book, arguments):
    """Start the command, kill it when so many grades are kept, and tell all processes that there were."""
    process = start(arguments)
    assert wait_for(lambda: len(keys(book)) >= rows or process.poll() is not None)
    family = descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return family


def start(arguments, stderr=subprocess.DEVNULL, **options):
    command_line = [sys.executable, "-m", "sdpa_cli", *map(str, arguments)]
    return subprocess.Popen(command_line, stdout=subprocess.DEVNULL, stderr=stderr, **options)


def keys(book):
    if not book.exists():
        return set()
    with closing(sqlite3.connect(book, timeout=10)) as database:
        try:
            return {row[0] for row in database.execute("SELECT key FROM grades")}
        except sqlite3.OperationalError:
            return set()


def wait_for(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def parents():
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            found[int(path.parent.name)] = int(parent)
    return found


def descendants(pid):
    found, now = {pid}, parents()
    while more := {one for one, parent in now.items() if parent in found} - found:
        found |= more
    return found - {pid}


def lives(pid):
    return pid in parents()


def test_every_level_gives_the_same_grades(tmp_path, sdpa):
    laid_out(tmp_path, [*RIGHTS[1:3], FAULTS[3], BROKEN[0]])
    grades = {}
    for level in (one for one in candidates() if one > Level.L0):
        sdpa(*command(tmp_path, "--sandbox", level.name, output=level.name))
        report = json.loads(report_in(tmp_path, level.name))
        assert report["sandbox"].startswith(level.name)
        grades[level] = [(one["points"], one["items"]) for one in report["submissions"]]
    assert all(found == grades[max(grades)] for found in grades.values())


def test_only_what_has_changed_is_graded_again(tmp_path, sdpa):
    people = laid_out(tmp_path, QUICK)
    sdpa(*command(tmp_path))
    place = next((tmp_path / "export").glob(f"*_{people[0].number}_*")) / "attention.py"
    place.write_bytes(b"def attention(Q, K, V, mask=None): return V, Q\n")
    before = keys(tmp_path / "out" / "F3" / "gradebook.sqlite3")
    sdpa(*command(tmp_path))
    assert len(keys(tmp_path / "out" / "F3" / "gradebook.sqlite3") - before) == 1
    changed = json.loads(report_in(tmp_path))["submissions"][0]
    assert (changed["status"], changed["points"] < changed["max_points"]) == ("graded", True)


def test_a_hostile_class_harms_nobody(tmp_path, sdpa):
    """Behind the guard that the sandbox's own tests stand behind, whatever the sandbox does."""
    people = laid_out(tmp_path, [RIGHTS[0], *HOSTILE, RIGHTS[1]])
    guard = next(iter(guards().values()), [])
    done = sdpa(*command(tmp_path, "--exercises", exercises_with(tmp_path, seconds=1)), inside=guard)
    report = json.loads(report_in(tmp_path))
    assert (done.returncode, wrong(report, people)) == (0, []), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export", "out", "own", "worksheet.csv"]


def exercises_with(tmp_path, seconds):
    """F3, with so many seconds for each call: of one, an endless loop is soon over."""
    shutil.copytree(own_exercises() / "F3", tmp_path / "own" / "F3")
    path = tmp_path / "own" / "F3" / "exercise.yaml"
    path.write_text(f"seconds: {seconds}\n" + path.read_text("utf-8"), "utf-8")
    return tmp_path / "own"


STRANGE = [
    "return None",
    "return 1, 2",
    "return Q",
    "return np.zeros(()), np.zeros(())",
    "return np.zeros((0, 0)), np.zeros((0, 0))",
    "return V.astype(bool), (Q @ K.T).astype(bool)",
    "return np.full(V.shape, np.inf), np.full((len(Q), len(K)), -np.inf)",
    "return V[:len(Q)].astype('u1'), (Q @ K.T).astype('i1')",
    "return [[1]], [[2]]",
    "return Q, K, V",
    "return np.zeros((len(Q), V.shape[1]), np.float16), np.zeros((len(Q), len(K)), np.float16)",
    "return (Q @ K.T) @ V[..., None], Q",
    "raise ValueError('\\x1b[31m\\ud800 <b>=1+1</b>')",
    "return 'a' * 10 ** 6, b'b'",
]


def test_no_strange_answer_is_the_tool_s_failure(tmp_path, sdpa):
    """It would cost no points then, and a person's evening."""
    head = "import numpy as np\ndef attention(Q, K, V, mask=None):\n    "
    kinds = [Kind(text, {"attention.py": (head + text + "\n").encode()}) for text in STRANGE]
    people = laid_out(tmp_path, kinds)
    sdpa(*command(tmp_path))
    assert wrong(json.loads(report_in(tmp_path)), people) == []


TELLTALE = b"""
seen = []
def attention(Q, K, V, mask=None):
    if Q.shape not in ((2, 2), (4, 4)):
        seen.append(float(Q[0, 0]))
        print("hidden", Q.tolist())
        raise ValueError(f"hidden {Q.tolist()} {seen}")
    print("still", seen)
    raise ValueError(f"still {seen}")
"""


def test_a_submission_cannot_tell_what_hidden_cases_are(tmp_path, sdpa, f3):
    from sdpa_cli.classroom.tasks import secret
    from sdpa_cli.grading.drawing import drawn_cases

    laid_out(tmp_path, [Kind("telltale", {"attention.py": TELLTALE})])
    sdpa(*command(tmp_path))
    rule = next(check.rule for check in f3.checks if check.visibility == "hidden")
    numbers = {repr(float(case.q[0, 0])) for case in drawn_cases(secret("secret word"), rule.count, rule.masks)}
    report = json.loads(report_in(tmp_path))
    (item,) = [one for one in report["submissions"][0]["items"] if one["visibility"] == "hidden"]
    assert (item["status"], item["message"]) == (
        "failed",
        "on a case that is not shown, the function raised an exception",
    )
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or not any(number.encode() in path.read_bytes() for number in numbers), path


def test_a_local_cluster_gives_the_same_report(tmp_path, sdpa):
    pytest.importorskip("distributed")
    laid_out(tmp_path, QUICK)
    here, there = (
        sdpa(*command(tmp_path, output="here")),
        sdpa(*command(tmp_path, "--cluster", "local", output="there")),
    )
    assert (there.returncode, there.stdout.splitlines()[:-1]) == (here.returncode, here.stdout.splitlines()[:-1])
    assert report_in(tmp_path, "there") == report_in(tmp_path, "here")


def test_a_lost_worker_s_submissions_are_graded_by_another(tmp_path, sdpa):
    pytest.importorskip("distributed")
    people = laid_out(tmp_path, [*QUICK, *FAULTS[9:20]])
    here = sdpa(*command(tmp_path, output="here"))
    address_file, book = tmp_path / "scheduler.json", tmp_path / "there" / "F3" / "gradebook.sqlite3"
    with dask("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", address_file):
        assert wait_for(lambda: address_file.exists() and address_file.read_text().rstrip().endswith("}"))
        address = json.loads(address_file.read_text())["address"]
        options = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", tmp_path / "scratch")
        with dask("worker", address, *options), dask("worker", address, *options) as lost:
            grading = start(command(tmp_path, "--cluster", address, output="there"))
            assert wait_for(lambda: len(keys(book)) >= 5)
            lost.kill()
            assert grading.wait(60) == here.returncode
    assert len(keys(book)) == sum(bool(person.kind.files) and person.kind.full is not None for person in people)
    assert report_in(tmp_path, "there") == report_in(tmp_path, "here")


@contextmanager
def dask(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_below_l2_it_refuses_unless_told(tmp_path, sdpa, monkeypatch):
    from sdpa_cli.classroom import grading
    from sdpa_cli.errors import InputError

    for asked, best in ((None, Level.L1), (Level.L3, Level.L2)):
        with pytest.raises(InputError, match=f"the best sandbox here is {best.name}"):
            grading._agreed(asked, best)
    assert grading._agreed(None, Level.L3) is Level.L3
    assert grading._agreed(Level.L2, Level.L3) is Level.L2
    laid_out(tmp_path, [RIGHTS[0]])
    done = sdpa(*command(tmp_path, "--sandbox", "none"))
    assert "Sandbox L0 (limits and timeouts only)" in done.stdout
    assert json.loads(report_in(tmp_path))["sandbox"].startswith("L0")


def test_the_generated_class_has_everything():
    names = [kind.name for kind in ALL]
    assert len(set(names)) == len(names) == len(RIGHTS) + len(FAULTS) + len(BROKEN) + len(ATTACKS)
    people = members(ALL, 1000)
    assert len(people) == 1000
    assert len({person.number for person in people}) == 1000
    assert os.environ.get("SDPA_SEED") is None
