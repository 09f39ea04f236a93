"""Where results and messages go, and what becomes of them when nobody can take them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sdpa_cli import cli

TWO_TOKENS = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("two.yaml").write_text(TWO_TOKENS, "utf-8")
    return tmp_path


def finished(folder, *arguments, **streams):
    command = [sys.executable, "-m", "sdpa_cli", *arguments]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, cwd=folder, timeout=60, check=False, **{**given, **streams})


@pytest.mark.parametrize("arguments", [["--help"], ["compute", "--help"]], ids=" ".join)
def test_a_full_disk_is_no_fault_of_the_tool(folder, arguments):
    with FULL.open("wb") as full:
        done = finished(folder, *arguments, stdout=full)
    assert (done.returncode, done.stderr) == (
        2,
        b"error: cannot write to standard output: No space left on device\n",
    )


@pytest.mark.parametrize("arguments", [["--help"], ["compute", "two.yaml"], ["schema"]], ids=" ".join)
def test_a_reader_who_has_left_is_no_failed_check(folder, arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    done = finished(folder, *arguments, stdout=theirs)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [["compute", "none.yaml"], ["compute"], ["compite"]], ids=" ".join)
def test_a_message_that_nobody_hears_leaves_the_exit_status(folder, arguments):
    with FULL.open("wb") as full:
        assert finished(folder, *arguments, stderr=full).returncode == 2
    command = f'exec "{sys.executable}" -m sdpa_cli {" ".join(arguments)} 2>&-'
    assert subprocess.run(["bash", "-c", command], cwd=folder, check=False).returncode == 2


def test_a_dash_is_standard_output_as_it_is_standard_input(folder, capsys):
    assert cli.run(["compute", "two.yaml", "--output", "-"]) == 0
    assert capsys.readouterr().out.startswith("two.yaml\n")
    assert not Path("-").exists()


@pytest.mark.parametrize("option", ["--output", "--save"])
def test_a_matrix_that_the_case_reads_is_not_overwritten(folder, capsys, option):
    np.savez("q.npz", np.eye(2))
    before = Path("q.npz").read_bytes()
    Path("case.yaml").write_text(TWO_TOKENS.replace("[[1, 0], [0, 1]]", "{file: q.npz}"), "utf-8")
    assert cli.run(["compute", "case.yaml", option, "q.npz"]) == 2
    assert (
        capsys.readouterr().err == f"error: {option} q.npz is a file that is being read\n  hint: choose another name\n"
    )
    assert Path("q.npz").read_bytes() == before


def test_a_target_that_cannot_be_looked_at_is_told(folder, capsys, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "samefile", refused)
    monkeypatch.setattr(Path, "exists", refused)
    assert cli.run(["compute", "two.yaml", "--output", "locked/out.txt"]) == 2
    assert capsys.readouterr().err.startswith("error: cannot write locked/out.txt: Permission denied\n")
