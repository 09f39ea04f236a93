"""The whole process: pipes, encodings, terminals and signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TWO_TOKENS = (
    "title: 日本 é\nQ: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
    "tokens: [日本, é]\nmask: causal\n"
)
# More to print than a pipe holds, and more to compute than there is patience for.
WIDE = "".join(f"{name}: {{random: normal, shape: [400, 8], seed: 1}}\n" for name in "QKV")
LONG = "".join(f"{name}: {{random: normal, shape: [200000, 64], seed: 1}}\n" for name in "QKV")


@pytest.fixture
def start(tmp_path):
    (tmp_path / "two.yaml").write_text(TWO_TOKENS, "utf-8")
    (tmp_path / "wide.yaml").write_text(WIDE, "utf-8")
    (tmp_path / "long.yaml").write_text(LONG, "utf-8")
    processes = []

    def begin(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-m", "sdpa_cli", *arguments],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


PLAIN = {
    "utf-8": "日本 0.6698 ▅  0.3302 ▃  │ 1.0000",
    "cp1252": "?? 0.6698  0.3302  | 1.0000",
    "ascii": "?? 0.6698  0.3302  | 1.0000",
}


@pytest.mark.parametrize("encoding", PLAIN)
def test_every_encoding_gets_what_it_can_show(start, encoding):
    process = start("compute", "two.yaml", "--show", "weights", PYTHONIOENCODING=encoding)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    lines = out.decode(encoding).splitlines()
    title, last = {"utf-8": ("日本 é", "é"), "cp1252": ("?? é", "é"), "ascii": ("?? ?", "?")}[encoding]
    assert lines[0] == title
    assert lines[-1].split()[0] == last
    assert "1.0000" in lines[-2]


def test_a_pipe_gets_no_escape_sequences_and_a_forced_one_does(start):
    out, _ = start("compute", "two.yaml", TERM="xterm-256color").communicate(timeout=60)
    assert b"\x1b" not in out
    out, _ = start("compute", "two.yaml", TERM="xterm-256color", FORCE_COLOR="1").communicate(timeout=60)
    assert b"48;5;227m" in out


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_reader_that_leaves_early_is_no_error(start, form):
    process = start("compute", "wide.yaml", "--show", "scores", "--rows", "1:400", "--cols", "1:400", "--format", form)
    assert process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told(tmp_path, start):
    start("--version").communicate(timeout=60)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sdpa_cli", "compute", "two.yaml"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"error: cannot write to standard output: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no POSIX signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "kill"])
def test_a_signal_ends_it_at_once_and_cleanly(start, tmp_path, sent, status):
    (tmp_path / "out.txt").write_text("old")
    before = set(tmp_path.iterdir())
    process = start("compute", "long.yaml", "--output", "out.txt")
    # The file that is to replace the old one is there from when the computation begins.
    while not list(tmp_path.glob(".out.txt.*.tmp")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(sent)
    # Left alone, it would take many minutes.
    out, err = process.communicate(timeout=60)
    # A shell calls both the same. CPython ends by Ctrl-C's signal itself where it came while a string was executed.
    assert process.returncode in (status, -sent)
    assert (out, err) == (b"", b"")
    assert set(tmp_path.iterdir()) == before
    assert (tmp_path / "out.txt").read_text() == "old"


def test_ctrl_c_is_as_clean_while_the_command_line_is_still_imported(start, tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n", "utf-8")
    process = start("compute", "two.yaml", PYTHONPATH=str(tmp_path))
    assert (*process.communicate(timeout=60), process.returncode) == (b"", b"", 130)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
    ids=["terminal", "NO_COLOR", "dumb"],
)
def test_a_terminal_gets_colour_unless_it_declines(tmp_path, environment, coloured):
    import pty

    (tmp_path / "two.yaml").write_text(TWO_TOKENS, "utf-8")
    main, terminal = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    done = subprocess.Popen(
        [sys.executable, "-m", "sdpa_cli", "compute", "two.yaml", "--show", "weights"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
        env={**kept, "PYTHONIOENCODING": "utf-8", **environment},
    )
    os.close(terminal)
    out = b""
    while True:
        try:
            out += os.read(main, 4096)
        except OSError:
            break
    os.close(main)
    assert (done.wait(60), done.communicate()[1]) == (0, b"")
    assert (b"48;5;227m" in out) is coloured
    assert ("█".encode() in out) is not coloured
