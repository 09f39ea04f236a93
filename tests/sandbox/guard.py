"""The guard around every attack in the tests: a process namespace of its own and few processes, whatever the jail does.

The machine must not depend on the thing under test. Where the guard cannot be put up, attacks run only at the levels
that have tried their own lock.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NEEDED = [Path(sys.base_prefix), Path(sys.prefix), HERE.parent.parent]
"""What an unprivileged user must be able to read to run the tests' script."""
_FEW_PROCESSES = ["prlimit", "--nproc=200"]
_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def guards() -> dict[str, list[str]]:
    """Commands to be put before another one, by the identity under which that then runs."""
    if os.name != "posix" or sys.platform != "linux":
        return {}
    if os.geteuid() != 0:
        own = {"ordinary user": [*_FEW_PROCESSES, "unshare", "--user", "--map-current-user", *_NAMESPACE[1:]]}
    else:
        drop = "exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "
        nobody = [*_NAMESPACE, "--mount", "sh", "-c", f'{_opened()}{drop} "$@"', "sh"]
        own = {"root": [*_FEW_PROCESSES, *_NAMESPACE], "nobody": [*_FEW_PROCESSES, *nobody]}
    return {name: command for name, command in own.items() if _works(command)}


def _opened() -> str:
    """Shell commands that make `NEEDED` readable by everyone in a private mount namespace, where they lie."""
    closed = sorted({_closed_parent(path) for path in NEEDED} - {None})
    if not closed:
        return ""
    steps = ["mount -t tmpfs tmpfs /mnt"]
    for number, path in enumerate(NEEDED):
        steps += [f"mkdir /mnt/{number}", f"mount --bind {shlex.quote(str(path))} /mnt/{number}"]
    steps += [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(path))}" for path in closed]
    for number, path in enumerate(NEEDED):
        quoted = shlex.quote(str(path))
        steps += [f"mkdir -p {quoted}", f"mount --bind /mnt/{number} {quoted}"]
    return " && ".join(steps) + " && "


def _closed_parent(path: Path) -> Path | None:
    return next((one for one in reversed(path.parents) if not one.stat().st_mode & 0o001), None)


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run([*command, sys.executable, "-c", ""], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
