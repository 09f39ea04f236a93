"""`sdpa init`, `check` and `hint` as a student uses them, from the first file to full marks."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from grading.items import EXERCISES, SOLUTIONS
from submissions.faults import F3, X1, source, source_x1

from sdpa_cli import cli
from sdpa_cli.cases import load_case
from sdpa_cli.errors import ExitCode
from sdpa_cli.grading.notebooks import read_notebook


@pytest.fixture
def sdpa(tmp_path, monkeypatch, capsys):
    """Run a command line in an empty folder; gives the status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        status = cli.run([*arguments])
        return status, *capsys.readouterr()

    return run


def solve(folder, name):
    for path in (SOLUTIONS / name).iterdir():
        if path.is_file():
            shutil.copy(path, folder / name / path.name)


def tree(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and ".sdpa" not in p.parts
    }


def test_from_nothing_to_full_marks(sdpa, tmp_path):
    status, out, _ = sdpa("init")
    assert status == ExitCode.OK
    assert "4 files written for F3" in out
    assert out.endswith("next: sdpa check F1\n")
    status, out, _ = sdpa("check")
    assert status == ExitCode.FAILED
    assert "F3  The function                                                     0/33 points" in out
    assert out.endswith("so far  F1 0/9  F2 0/10  F3 0/33  F4 0/12  F5 0/12  X1 0/12\nnext    open F1/README.md\n")
    for name in ("F1", "F2", "F3", "F4", "F5"):
        solve(tmp_path, name)
        assert sdpa("check", name)[0] == ExitCode.OK
    status, out, _ = sdpa("check")
    assert status == ExitCode.FAILED
    assert "F1 9/9 ✓  F2 10/10 ✓  F3 32/33 ✓  F4 12/12 ✓  F5 8/12 ✓  X1 0/12" in out
    solve(tmp_path, "X1")
    status, out, _ = sdpa("check")
    assert status == ExitCode.OK
    assert out.endswith("All points that can be checked are there.\n")
    assert "6 points stay open" in out


def test_init_never_overwrites_and_writes_what_is_missing(sdpa, tmp_path):
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text("mine")
    (tmp_path / "F3" / "answers.yaml").unlink()
    before = tree(tmp_path)
    status, out, _ = sdpa("init")
    assert status == ExitCode.OK
    assert "1 files written for F3" in out
    assert "3 files kept as they are for F3" in out
    after = tree(tmp_path)
    assert after.pop("F3/answers.yaml") == (EXERCISES / "F3" / "starter" / "answers.yaml").read_bytes()
    assert after == before


def test_reset_keeps_every_backup(sdpa, tmp_path):
    sdpa("init")
    for text in ("first", "second"):
        (tmp_path / "F3" / "attention.py").write_text(text)
        status, out, _ = sdpa("init", "--reset", "f3")
        assert status == ExitCode.OK
        assert "your files of F3 are kept in .sdpa/backup/F3-" in out
    kept = [(tmp_path / ".sdpa" / "backup" / f"F3-{n}" / "attention.py").read_text() for n in (1, 2)]
    assert kept == ["first", "second"]
    assert (tmp_path / "F3" / "attention.py").read_bytes() == (
        EXERCISES / "F3" / "starter" / "attention.py"
    ).read_bytes()


def test_a_workspace_keeps_its_language(sdpa, tmp_path):
    sdpa("init", "--lang", "hu")
    assert (tmp_path / "F1" / "README.md").read_text("utf-8").startswith("# F1 · Mik a súlyok")
    assert "pont" in sdpa("check", "F1")[1]
    assert "points" in sdpa("check", "F1", "--lang", "en")[1]
    sdpa("init")
    assert "pont" in sdpa("check", "F1")[1]


def test_a_workspace_is_found_from_inside_it(sdpa, tmp_path, monkeypatch):
    sdpa("init")
    monkeypatch.chdir(tmp_path / "F3")
    status, out, _ = sdpa("check", "F3")
    assert status == ExitCode.FAILED
    assert "next    open README.md" in out
    status, _, err = sdpa("init")
    assert (status, "lies in the workspace" in err) == (ExitCode.BAD_INPUT, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check",), "this folder is no workspace"),
        (("check", "F3"), "this folder is no workspace"),
        (("check", "F3", "none.py"), "none.py does not exist"),
        (("check", "F3", "kern:flash", "--watch"), "--watch waits for files to be saved, and kern:flash is none"),
        (("check", "F9", "."), "there is no exercise F9"),
        (("check", "F3", ".", "--only", "exampel"), "there is no check exampel"),
        (("check", "F3", ".", "--only", "exampel"), "hint: did you mean example?"),
        (("check", "F33", "."), "hint: did you mean F3?"),
        (("hint", "F3", "posion"), "hint: did you mean poison?"),
        (("check", "F3", ".", "--exercises", "."), "an exercise is a folder with a file exercise.yaml; . has none"),
        (("check", "F3", ".", "--exercises", "nowhere"), "nowhere is no folder of exercises"),
        (("hint", "F3", "hidden"), "there is no hint for hidden"),
        (("init", "--reset", "F9"), "there is no exercise F9"),
        (("prove", ".", "--exercises", "."), "holds no exercise"),
        (("prove", "nope"), "error: nope is no folder of solutions\n"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_said(sdpa, arguments, message):
    status, out, err = sdpa(*arguments)
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert message in err


@pytest.mark.parametrize(("name", "command"), [("F3/attention.py", "F3 F3/attention.py"), ("a.ipynb", "F1 a.ipynb")])
def test_a_file_alone_does_not_say_which_exercise_it_is_of(sdpa, name, command):
    sdpa("init")
    status, _, err = sdpa("check", name)
    assert status == ExitCode.BAD_INPUT
    assert f"hint: say before a file which exercise it is of, such as {command}\n" in err


@pytest.mark.parametrize("name", ["F3", "f3", "F3/"])
def test_an_exercise_may_be_named_as_the_shell_completes_its_folder(sdpa, name):
    sdpa("init")
    assert sdpa("check", name)[1].startswith("F3  ")
    assert sdpa("hint", name)[1].startswith("F3, ")
    assert sdpa("init", "--reset", name)[0] == ExitCode.OK
    assert sdpa("explain", name)[1].startswith("F3")


def test_a_workspace_keeps_to_the_exercises_it_was_made_of(sdpa, tmp_path):
    shutil.copytree(EXERCISES / "F1", tmp_path / "course" / "F1")
    for path, old in ((tmp_path / "course/F1/README.md", "F1 · "), (tmp_path / "course/F1/texts/en.yaml", "title: ")):
        path.write_text(path.read_text("utf-8").replace(old, f"{old}Our ", 1), "utf-8")
    assert sdpa("init", "--exercises", "course", "--lang", "en")[0] == ExitCode.OK
    (tmp_path / "F1" / "README.md").unlink()
    assert "1 files written for F1" in sdpa("init")[1]
    assert (tmp_path / "F1" / "README.md").read_text("utf-8").startswith("# F1 · Our ")
    assert sdpa("explain", "F1", "--lang", "en")[1].startswith("F1 · Our ")
    assert sdpa("check")[1].startswith("F1  Our ")
    (tmp_path / "course" / "F1").rename(tmp_path / "course" / "E1")
    assert "E1, " in sdpa("hint", "E1")[1]


def test_what_is_refused_makes_no_workspace(sdpa, tmp_path):
    assert sdpa("init", "--reset", "F9")[0] == ExitCode.BAD_INPUT
    assert list(tmp_path.iterdir()) == []


def test_the_next_command_can_be_typed_as_it_stands(sdpa, tmp_path, monkeypatch):
    status, out, _ = sdpa("init", "my work")
    assert (status, out.splitlines()[-1]) == (ExitCode.OK, "next: cd 'my work' && sdpa check F1")
    assert sdpa("init", "my work", "--reset", "f3")[1].endswith("sdpa check F3\n")
    attention = tmp_path / "my work" / "F3" / "attention.py"
    attention.write_text(source(F3["scale-by-d-k"]))
    monkeypatch.chdir(attention.parent)
    case = tmp_path / "my work" / ".sdpa" / "F3-example.yaml"
    assert f"next    sdpa explain '{case}' --fault scale-by-d-k" in sdpa("check", "F3")[1]
    sdpa("check", "F3", "attention.py")
    assert not (attention.parent / ".sdpa").exists()


def test_where_nothing_can_be_written_the_grade_is_still_given(sdpa, tmp_path, monkeypatch):
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text(source(F3["scale-by-d-k"]))
    before = tree(tmp_path)

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    status, out, err = sdpa("check", "F3")
    assert status == ExitCode.FAILED
    assert "your numbers equal those of the fault scale-by-d-k" in out
    assert "sdpa explain" not in out
    assert out.endswith("next    sdpa hint F3 example\n")
    assert err == f"error: {tmp_path / '.sdpa' / 'F3-example.yaml'} cannot be written: Read-only file system\n"
    status, out, err = sdpa("hint", "F3", "example")
    assert (status, "Hint 1 of 3" in out) == (ExitCode.OK, True)
    assert "That you have had this hint could not be written down" in out
    assert err == f"error: {tmp_path / '.sdpa' / 'hints.json'} cannot be written: Read-only file system\n"
    assert tree(tmp_path) == before


def test_a_hint_for_a_file_from_elsewhere_names_its_check(sdpa, tmp_path):
    sdpa("init")
    solve(tmp_path, "F3")
    sdpa("check", "F3")
    elsewhere = tmp_path / "attention.py"
    elsewhere.write_text("def attention(Q, K, V, mask=None): return Q, K\n")
    assert sdpa("check", "F3", "attention.py")[1].endswith("next    sdpa hint F3 example\n")


def test_a_file_that_does_not_load_is_the_next_to_be_opened(sdpa, tmp_path):
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text("def (")
    assert sdpa("check", "F3")[1].endswith(f"next    open {Path('F3', 'attention.py')}\n")
    (tmp_path / "work.ipynb").write_text("{}")
    assert sdpa("check", "F3", "work.ipynb")[1].endswith("next    open work.ipynb\n")


def test_a_file_that_is_not_there_is_not_to_be_opened(sdpa, tmp_path, monkeypatch):
    sdpa("init")
    (tmp_path / "F1" / "definition.py").unlink()
    assert sdpa("check", "F1")[1].endswith("next    sdpa init\n")
    assert sdpa("init")[0] == ExitCode.OK
    assert sdpa("check", "F1")[1].endswith("next    open F1/README.md\n")
    (tmp_path / "F1" / "definition.py").unlink()
    monkeypatch.chdir(tmp_path / "F1")
    assert sdpa("check", "F1")[1].endswith(f"next    sdpa init {tmp_path}\n")
    (tmp_path / "F1" / "answers.yaml").rename(tmp_path.parent / "answers.yaml")
    assert "open" not in sdpa("check", "F1", str(tmp_path.parent / "answers.yaml"))[1]


def test_what_was_begun_is_checked_next_and_not_read_again(sdpa, tmp_path):
    sdpa("init")
    shutil.copy(SOLUTIONS / "F1" / "definition.py", tmp_path / "F1")
    assert sdpa("check", "F1")[1].endswith("next    sdpa hint F1\n")
    assert sdpa("check", "F1", "--only", "definition")[1].endswith("next    sdpa check F1\n")
    solve(tmp_path, "F2")
    assert sdpa("check", "F2")[1].endswith("next    sdpa check F1\n")
    assert sdpa("check", "F2", "--only", "reason")[1].endswith("next    sdpa check F1\n")
    solve(tmp_path, "F1")
    assert sdpa("check", "F1")[1].endswith("next    open F3/README.md\n")


def test_a_module_that_is_not_there_is_called_by_its_name(sdpa):
    status, out, _ = sdpa("check", "F3", "no_such.kernel:flash", "--only", "example")
    assert status == ExitCode.FAILED
    assert "no_such.kernel:flash raised ModuleNotFoundError: No module named 'no_such'" in " ".join(out.split())
    assert "attention.py" not in out


def test_a_failing_input_becomes_a_case_and_the_next_command(sdpa, tmp_path):
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text(source(F3["scale-by-sqrt-d-v"]))
    _, out, _ = sdpa("check", "F3")
    assert "next    sdpa explain .sdpa/F3-example.yaml --fault scale-by-sqrt-d-v" in out
    assert out.count("--fault scale-by-sqrt-d-v") == 2  # once where it shows first, once as the next step
    case = load_case(tmp_path / ".sdpa" / "F3-example.yaml")
    assert case.title == "F3: two-token example, no mask"
    assert case.attend().output.round(4).tolist() == [[0.3302, 0.6698, 0], [0.6698, 0.3302, 0]]
    solve(tmp_path, "F3")
    sdpa("check", "F3")
    assert list((tmp_path / ".sdpa").glob("*.yaml")) == []


@pytest.mark.parametrize("name", [case.stem for case in sorted((EXERCISES / "X1" / "cases").glob("*.yaml"))])
def test_a_case_that_is_written_is_the_case_that_was_read(tmp_path, name):
    from sdpa_cli.grading.case_texts import case_text

    case = load_case(EXERCISES / "X1" / "cases" / f"{name}.yaml")
    (tmp_path / "again.yaml").write_text(case_text(case, "again"), "utf-8")
    again = load_case(tmp_path / "again.yaml")
    assert (again.attend().output == case.attend().output).all()
    assert (again.attend().forbidden() == case.attend().forbidden()).all()


def test_hints_come_one_level_at_a_time_for_what_has_failed(sdpa, tmp_path):
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text(source(F3["mask-after-softmax"]))
    sdpa("check", "F3")
    outs = [sdpa("hint", "F3")[1] for _ in range(4)]
    assert [out.split(". ")[1].split(":")[0] for out in outs] == [
        "Hint 1 of 3",
        "Hint 2 of 3",
        "Hint 3 of 3",
        "Hint 3 of 3",
    ]
    assert outs[0].startswith("F3, two-token example, causal mask.")
    assert outs[0].endswith("The next hint: sdpa hint F3 example-causal\n")
    assert outs[2].endswith("The statement is in F3/README.md.\n")
    assert "Hint 1 of 3" in sdpa("hint", "F3", "large-logits")[1]
    solve(tmp_path, "F3")
    sdpa("check", "F3")
    assert sdpa("hint", "F3")[1] == "Every check of F3 passes; there is nothing to hint at.\n"


def test_without_a_workspace_a_hint_says_how_to_get_the_next(sdpa):
    said = "This folder is no workspace, so the next hint would be this one again; make it one with: sdpa init"
    for _ in range(2):
        status, out, _ = sdpa("hint", "F1")
        assert (status, "Hint 1 of 3" in out) == (ExitCode.OK, True)
        assert " ".join(out.split()).endswith(said)
    sdpa("init")
    assert ["Hint 1 of 3" in sdpa("hint", "F1")[1] for _ in range(2)] == [True, False]


def test_progress_that_somebody_broke_is_only_forgotten(sdpa, tmp_path):
    sdpa("init")
    for text in ("{", "[]", '{"F3": {"points": 1}}', '{"F3": []}'):
        (tmp_path / ".sdpa" / "progress.json").write_text(text)
        (tmp_path / ".sdpa" / "hints.json").write_text(text)
        assert sdpa("hint", "F3")[0] == ExitCode.OK
        assert sdpa("check", "F1")[0] == ExitCode.FAILED


def test_a_file_from_anywhere_is_graded_and_nothing_is_remembered(sdpa, tmp_path):
    (tmp_path / "mine.py").write_text(source({}))
    status, out, _ = sdpa("check", "F3", "mine.py", "--only", "shapes,exact-zeros")
    assert status == ExitCode.OK
    assert "so far" not in out
    assert not (tmp_path / ".sdpa").exists()


def test_failing_inputs_outside_a_workspace_are_said_to_be_there_and_go_with_the_last_failure(sdpa, tmp_path):
    said = "The failing inputs are kept in the folder .sdpa, which can be deleted at any time."
    (tmp_path / "mine.py").write_text(source(F3["no-scale"]))
    out = sdpa("check", "F3", "mine.py", "--only", "example")[1]
    assert (said in out, [path.name for path in (tmp_path / ".sdpa").iterdir()]) == (True, ["F3-example.yaml"])
    (tmp_path / "mine.py").write_text(source({}))
    out = sdpa("check", "F3", "mine.py", "--only", "example")[1]
    assert (said in out, (tmp_path / ".sdpa").exists()) == (False, False)
    (tmp_path / ".sdpa").mkdir()
    (tmp_path / ".sdpa" / "mine").write_text("kept")
    sdpa("check", "F3", "mine.py", "--only", "example")
    assert (tmp_path / ".sdpa" / "mine").read_text() == "kept"
    sdpa("init")
    (tmp_path / "F3" / "attention.py").write_text(source(F3["no-scale"]))
    assert said not in sdpa("check", "F3")[1]


@pytest.mark.parametrize(
    ("exercise", "of", "name", "points"),
    [("F2", "answers.yaml", "my-answers.yaml", "10/10"), ("F5", "protocol.yaml", "plan.yaml", "8/12")],
)
def test_a_file_of_another_name_stands_for_the_one_of_its_kind(sdpa, tmp_path, exercise, of, name, points):
    (tmp_path / "mine").mkdir()
    shutil.copy(SOLUTIONS / exercise / of, tmp_path / "mine" / name)
    status, out, _ = sdpa("check", exercise, f"mine/{name}")
    assert (status, f"{points} points" in out) == (ExitCode.OK, True)


def test_notes_in_yaml_are_answers_and_no_function(sdpa, tmp_path):
    (tmp_path / "attention.py").write_text(source({}))
    (tmp_path / "notes.yaml").write_text("output: [[1, 1], [1, 1]]\n")
    _, out, _ = sdpa("check", "F3", "notes.yaml", "--only", "output,shapes")
    assert "2/3 points" in out
    assert "output has the shape (2, 2); it should have (2, 3)" in out


@pytest.mark.parametrize(
    ("exercise", "name"), [("F3", "notes.txt"), ("F3", "attention"), ("F2", "mine.py"), ("F2", "work.ipynb")]
)
def test_a_file_of_no_kind_that_is_handed_in_is_refused(sdpa, tmp_path, exercise, name):
    (tmp_path / name).write_text("x = 1\n")
    files = {"F2": "answers.yaml", "F3": "attention.py, test_attention.py, answers.yaml"}[exercise]
    status, out, err = sdpa("check", exercise, name)
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err == f"error: {name} is none of the files of {exercise}\n  expected: {files}\n"


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# F3"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import numpy as np\n", "!pip list\n", "np?"]},
        {"cell_type": "code", "source": source({})},
        {"cell_type": "code", "source": "%%timeit\nattention()\n"},
        {
            "cell_type": "code",
            "source": (SOLUTIONS / "F3" / "test_attention.py")
            .read_text()
            .replace("from attention import attention\n", ""),
        },
    ]
}


@pytest.mark.parametrize("given", ["beside the starter", "alone", "named"])
def test_a_notebook_stands_in_for_the_python_files(sdpa, tmp_path, given):
    sdpa("init")
    (tmp_path / "F3" / "work.ipynb").write_text(json.dumps(NOTEBOOK))
    shutil.copy(SOLUTIONS / "F3" / "answers.yaml", tmp_path / "F3")
    if given != "beside the starter":
        (tmp_path / "F3" / "attention.py").unlink()
        (tmp_path / "F3" / "test_attention.py").unlink()
    status, out, _ = sdpa("check", "F3", *(["F3/work.ipynb"] if given == "named" else []))
    assert (status, "32/33 points" in out) == (ExitCode.OK, True)


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        ("%matplotlib inline", True),
        ("  !pip install numpy", True),
        ("?np.exp", True),
        ("np.exp?  ", True),
        ("files = !ls", True),
        ("a, b = %timeit -o f()", True),
        ("x = 5 % 3", False),
        ("x = y != 3", False),
        ("print('?')", False),
        (" " * 200_000 + "x", False),
        ("x" + " ," * 100_000, False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_lines_that_only_a_notebook_understands_are_left_out(line, left_out):
    """However long a line is: a pattern that goes back and forth over a quarter of a million spaces never ends."""
    data = json.dumps({"cells": [{"cell_type": "code", "source": line}]}).encode()
    assert read_notebook(data, "work.ipynb").source.decode() == ("# " if left_out else "") + line + "\n"


def test_an_error_in_a_notebook_names_its_cell(sdpa, tmp_path):
    cells = [
        *NOTEBOOK["cells"][:2],
        {"cell_type": "code", "source": "def attention(Q, K, V, mask=None):\n    return 1 / 0\n"},
    ]
    (tmp_path / "work.ipynb").write_text(json.dumps({"cells": cells}))
    _, out, _ = sdpa("check", "F3", "work.ipynb")
    assert "ZeroDivisionError: division by zero (at work.ipynb[2]:2)" in " ".join(out.split())


def code(*sources):
    return json.dumps({"cells": [{"cell_type": "code", "source": one} for one in sources]})


TESTS = NOTEBOOK["cells"][-1]["source"]
CELL_BY_CELL = {
    "a later one raises": (
        [source({}), TESTS, "x = 1\n1 / 0"],
        ["cell 3 was left out: work.ipynb raised ZeroDivisionError: division by zero (at work.ipynb[3]:2)"],
    ),
    "in the function, called by a later one": (
        [source({}), TESTS, "attention(1, 2, 3)", "x = 1"],
        ["cell 3 was left out: work.ipynb raised AttributeError: "],
    ),
    "no Python": ([source({}), "for x in", TESTS], ["cell 2 was left out: work.ipynb raised SyntaxError: "]),
    "an exit": (
        ["import numpy as np", source({}), TESTS, "raise SystemExit", "x = 1", "y = 2"],
        ["cell 4 was left out: work.ipynb ended the whole program (SystemExit)"],
    ),
    "plots": (
        ["import matplotlib.pyplot as plt", source({}), TESTS, "plt.plot([1])"],
        [
            "cell 1 was left out: work.ipynb raised ModuleNotFoundError: No module named 'matplotlib'",
            "cell 4 was left out: work.ipynb raised NameError: name 'plt' is not defined (at work.ipynb[4]:1)",
        ],
    ),
}


@pytest.mark.parametrize(("cells", "said"), CELL_BY_CELL.values(), ids=CELL_BY_CELL)
def test_a_cell_that_fails_is_named_and_the_others_are_graded(sdpa, tmp_path, cells, said):
    (tmp_path / "work.ipynb").write_text(code(*cells))
    shutil.copy(SOLUTIONS / "F3" / "answers.yaml", tmp_path)
    status, out, _ = sdpa("check", "F3", "work.ipynb")
    text = " ".join(out.split())
    assert "✗ every cell of the notebook runs" in text
    assert [one in text for one in said] == [True] * len(said)
    assert text.count("was left out") == len(said)
    assert (status, "32/33 points" in text) == (ExitCode.OK, True)


@pytest.mark.parametrize(
    "cells",
    [[source({}) + "\n1 / 0\n", TESTS], [source({}), *["1 / 0"] * 9], ["1 / 0", "attend = 1"]],
    ids=["its own cell fails", "too many fail", "none defines it"],
)
def test_a_notebook_without_the_function_is_not_graded(sdpa, tmp_path, cells):
    (tmp_path / "work.ipynb").write_text(code(*cells))
    _, out, _ = sdpa("check", "F3", "work.ipynb")
    assert "0/33 points\n ✗ the file can be loaded\n" in out
    assert "left out" not in out


def test_a_notebook_that_is_none_is_said_to_be_none(sdpa, tmp_path):
    (tmp_path / "work.ipynb").write_text("{}")
    _, out, _ = sdpa("check", "F3", "work.ipynb")
    assert "work.ipynb is no Jupyter notebook" in out


@pytest.fixture
def kernels(monkeypatch):
    """A package of one's own: not in pytest's folder, which only its owner may enter, and graded code is never root."""
    with tempfile.TemporaryDirectory() as name:
        package = Path(name, "kernels")
        package.mkdir()
        Path(name).chmod(0o755)
        (package / "__init__.py").write_text("SCALE = 2\n")
        flash = source({}).replace("def attention", "def flash")
        (package / "fast.py").write_text(f"from kernels import SCALE\n{flash}")
        monkeypatch.chdir(name)
        yield package
        monkeypatch.chdir("/")


def test_a_function_of_one_s_own_package_is_graded_where_it_is(sdpa, kernels):
    status, out, _ = sdpa("check", "F3", "kernels.fast:flash", "--only", "shapes,masks,large-logits")
    assert status == ExitCode.OK, out
    assert "level L0 (limits and timeouts only)" in out
    assert sdpa("check", "F3", "kernels.fast:none", "--only", "shapes")[0] == ExitCode.FAILED


def test_what_is_no_function_is_said_to_be_none(sdpa, kernels):
    (kernels / "slow.py").write_text("x = 3\n\n\ndef late(Q, K, V, mask=None):\n    return 1\n")
    assert "kernels.slow:x is there, but is no function\n" in sdpa("check", "F3", "kernels.slow:x")[1]
    out = sdpa("check", "F3", "kernels.slow:late", "--only", "example,empty-row")[1]
    assert "late must return the arrays output, weights; it returned int" in out


def test_a_function_alone_is_not_asked_for_other_files(sdpa, kernels):
    status, out, _ = sdpa("check", "F3", "kernels.fast:flash")
    assert status == ExitCode.OK, out
    assert "26/27 points" in out
    assert "Only the function is checked here; what is asked for in test_attention.py, answers.yaml is left out." in out
    assert "next" not in out
    status, out, err = sdpa("check", "F2", "kernels.fast:flash")
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err == "error: F2 asks for no function\n  expected: answers.yaml\n"


def test_a_function_alone_waits_for_no_check_that_is_left_out(sdpa, kernels, tmp_path):
    course = tmp_path / "course"
    shutil.copytree(EXERCISES / "F4", course / "F4")
    definition = course / "F4" / "exercise.yaml"
    text = definition.read_text("utf-8")
    assert text.count("id: fixed\n") == 1
    definition.write_text(text.replace("id: fixed\n", "id: fixed\n    needs: [cause]\n"), "utf-8")
    status, out, _ = sdpa("check", "F4", "kernels.fast:flash", "--exercises", str(course))
    assert status == ExitCode.OK, out
    assert "5/5 points" in out


def test_watching_grades_again_what_was_saved(tmp_path):
    command = [sys.executable, "-m", "sdpa_cli"]
    subprocess.run([*command, "init"], cwd=tmp_path, check=True, capture_output=True)
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, "check", "F1", "--watch"], cwd=tmp_path, **piped) as watching:
        try:
            until(watching.stdout, "next ")
            until(watching.stderr, "Watching")
            time.sleep(0.3)
            solve(tmp_path, "F1")
            until(watching.stdout, "9/9 points")
        finally:
            watching.send_signal(signal.SIGINT)
            assert watching.wait(20) == ExitCode.OK


def until(stream, words):
    for line in stream:
        if words in line:
            return
    raise AssertionError(f"{words!r} never came")


@pytest.mark.parametrize(
    ("exercise", "text"),
    [("F3", source(F3[name])) for name in ("mask-transposed", "keys-as-values", "finite-sentinel", "no-max-shift")]
    + [("X1", source_x1(X1["heads-tiled"]))],
    ids=["mask-transposed", "keys-as-values", "finite-sentinel", "no-max-shift", "heads-tiled"],
)
def test_the_command_that_comes_next_shows_the_fault(sdpa, tmp_path, exercise, text):
    sdpa("init", "--lang", "en")
    (tmp_path / exercise / "attention.py").write_text(text)
    lines = sdpa("check", exercise)[1].splitlines()
    _, *command = next(line for line in lines if line.startswith("next")).split()
    assert command[:2] == ["sdpa", "explain"]
    status, out, err = sdpa(*command[1:])
    assert (status, err) == (ExitCode.OK, "")
    assert "The first difference" in out
