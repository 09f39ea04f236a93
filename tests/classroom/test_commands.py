"""`sdpa doctor`, and what `sdpa grade` says when it cannot begin."""

import json

import pytest
from classroom.generated import RIGHT, RIGHTS, members, write_moodle, write_worksheet

from sdpa_cli.classroom import examining
from sdpa_cli.classroom.examining import examine
from sdpa_cli.sandbox import Level, Offer
from sdpa_cli.sandbox.levels import Missing, Rung, candidates
from sdpa_cli.views.classroom.examination import examination_json, examination_text
from sdpa_cli.views.glyphs import ASCII, Glyphs

BARE = Offer(
    Level.L1,
    (
        Rung(Level.L3, "bubblewrap + Landlock + seccomp", False, (Missing("bubblewrap", "apt install bubblewrap"),)),
        Rung(Level.L1, "seccomp", True),
    ),
    ("memory is not limited",),
)


def test_doctor_tells_what_is_missing_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(examining, "probe", lambda: BARE)
    lines = examination_text(examine(), Glyphs("utf-8")).splitlines()
    assert "  ✗ L3  bubblewrap + Landlock + seccomp" in lines
    assert lines[lines.index("        missing: bubblewrap") + 1] == "        get it:  apt install bubblewrap"
    assert "  ! memory is not limited" in lines
    assert lines[-1] == "sdpa grade asks for L2 (Landlock + seccomp) and refuses to run here."
    assert examination_text(examine(), ASCII).isascii()


def test_doctor_speaks_json(monkeypatch):
    monkeypatch.setattr(examining, "probe", lambda: BARE)
    document = json.loads(examination_json(examine()))
    assert (document["schema_version"], document["grades_a_class"], document["sandbox"]["best"]) == (1, False, "L1")
    assert [rung["level"] for rung in document["sandbox"]["rungs"]] == ["L3", "L1"]


def test_doctor_on_this_machine(sdpa):
    done = sdpa("doctor", "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == (0 if document["grades_a_class"] else 1)
    assert document["grades_a_class"] == (Level[document["sandbox"]["best"]] >= Level.L2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grade", "F9", "x"], "there is no exercise F9"),
        (["grade", "F3", "x"], "x is not there"),
        (["grade", "F3", "empty"], "empty holds no submissions"),
        (["grade", "F3", "damaged.zip"], "damaged.zip is no zip archive that can be read"),
        (
            ["grade", "F3", "mk.py"],
            "mk.py is a single file\n"
            "  expected: a folder of submissions, or the zip that the LMS exports\n"
            "  hint: one file of your own is graded by: sdpa check EXERCISE mk.py\n",
        ),
        (["grade", "F3", "empty", "--roster", "x.csv"], "x.csv cannot be read"),
        (["grade", "F3", "class", "--seed", " "], "the seed is empty"),
    ],
    ids=["exercise", "nothing", "empty", "no archive", "one file", "no roster", "no seed"],
)
def test_what_cannot_begin_says_why(sdpa, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "damaged.zip").write_text("?")
    (tmp_path / "mk.py").write_text("?")
    write_moodle(tmp_path / "class", members([RIGHTS[0]], 0))
    done = sdpa(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading asks for L2, which is not here")
def test_one_submission_as_gradescope_gives_it(sdpa, tmp_path):
    for name, data in RIGHT.items():
        (tmp_path / "submission" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "submission" / name).write_bytes(data)
    done = sdpa("grade", "F3", tmp_path / "submission", "--output", tmp_path, "--gradescope", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert (done.returncode, results["extra_data"]["standing"]) == (0, "graded"), done.stderr
    # Without a seed the hidden cases stay open.
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 32.0


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading asks for L2, which is not here")
@pytest.mark.parametrize(
    ("files", "output"),
    [
        ({"mine.py": RIGHT["attention.py"], "yours.py": b""}, "it could be one of mine.py, yours.py"),
        ({}, "was handed in"),
    ],
    ids=["two files", "nothing"],
)
def test_whatever_gradescope_gives_is_one_submission(sdpa, tmp_path, files, output):
    (tmp_path / "submission").mkdir()
    for name, data in files.items():
        (tmp_path / "submission" / name).write_bytes(data)
    done = sdpa("grade", "F3", tmp_path / "submission", "--output", tmp_path, "--gradescope", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert (done.returncode, results["extra_data"]["standing"]) == (1, "needs attention"), done.stderr
    assert output in results["output"]


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading asks for L2, which is not here")
def test_reports_among_the_submissions_are_nobody_s(sdpa, tmp_path):
    (tmp_path / "anna").mkdir()
    for name, data in RIGHT.items():
        (tmp_path / "anna" / name).write_bytes(data)
    first, again = (sdpa("grade", "F3", ".", "--format", "json", cwd=tmp_path) for _ in range(2))
    assert [one["student"] for one in json.loads(again.stdout)["submissions"]] == ["anna"]
    assert first.stdout == again.stdout


def test_a_column_that_is_not_there_is_told_before_anything_is_graded(sdpa, tmp_path):
    people = members([RIGHTS[0]], 0)
    write_moodle(tmp_path / "class", people)
    write_worksheet(tmp_path / "worksheet.csv", people)
    done = sdpa("grade", "F3", "class", "--roster", "worksheet.csv", "--column", "Garde", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "grades").exists()) == (2, False)
    assert "there is no column Garde in the class list" in done.stderr


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading asks for L2, which is not here")
def test_a_place_that_cannot_be_written_to_is_the_user_s_to_change(sdpa, tmp_path):
    write_moodle(tmp_path / "class", members([RIGHTS[0]], 0))
    (tmp_path / "file").write_text("")
    done = sdpa("grade", "F3", "class", "--output", "file", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be made: Not a directory" in done.stderr


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading asks for L2, which is not here")
def test_the_seed_may_come_from_the_environment_and_the_report_may_be_printed(sdpa, tmp_path, monkeypatch):
    monkeypatch.setenv("SDPA_SEED", "word")
    write_moodle(tmp_path / "class", members([RIGHTS[0]], 0))
    done = sdpa("grade", "F3", tmp_path / "class", "--format", "json", "--output", tmp_path / "out", "--lang", "da")
    report = json.loads(done.stdout)
    assert (report["hidden_cases"], report["language"]) == (True, "da")
    assert done.stdout == (tmp_path / "out" / "F3" / "report.json").read_text("utf-8")
