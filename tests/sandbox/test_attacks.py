"""Every attack, at every level that this machine offers, as root and as an ordinary user: its outcome, and no trace."""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox.attacks import ATTACKS, CHANNEL, EXITS, Attack
from sandbox.guard import HERE, guards

from sdpa_cli.sandbox import Level
from sdpa_cli.sandbox.levels import candidates

GUARDS = guards()
WALLED = [level for level in candidates() if GUARDS or level >= Level.L2]
RUNS = [(who, level.name, "FORK") for who in GUARDS or ["unguarded"] for level in WALLED if sys.platform == "linux"]
RUNS += [(who, "L0", "FRESH") for who in list(GUARDS)[-1:]]
ROOMS = [pytest.param(*run, id=" ".join(run)) for run in RUNS]


@functools.cache
def ran(who: str, level: str, start: str) -> dict:
    """One process for all attacks of a run: it is the tool's own use, and quick."""
    with_canaries = subprocess.run(
        ["mktemp", "-d", "/tmp/sdpa-canary-XXXXXX"], capture_output=True, text=True, check=True
    )
    folder = Path(with_canaries.stdout.strip())
    folder.chmod(0o777)
    (folder / "answers.txt").write_text("the-expected-values")
    (folder / "answers.txt").chmod(0o666)
    names = [attack.name for attack in ([*EXITS, *CHANNEL] if start == "FRESH" else ATTACKS)]
    try:
        done = subprocess.run(
            [
                *GUARDS.get(who, []),
                sys.executable,
                "-B",
                str(HERE / "under_guard.py"),
                level,
                start,
                str(folder),
                *names,
            ],
            env=os.environ | {"PYTHONPATH": str(HERE.parent)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if "does not hold" in done.stderr or "the sandbox ended" in done.stderr:
            pytest.skip(f"{level} is not offered to {who} here: {done.stderr.splitlines()[-1]}")
        assert done.returncode == 0, done.stderr
        files = {path.name: path.read_text() for path in folder.iterdir()}
    finally:
        subprocess.run(["rm", "-r", str(folder)], check=True)
    return json.loads(done.stdout) | {"files": files}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
@pytest.mark.parametrize(("who", "level", "start"), ROOMS)
def test_an_attack_ends_as_it_must(who: str, level: str, start: str, attack: Attack):
    outcomes = ran(who, level, start)["outcomes"]
    if attack.name not in outcomes:
        assert attack.level > Level[level] or start == "FRESH"
        return
    outcome = outcomes[attack.name]
    assert outcome["kind"] in attack.kinds, outcome
    if attack.error:
        assert outcome["error"], outcome
        assert re.fullmatch(attack.error, outcome["error"]["type"]), outcome
    if attack.value != "any" and outcome["kind"] == "returned":
        assert outcome["value"] == attack.value


@pytest.mark.parametrize(("who", "level", "start"), ROOMS)
def test_the_attacks_leave_nothing_behind(who: str, level: str, start: str):
    run = ran(who, level, start)
    assert run["files"] == {"answers.txt": "the-expected-values"}
    assert run["survivors"] == []
    assert run["descriptors"] == 0
    assert run["new_files"] == []


@pytest.mark.parametrize(("who", "level", "start"), ROOMS)
def test_a_right_submission_passes_after_all_of_them(who: str, level: str, start: str):
    after = ran(who, level, start)["after"]
    assert (after["kind"], after["value"]) == ("returned", 42.0)
