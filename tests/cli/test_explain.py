"""``sdpa explain`` as a user runs it: what is printed where, and with which exit status."""

import json
import os
import pty
import select
import sys
import termios
import time

import pytest

from sdpa_cli.cli import run
from sdpa_cli.explaining.topics import TOPICS

TWO = "title: two tokens\nQ: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


@pytest.fixture
def case(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    path = tmp_path / "case.yaml"
    path.write_text(TWO, "utf-8")
    return str(path)


def explained(capsys, *arguments):
    assert run(["explain", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_a_case_step_by_step(capsys, case):
    out = explained(capsys, case)
    assert out.startswith("two tokens\n\n1. What goes in\n")
    assert "S[1,2] = (1·2 + 0·0)/√2 = 1.4142" in out


def test_the_locale_chooses_the_language_and_an_option_overrules_it(capsys, case, monkeypatch):
    monkeypatch.setenv("LC_ALL", "hu_HU.UTF-8")
    assert "1. A skálázás" in explained(capsys, case, "--steps", "scale")
    assert "1. Skaleringen" in explained(capsys, case, "--steps", "scale", "--lang", "da")


def test_selectors(capsys, case):
    assert "1. Query 2 and key 1" in explained(capsys, case, "--cell", "2,1")
    assert "\n   2[0.6698 █] 0.3302 ▄" in explained(capsys, case, "--row", "2", "--steps", "weights")


def test_more_digits(capsys, case):
    assert "= 1.41421356" in explained(capsys, case, "--steps", "scale", "--precision", "8")


def test_a_stream_of_chosen_tiles(capsys, case):
    out = explained(capsys, case, "--stream", "--block-size", "1")
    assert "Tile 2: key 2" in out
    assert "l′[1] = 0.4931·1 + 1·1 = 1.4931" in out


def test_a_fault_beside_the_right_way(capsys, case):
    out = explained(capsys, case, "--mask", "causal", "--fault", "mask-after-softmax")
    assert "✗ row 1 sums to 0.3302, where it should sum to 1" in out


def test_the_catalogue(capsys):
    assert len(json.loads(explained(capsys, "--faults", "--format", "json"))["steps"][0]["parts"][1]["entries"]) >= 20
    assert "mask-after-softmax\n" in explained(capsys, "--faults")


@pytest.mark.parametrize("library", ["torch", "flash", "onnx", "jax"])
def test_another_library_s_habits(capsys, case, library):
    out = explained(capsys, case, "--mask", "[[0, 1], [0, 0]]", "--as", library)
    assert "1. Three habits in which libraries differ" in out


@pytest.mark.parametrize("topic", TOPICS)
def test_topics(capsys, topic):
    assert "\n1. " in explained(capsys, topic)


def test_a_topic_of_one_s_own_size(capsys):
    assert "2 heads, d_k = d_v = 4" in explained(capsys, "cost", "--tokens", "10", "--d", "4", "--heads", "2")


@pytest.mark.parametrize("name", ["F1", "f3", "F5"])
@pytest.mark.parametrize("language", ["en", "hu", "da"])
def test_an_exercise_s_statement_and_where_to_start(capsys, name, language):
    out = explained(capsys, name, "--lang", language)
    assert out.startswith(f"{name.upper()} · ")
    assert f"$ sdpa check {name.upper()}" in out


@pytest.mark.parametrize(("form", "beginning"), [("markdown", "# two"), ("html", "<!doctype html>"), ("json", "{\n")])
def test_forms(capsys, case, form, beginning):
    assert explained(capsys, case, "--format", form).startswith(beginning)


def test_into_a_file(capsys, case, tmp_path):
    target = tmp_path / "page.html"
    assert explained(capsys, case, "--format", "html", "--output", str(target)) == ""
    assert target.read_text("utf-8").endswith("</html>\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: what is to be explained?"),
        (["nothing.yaml"], "'nothing.yaml' does not exist"),
        (["here/nothing"], "'here/nothing' does not exist"),
        (
            ["nothing"],
            "error: there is no file and no topic 'nothing'\n"
            "  expected: a case file, an exercise such as F1, or one of shapes, scaling, softmax, masks, streaming, ",
        ),
        (["CASE", "--cell", "1"], "'1' is no cell; write the query and the key, for example 1,2"),
        (["CASE", "--head", "x"], "'x' is not a number, or numbers with commas, counted from 1"),
        (["CASE", "--row", "0"], "0 is not in the range x>=1"),
        (["CASE", "--fault", "no-scales"], "did you mean no-scale?"),
        (["CASE", "--as", "keras"], "'keras' is not one of"),
        (["CASE", "--lang", "de"], "'de' is not one of"),
        (["CASE", "--interactive"], "--interactive needs a terminal to read keys from"),
        (["CASE", "--interactive", "--format", "json"], "--interactive is for the terminal"),
        (["F9"], "there is no exercise F9"),
        (["F1", "--row", "2"], "F1 is an exercise: its statement is shown whole"),
        (["F1", "--fault", "no-scale"], "F1 is an exercise: its statement is shown whole"),
        (["CASE", "--output", "CASE"], "is a file that is being read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes(capsys, case, arguments, message):
    assert run(["explain", *(case if argument == "CASE" else argument for argument in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.replace("\n│", " ")


@pytest.mark.parametrize("options", [[], ["--stream"], ["--as", "torch"], ["--fault", "no-scale"]], ids=" ".join)
def test_a_matrix_that_is_read_is_not_overwritten(capsys, tmp_path, options):
    path, matrix = tmp_path / "case.yaml", tmp_path / "k.csv"
    matrix.write_text("1,1\n2,0\n", "utf-8")
    path.write_text("Q: [[1, 0], [0, 1]]\nK: {file: k.csv}\nV: [[1], [2]]\n", "utf-8")
    assert run(["explain", str(path), *options, "--output", str(matrix)]) == 2
    assert f"--output {matrix} is a file that is being read" in capsys.readouterr().err
    assert matrix.read_text("utf-8") == "1,1\n2,0\n"


def test_interactive_in_a_real_terminal(case):
    """One key forwards, one back, and the end, in a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"TERM": "xterm", "LC_ALL": "C.UTF-8", "COLUMNS": "80", "LINES": "50"}
        code = f"import sys; from sdpa_cli.cli import run; sys.exit(run(['explain', {case!r}, '--interactive']))"
        os.execv(sys.executable, [sys.executable, "-c", code])
    shown = b""

    def wait_for(text):
        nonlocal shown
        while text not in shown:
            assert select.select([terminal], [], [], 30)[0], shown.decode()
            shown += os.read(terminal, 1 << 16)
        shown = b""
        # A key counts once the tool listens to single keys.
        while termios.tcgetattr(terminal)[3] & termios.ICANON:
            time.sleep(0.01)

    wait_for(b"1 of 11")
    os.write(terminal, b" ")
    wait_for(b"2 of 11")
    os.write(terminal, b"\x1b[D")
    wait_for(b"1 of 11")
    os.write(terminal, b"q")
    assert os.waitpid(child, 0)[1] == 0


def test_an_exercise_is_meant_where_a_workspace_has_a_folder_of_its_name(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "F4").mkdir()
    assert explained(capsys, "F4", "--lang", "en").startswith("F4 · The mask that comes too late")
