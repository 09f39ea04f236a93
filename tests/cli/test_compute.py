"""`sdpa compute` as a user runs it: what is printed where, and with which exit status."""

import json

import numpy as np
import pytest

from sdpa_cli import __version__, cli
from sdpa_cli.errors import ExitCode

TWO_TOKENS = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


@pytest.fixture
def sdpa(tmp_path, monkeypatch, capsys):
    """Run a command line in a folder with a few case files; gives the status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    files = {
        "two.yaml": TWO_TOKENS,
        "wrong.yaml": TWO_TOKENS + "expect: {output: [[1, 0, 0], [0, 1, 0]]}\n",
        "broken.yaml": TWO_TOKENS + "maks: causal\n",
        "empty-row.yaml": TWO_TOKENS + "mask: [[1, 1], [0, 0]]\n",
        "both.yaml": f"title: one\n{TWO_TOKENS}---\ntitle: two\n{TWO_TOKENS}mask: [[1, 1], [0, 0]]\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")

    def run(*arguments):
        status = cli.run([*arguments])
        return status, *capsys.readouterr()

    return run


def test_all_is_well(sdpa):
    status, out, err = sdpa("compute", "two.yaml")
    assert (status, err) == (ExitCode.OK, "")
    assert out.startswith("two.yaml\nshapes  Q (Tq=2, d_k=2)")


def test_an_expectation_that_does_not_hold(sdpa):
    status, out, err = sdpa("compute", "two.yaml", "wrong.yaml", "--show", "output")
    assert (status, err) == (ExitCode.FAILED, "")
    assert "✗ output differs in 4 of 6 cells; worst at O[" in out


BROKEN = """\
broken.yaml:4:1: error: unknown key 'maks'
    maks: causal
    ^
  hint: did you mean mask?

none.yaml: error: there is no such file
"""


def test_nothing_is_computed_unless_every_case_can_be_read(sdpa):
    status, out, err = sdpa("compute", "two.yaml", "broken.yaml", "none.yaml")
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith(BROKEN[: BROKEN.index("none")])
    assert "none.yaml" in err


def test_an_error_in_a_later_case_leaves_the_earlier_ones_shown(sdpa):
    status, out, err = sdpa("compute", "both.yaml", "--show", "output")
    assert status == ExitCode.BAD_INPUT
    assert out.startswith("one\n")
    assert "two" not in out
    assert err.splitlines()[0] == (
        "both.yaml:10:7: error: row 1 has no key to look at: every key is forbidden (counting from 1)"
    )


@pytest.mark.parametrize("form", ["json", "yaml", "csv", "markdown"])
def test_other_forms_are_complete_or_not_there(sdpa, form):
    status, out, _ = sdpa("compute", "both.yaml", "--format", form)
    assert (status, out) == (ExitCode.BAD_INPUT, "")


def test_json_is_what_was_computed(sdpa):
    status, out, _ = sdpa("compute", "two.yaml", "two.yaml", "--format", "json", "--mask", "causal")
    assert status == ExitCode.OK
    cases = json.loads(out)["cases"]
    assert [case["weights"][0] for case in cases] == [[1.0, 0.0]] * 2


def test_the_command_line_goes_before_the_file(sdpa):
    _, out, _ = sdpa("compute", "two.yaml", "--mask", "{key_lengths: 1}", "--dtype", "float32", "--block-size", "1")
    lines = out.splitlines()
    assert lines[3:6] == [
        "mask    key lengths 1: 2 of 4 cells forbidden",
        "dtype   float32",
        "block   1 key at a time",
    ]


def test_a_wrong_override_is_told_as_such(sdpa):
    status, out, err = sdpa("compute", "two.yaml", "--mask", "causl")
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith("--mask:1:1: error: ")


def test_standard_input_is_a_case(sdpa, monkeypatch, tmp_path):
    with (tmp_path / "two.yaml").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        status, out, _ = sdpa("compute", "-", "--show", "output")
    assert status == ExitCode.OK
    assert out.startswith("<stdin>\n")


def test_output_goes_to_a_file(sdpa, tmp_path):
    (tmp_path / "out.txt").write_text("old")
    status, out, err = sdpa("compute", "two.yaml", "--output", "out.txt")
    assert (status, out, err) == (ExitCode.OK, "", "")
    _, shown, _ = sdpa("compute", "two.yaml")
    assert (tmp_path / "out.txt").read_text("utf-8") == shown


def test_a_failed_run_leaves_the_old_output(sdpa, tmp_path):
    (tmp_path / "out.txt").write_text("old")
    status, _, _ = sdpa("compute", "both.yaml", "--output", "out.txt")
    assert status == ExitCode.BAD_INPUT
    assert (tmp_path / "out.txt").read_text() == "old"


def test_save_writes_an_archive(sdpa, tmp_path):
    status, out, _ = sdpa("compute", "two.yaml", "--save", "r.npz", "--show", "weights")
    assert status == ExitCode.OK
    assert "weights" in out
    with np.load(tmp_path / "r.npz") as archive:
        assert sorted(archive) == ["lse", "weights"]


REFUSED = {
    "several to save": (
        ["two.yaml", "two.yaml", "--save", "r.npz"],
        "error: --save takes one case, and here are 2\n"
        "  hint: save each on its own, or write --format json, which holds them all\n",
    ),
    "overwriting the case": (
        ["two.yaml", "--output", "./two.yaml"],
        "error: --output two.yaml is a file that is being read\n  hint: choose another name\n",
    ),
    "two results in one file": (
        ["two.yaml", "--output", "r.npz", "--save", "r.npz"],
        "error: --output and --save both name r.npz\n",
    ),
    "saving anything but an archive": (
        ["two.yaml", "--save", "r.npy"],
        "error: --save writes several arrays, and r.npy is not named as their archive\n"
        "  expected: a file ending in .npz\n"
        "  hint: --save r.npz; np.load gives its arrays by name\n",
    ),
    "no folder": (
        ["two.yaml", "--save", "none/r.npz"],
        "error: cannot write none/r.npz: No such file or directory\n"
        "  expected: a file in a folder that may be written to\n",
    ),
    "no such row": (["two.yaml", "--rows", "2,5:9"], "error: --rows 2,5:9: there are only 2 rows\n"),
    "no such column": (["two.yaml", "--cols", "4"], "error: --cols 4: there are only 3 columns\n"),
    "neither": (
        ["two.yaml", "--rows", "3", "--cols", "4", "--format", "csv"],
        "error: --rows 3: there are only 2 rows\n\nerror: --cols 4: there are only 3 columns\n",
    ),
    "no columns for these": (
        ["two.yaml", "--cols", "3", "--show", "weights"],
        "error: --cols 3: there are only 2 columns\n",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused(sdpa, arguments, message):
    assert sdpa("compute", *arguments) == (ExitCode.BAD_INPUT, "", message)


USAGE = {
    "option": (["compute", "x", "--row", "1"], "No such option '--row'. (Did you mean one of: '--rows', '--show'?)"),
    "command": (["comput"], "No such command 'comput'. Did you mean 'compute'?"),
    "no case": (["compute"], "Missing argument 'CASE...'."),
    "form": (
        ["compute", "x", "--format", "xml"],
        "Invalid value for '--format': 'xml' is not one of 'table', 'json', 'yaml', 'csv', 'markdown'.",
    ),
    "show": (
        ["compute", "x", "--show", "score"],
        "Invalid value for '--show': 'score' is none of mask, scores, weights, heads, concatenated, output",
    ),
    "rows": (["compute", "x", "--rows", "3:1"], "Invalid value for '--rows': '3:1' runs backwards"),
    "precision": (
        ["compute", "x", "--precision", "0"],
        "Invalid value for '--precision': 0 is not in the range 1<=x<=17.",
    ),
    "blocks": (["compute", "x", "--block-size", "0"], "Invalid value for '--block-size': 0 is not in the range x>=1."),
}


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_a_wrong_command_line_is_told_in_one_line(sdpa, arguments, message):
    status, out, err = sdpa(*arguments)
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err.splitlines()[-1] == f"Error: {message}"


def test_help_and_version(sdpa):
    for arguments in (["--help"], ["-h"], ["compute", "--help"], ["schema", "--help"]):
        status, out, err = sdpa(*arguments)
        assert (status, err) == (ExitCode.OK, "")
        assert out.startswith("Usage: sdpa ")
    assert sdpa("--version") == (ExitCode.OK, f"sdpa {__version__}\n", "")


def test_no_command_is_a_request_for_help(sdpa):
    status, out, err = sdpa()
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert err.startswith("Usage: sdpa ")


def test_the_schema_is_printed(sdpa):
    status, out, _ = sdpa("schema")
    assert status == ExitCode.OK
    assert {"Q", "K", "V", "X"} <= json.loads(out)["properties"].keys()


def test_a_fault_of_the_tool_is_its_own(sdpa, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("sdpa_cli.computing.compute", fail)
    status, out, err = sdpa("compute", "two.yaml")
    assert (status, out) == (ExitCode.INTERNAL, "")
    assert err == (
        "internal error: ZeroDivisionError: division by zero\n"
        "This is a fault of sdpa, not of your input. Please report it with the case file and the command;\n"
        "with SDPA_DEBUG=1 in the environment, the same command prints where it happened.\n"
    )
    monkeypatch.setenv("SDPA_DEBUG", "1")
    assert sdpa("compute", "two.yaml")[2].startswith("Traceback (most recent call last):")


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), cli.INTERRUPTED, ""),
        (
            MemoryError(),
            ExitCode.BAD_INPUT,
            "error: there is not enough memory for this\n  hint: ask for less: --show, --rows\n",
        ),
    ],
    ids=["interruption", "memory"],
)
def test_what_ends_a_computation(sdpa, monkeypatch, error, status, message):
    def end(*_):
        raise error

    monkeypatch.setattr("sdpa_cli.computing.compute", end)
    assert sdpa("compute", "two.yaml") == (status, "", message)
