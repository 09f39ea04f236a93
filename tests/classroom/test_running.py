"""A class being graded: what is done is not done again, what is doubtful is done again alone, nothing is lost."""

import sqlite3
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing, contextmanager, nullcontext

import pytest

from sdpa_cli.classroom import running
from sdpa_cli.classroom.gradebook import Gradebook
from sdpa_cli.classroom.layouts import Delivery
from sdpa_cli.classroom.names import Label
from sdpa_cli.classroom.packing import pack
from sdpa_cli.classroom.records import to_text
from sdpa_cli.classroom.results import Standing
from sdpa_cli.classroom.roster import Student
from sdpa_cli.classroom.running import Terms, grade_seats
from sdpa_cli.classroom.seating import Seat
from sdpa_cli.classroom.tasks import secret, submission_sha256
from sdpa_cli.classroom.workers import Workers
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.grading.report import FeedbackItem, Finding, Report, Status, failed, passed, say
from sdpa_cli.sandbox import Level, SandboxError

RIGHT = to_text(Report("F3", (FeedbackItem("check", passed(), 3.0),), "L3"))
WHY = Problem("unreadable-source", "why")
LATE = to_text(Report("F3", (FeedbackItem("check", failed(say("call.timeout", detail="")), 3.0),), "L3"))
BROKEN = to_text(
    Report(
        "F3",
        (FeedbackItem("check", Finding(Status.ERROR, messages=(say("error.tool", type="E", message=""),)), 3.0),),
        "L3",
    )
)


class Script(Executor):
    """Answers each submission, told by its content, with the next of its answers."""

    def __init__(self, answers):
        self.answers = {name: list(given) for name, given in answers.items()}
        self.asked = []
        self.most = 0

    def submit(self, function, task):
        name = dict(task.files)["attention.py"].decode()
        self.asked.append(name)
        answer = self.answers.get(name, [RIGHT]).pop(0) if self.answers.get(name) else RIGHT
        future = Future()
        future.set_exception(answer) if isinstance(answer, BaseException) else future.set_result(answer)
        return future


@pytest.fixture
def run(f3, tmp_path, entries):
    """Grade submissions of these contents; gives results by name, and what was asked."""

    def of(contents, answers=None, level=Level.L3, seed=None, book=tmp_path / "book.sqlite3"):
        script = Script(answers or {})

        @contextmanager
        def opened():
            yield script

        files = [tuple(entries("attention.py", **{"attention.py": text.encode()})) for text in contents]
        seats = [Seat(Student(t), Delivery(Label(t), t, f)) for t, f in zip(contents, files, strict=True)]
        terms = Terms(f3, pack(f3), secret(seed), level, "versions")
        with Gradebook(book) as found:
            done = list(grade_seats(seats, terms, found, Workers(opened, 2, lambda: level)))
        assert sorted(one.number for one in done) == list(range(len(seats)))
        return {one.result.student.name: one.result for one in done}, script.asked

    return of


def test_everybody_is_graded_once(run):
    results, asked = run(["a", "b", "c", "d", "e"])
    assert {result.points for result in results.values()} == {3.0}
    assert asked == ["a", "b", "c", "d", "e"]


def test_what_the_tool_cannot_take_apart_ends_nothing(run, monkeypatch):
    def broken(exercise, entries):
        if entries[0].read() == b"b":
            raise IndexError("string index out of range")
        return choose(exercise, entries)

    choose = running.choose
    monkeypatch.setattr(running, "choose", broken)
    results, asked = run(["a", "b", "c"])
    assert asked == ["a", "c"]
    assert (results["b"].standing, results["b"].points) == (Standing.ERROR, None)
    assert results["b"].remarks == (say("seat.tool-failed", type="IndexError", message="string index out of range"),)


def test_what_may_be_somebody_s_is_not_missing(f3, tmp_path):
    doubt = say("seat.perhaps-theirs", places="a")
    seats = [Seat(Student("a"), None), Seat(Student("b"), None, remarks=(doubt,), unclear=True)]
    terms = Terms(f3, pack(f3), None, Level.L3, "versions")
    with Gradebook(tmp_path / "book.sqlite3") as book:
        found = list(grade_seats(seats, terms, book, Workers(nullcontext, 2, lambda: Level.L3)))
    assert [one.result.standing for one in found] == [Standing.MISSING, Standing.ATTENTION]


def test_what_is_in_the_gradebook_is_not_graded_again(run):
    run(["a", "b"])
    results, asked = run(["a", "b", "c"])
    assert asked == ["c"]
    assert results["a"].points == 3.0


@pytest.mark.parametrize("changed", [{"level": Level.L2}, {"seed": "another"}], ids=str)
def test_other_terms_are_another_grade(run, changed):
    run(["a"])
    assert run(["a"], **changed)[1] == ["a"]
    assert run(["a"])[1] == []


def test_a_changed_exercise_is_another_grade(f3, tmp_path):
    import shutil

    from sdpa_cli.grading.library import find_exercise

    shutil.copytree(f3.folder, tmp_path / "F3")
    assert pack(find_exercise(tmp_path, "F3")) == pack(f3)
    text = (tmp_path / "F3" / "exercise.yaml").read_text("utf-8")
    (tmp_path / "F3" / "exercise.yaml").write_text(text.replace("points: 2", "points: 3", 1), "utf-8")
    assert pack(find_exercise(tmp_path, "F3")).sha256 != pack(f3).sha256
    (tmp_path / "F3" / "exercise.yaml").write_text(text, "utf-8")
    (tmp_path / "F3" / "README.md").write_text("reworded", "utf-8")
    assert pack(find_exercise(tmp_path, "F3")).sha256 == pack(f3).sha256


def test_a_timeout_counts_once_it_has_happened_alone(run):
    results, asked = run(["slow", "b", "stuck"], {"slow": [LATE, RIGHT], "stuck": [LATE, LATE]})
    assert asked == ["slow", "b", "stuck", "slow", "stuck"]
    assert (results["slow"].points, results["stuck"].points) == (3.0, 0.0)
    assert run(["slow", "b", "stuck"])[1] == []


@pytest.mark.parametrize(
    "answer",
    [BROKEN, SandboxError(Problem("sandbox", "it fell over")), BrokenExecutor("gone"), MemoryError()],
    ids=["a check", "the sandbox", "the worker", "memory"],
)
def test_the_tool_s_own_failure_is_no_grade_and_is_tried_again(run, answer):
    results, asked = run(["a", "b"], {"a": [answer, answer]})
    assert asked == ["a", "b", "a"]
    assert (results["a"].standing, results["a"].points, results["a"].final_points) == (Standing.ERROR, None, None)
    assert [remark.key for remark in results["a"].remarks] == ["error.tool" if answer is BROKEN else "seat.tool-failed"]
    results, asked = run(["a", "b"])
    assert (asked, results["a"].points) == (["a"], 3.0)


def test_a_worker_that_differs_ends_the_run(run):
    with pytest.raises(InputError, match="other versions"):
        run(["a"], {"a": [InputError(Problem("worker-differs", "other versions"))]})


@pytest.mark.parametrize(("ahead", "most_bytes", "expected"), [(3, 1 << 20, 3), (100, 12, 3), (1, 1 << 20, 1)])
def test_no_more_is_under_way_than_fits(f3, entries, tmp_path, monkeypatch, ahead, most_bytes, expected):
    under_way = []

    class Idle(Executor):
        def submit(self, function, task):
            return Future()

    @contextmanager
    def opened():
        yield Idle()

    def wait_for_one(futures, **_):
        under_way.append(len(futures))
        first = next(iter(futures))
        first.set_result(RIGHT)
        return {first}, set()

    monkeypatch.setattr(running, "wait", wait_for_one)
    monkeypatch.setattr(running, "_MOST_BYTES_AHEAD", most_bytes)
    files = tuple(entries("attention.py", **{"attention.py": b"123456"}))
    seats = [Seat(Student(str(at)), Delivery(Label(str(at)), "place", files)) for at in range(8)]
    terms = Terms(f3, pack(f3), None, Level.L3, "versions")
    with Gradebook(tmp_path / "book.sqlite3") as book:
        done = list(grade_seats(seats, terms, book, Workers(opened, ahead, lambda: Level.L3)))
    assert (len(done), max(under_way)) == (8, expected)


def test_a_gradebook_is_another_program_s_file(tmp_path):
    (tmp_path / "book.sqlite3").write_bytes(b"this is no database at all" * 100)
    with pytest.raises(InputError, match="cannot be used as a gradebook"):
        Gradebook(tmp_path / "book.sqlite3")


def damaged(path):
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xaa" * (len(data) - 4096))


def emptied(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE grades")
        database.execute("CREATE TABLE grades (another)")


@pytest.mark.parametrize("spoil", [damaged, emptied], ids=["damaged", "another's table"])
def test_a_gradebook_that_is_damaged_is_named(run, tmp_path, spoil):
    run(["a"])
    spoil(tmp_path / "book.sqlite3")
    with pytest.raises(InputError, match=r"book\.sqlite3 cannot be used as a gradebook"):
        run(["a"])


def test_a_full_disk_is_named_and_what_was_kept_is_kept(run, tmp_path):
    run(["a"])
    with Gradebook(tmp_path / "book.sqlite3") as book:
        book._database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(InputError, match="cannot be used as a gradebook: database or disk is full"):
            book.keep("key", "sha256", "record" * 10_000)
    assert run(["a"])[1] == []


def test_a_record_that_is_damaged_is_made_again(run, tmp_path):
    run(["a"])
    with closing(sqlite3.connect(tmp_path / "book.sqlite3")) as database, database:
        database.execute("UPDATE grades SET record = substr(record, 9)")
    assert run(["a"])[1] == ["a"]
    assert run(["a"])[1] == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the folder .*F3 cannot be made: Not a directory"):
        Gradebook(tmp_path / "file" / "F3" / "book.sqlite3")


def test_a_single_file_is_known_by_its_own_digest():
    import hashlib

    assert submission_sha256((("attention.py", b"x"),), ()) == hashlib.sha256(b"x").hexdigest()
    assert submission_sha256((("attention.py", b"x"),), (("answers.yaml", WHY),)) != hashlib.sha256(b"x").hexdigest()
    assert submission_sha256((("a.py", b"x"), ("b.py", b"y")), ()) != submission_sha256(
        (("a.py", b"xb.py"), ("b.py", b"y")), ()
    )
