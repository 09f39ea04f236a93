"""How much memory a process holds, and how much the machine has left: read from the operating system."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_KIB = 1024


def measured(call: Callable[[], Result]) -> tuple[Result, int | None, str]:
    """Run a call and see how far it raised this process's resident memory.

    Returns
    -------
    result
        What the call returned.
    peak : int or None
        Bytes by which the resident set at its highest exceeded the resident set before the call; None where this
        operating system does not tell.
    method : str
        How that was found out.
    """
    if _resets_high_water():
        before = _kib(_STATUS, "VmRSS")
        result = call()
        return result, max(0, _kib(_STATUS, "VmHWM") - before) * _KIB, "resident high-water mark, reset before the call"
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return call(), None, "not measured: this system does not tell"
    unit = 1 if sys.platform == "darwin" else _KIB
    before = getrusage(RUSAGE_SELF).ru_maxrss
    result = call()
    grown = getrusage(RUSAGE_SELF).ru_maxrss - before
    return result, grown * unit, "growth of the process's resident high-water mark, which cannot be reset here"


def available() -> int | None:
    """Bytes that can be had without swapping, within this process's control group; None where unknown."""
    found = [free for free in (_kib_or_none(_MEMINFO, "MemAvailable"), _left_in_cgroup()) if free is not None]
    return min(found, default=None)


def total() -> int | None:
    """Bytes of memory in the machine; None where unknown."""
    return _kib_or_none(_MEMINFO, "MemTotal")


def _resets_high_water() -> bool:
    try:
        _CLEAR.write_text("5", "ascii")  # Linux: VmHWM falls back to the present VmRSS
    except OSError:
        return False
    return True


def _kib(path: Path, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", path.read_text("utf-8"), re.MULTILINE)
    assert found, f"{path} has no {field}"
    return int(found[1])


def _kib_or_none(path: Path, field: str) -> int | None:
    return _kib(path, field) * _KIB if path.exists() else None


def _left_in_cgroup() -> int | None:
    """What a container's limit (control groups, version 2) leaves."""
    try:
        most, used = ((_CGROUP / name).read_text("ascii").strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return None if most == "max" else int(most) - int(used)
