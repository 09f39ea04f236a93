"""The sandbox's own life: its level, its start, its end."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sdpa_cli.errors import ExitCode
from sdpa_cli.sandbox import Kind, Level, Sandbox, SandboxError, Start, fresh, levels, probe
from sdpa_cli.sandbox.levels import Missing
from sdpa_cli.sandbox.program import interpreter

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="zygotes are Linux's")


def test_what_the_machine_offers_is_tried_and_can_be_written_as_json():
    offer = probe()
    told = json.loads(json.dumps(offer.as_dict()))
    assert told["best"] == offer.best.name
    assert [rung["level"] for rung in told["rungs"]] == ["L3", "L2", "L1", "L0"]
    assert offer.rungs[-1].available
    assert all(rung.available != bool(rung.missing) for rung in offer.rungs)
    with Sandbox() as box:
        assert box.level == offer.best


@LINUX
@pytest.mark.parametrize(
    ("part", "level", "message", "hint"),
    [
        pytest.param("_seccomp", Level.L1, "L1 (seccomp) needs x", "get x", id="seccomp"),
        pytest.param("_landlock", Level.L2, "L2 (Landlock + seccomp) needs x", "get x", id="Landlock"),
        pytest.param("_bubblewrap", Level.L3, "L3 (bubblewrap + Landlock + seccomp) needs x", "get x", id="bubblewrap"),
    ],
)
def test_a_level_whose_part_is_missing_is_refused_and_says_how_to_get_it(monkeypatch, part, level, message, hint):
    monkeypatch.setattr(levels, part, lambda: Missing("x", "get x"))
    with pytest.raises(SandboxError) as caught:
        Sandbox(level)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)
    assert caught.value.exit_code == ExitCode.INTERNAL
    with Sandbox() as box:
        assert box.level < level


@LINUX
@pytest.mark.skipif(Level.L3 not in levels.candidates(), reason="needs bubblewrap")
def test_a_wall_that_does_not_hold_is_not_used(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = "the sandbox ended: bwrap: No permissions to create new namespace"
    with pytest.raises(SandboxError, match=said), Sandbox(Level.L3) as box:
        box.open(b"")
    with Sandbox() as box:
        assert box.level == Level.L2
    assert [rung.level for rung in probe().rungs if not rung.available] == [Level.L3]


@LINUX
def test_a_filter_that_lets_through_is_noticed(monkeypatch):
    from sdpa_cli.sandbox import filters

    allow_all = (0x06).to_bytes(2, "little") + bytes(2) + (0x7FFF0000).to_bytes(4, "little")  # BPF: return ALLOW
    monkeypatch.setattr(filters, "program", lambda reads: allow_all)
    with pytest.raises(SandboxError, match="the sandbox lets a submission "), Sandbox(Level.L1) as box:
        box.open(b"")


@LINUX
def test_a_fresh_start_has_no_walls_on_linux():
    with Sandbox(start=Start.FRESH) as box:
        assert box.level == Level.L0
    with pytest.raises(SandboxError):
        Sandbox(Level.L2, Start.FRESH)


def test_threads_share_a_sandbox():
    def answer(number: int) -> object:
        with box.open(f"def f(): return {number}".encode(), "f.py") as submission:
            return submission.call("f").value

    with Sandbox() as box, ThreadPoolExecutor(6) as threads:
        assert list(threads.map(answer, range(40))) == list(range(40))


def test_a_sandbox_outlives_the_thread_that_made_it():
    made = []
    thread = threading.Thread(target=lambda: made.append(Sandbox()))
    thread.start()
    thread.join()
    time.sleep(0.1)
    with made[0] as box, box.open(b"def f(): return 1", "f.py") as submission:
        assert submission.call("f").value == 1


def test_submissions_cannot_see_one_another():
    leave = b"import builtins, numpy\nbuiltins.stolen = numpy.stolen = 1"
    look = b"""
import builtins, numpy, sys
def f(): return hasattr(builtins, 'stolen') or hasattr(numpy, 'stolen') or 'first' in sys.modules
"""
    with Sandbox() as box, box.open(leave, "first.py") as first, box.open(look, "second.py") as second:
        assert first.load.kind is Kind.RETURNED
        assert second.call("f").value is False


def interrupted(box: Sandbox) -> None:
    with box.open(b"def f(): return 1", "f.py"):
        box.close()
        raise KeyboardInterrupt


def test_the_first_error_is_the_one_that_is_told():
    box = Sandbox()
    with pytest.raises(KeyboardInterrupt):
        interrupted(box)
    with pytest.raises(SandboxError, match="the sandbox has been closed"):
        box.open(b"")


def descendants(pid: int) -> set[int]:
    found = set()
    for children in Path("/proc", str(pid), "task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found |= {child} | descendants(child)
    return found


def living(pids: set[int]) -> set[int]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        pids = {pid for pid in pids if Path("/proc", str(pid)).exists() and "Z" not in _state(pid)}
        if not pids:
            break
        time.sleep(0.02)
    return pids


def _state(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


USER = """
import sys
from sdpa_cli.sandbox import *
box = Sandbox(Level[sys.argv[1]])
submission = box.open(b"import time\\ndef f():\\n    print('here')\\n    while True: time.sleep(9)", "f.py")
print("ready", flush=True)
submission.call("f")
"""


@LINUX
@pytest.mark.parametrize("level", [level.name for level in levels.candidates()])
def test_nothing_outlives_a_parent_that_is_killed(level):
    user = subprocess.Popen([sys.executable, "-c", USER, level], stdout=subprocess.PIPE)
    assert user.stdout.readline() == b"ready\n"
    started = descendants(user.pid)
    assert len(started) >= 2, "a zygote and a child"
    user.kill()
    user.wait()
    user.stdout.close()
    assert living(started) == set()


def test_an_open_submission_ends_with_its_sandbox():
    with Sandbox() as box:
        submission = box.open(b"def f(): return 1", "f.py")
        assert submission.call("f").value == 1
    with pytest.raises(SandboxError, match="the sandbox has been closed"):
        submission.call("f")


def test_the_profile_for_macos_hides_the_packages_but_numpy():
    # Whether macOS does as it says is tried by each child there, before it reads a submission.
    python = interpreter()
    profile = fresh._profile(python)
    assert profile.startswith("(version 1)(deny default)")
    for right in ("network", "process-fork", "file-write", "signal"):
        assert f"(allow {right}" not in profile
    order = [profile.index(part) for part in (f'"{python.prefix}"', "(site|dist)-packages", f'"{python.numpy}"')]
    assert order == sorted(order), "the last rule that matches decides"
