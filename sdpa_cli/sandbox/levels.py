"""The ladder of confinement: what each rung is, what this machine offers of it, and how to get the rest."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict, dataclass
from enum import IntEnum
from pathlib import Path

SANDBOX_EXEC = Path("/usr/bin/sandbox-exec")


class Level(IntEnum):
    """How well a submission is confined; each level includes the ones below."""

    L0 = 0
    """Limits and timeouts only: it may read and do what the user may."""
    L1 = 1
    """The system calls are filtered (seccomp, or macOS's sandbox-exec): no network, no process, no file.

    With seccomp alone no file can be opened, so that only modules loaded beforehand can be imported.
    """
    L2 = 2
    """Landlock besides: it reads Python's library and NumPy, nothing else."""
    L3 = 3
    """bubblewrap outside of that: it sees no other file, process or network at all."""

    @property
    def means(self) -> str:
        """The parts that make up this level, for reports."""
        own_filter = "sandbox-exec" if sys.platform == "darwin" else "seccomp"
        parts = ("limits and timeouts only", own_filter, "Landlock + seccomp", "bubblewrap + Landlock + seccomp")
        return parts[self]


@dataclass(frozen=True)
class Missing:
    """A part that a level needs and this machine lacks."""

    part: str
    cure: str


@dataclass(frozen=True)
class Rung:
    """One level on this machine."""

    level: Level
    means: str
    available: bool
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True)
class Offer:
    """What this machine offers, best level first."""

    best: Level
    rungs: tuple[Rung, ...]
    notes: tuple[str, ...] = ()
    """What does not hold here although the level does."""

    def as_dict(self) -> dict[str, object]:
        """For JSON; levels are their names."""
        rungs = [asdict(rung) | {"level": rung.level.name} for rung in self.rungs]
        return {"best": self.best.name, "rungs": rungs, "notes": list(self.notes)}


def missing(level: Level) -> tuple[Missing, ...]:
    """The parts of a level that are not installed. Cheap: nothing is started, so a part that is there may yet fail."""
    if level == Level.L0:
        return ()
    if sys.platform == "darwin" and level == Level.L1:
        return () if SANDBOX_EXEC.exists() else (Missing("sandbox-exec", "it belongs to macOS"),)
    if sys.platform != "linux":
        return (Missing("Linux", "use a Linux machine, a container or WSL 2"),)
    lacks = [_seccomp()]
    if level >= Level.L2:
        lacks.append(_landlock())
    if level >= Level.L3:
        lacks.append(_bubblewrap())
    return tuple(part for part in lacks if part is not None)


def candidates() -> list[Level]:
    """The levels whose parts are all here, best first."""
    return [level for level in reversed(Level) if not missing(level)]


def notes() -> tuple[str, ...]:
    """What this system cannot hold at any level."""
    if sys.platform == "linux":
        return ()
    if sys.platform == "darwin":
        return ("memory is not limited: macOS ignores the limit",)
    return (
        "memory and processor time are not limited here, wall time is",
        "processes that a submission starts may outlive it",
    )


def _seccomp() -> Missing | None:
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return Missing("pyseccomp", "pip install pyseccomp")
    except (RuntimeError, OSError):
        return Missing("libseccomp", "Debian and Ubuntu: apt install libseccomp2; Fedora: dnf install libseccomp")
    return None


def _landlock() -> Missing | None:
    from sdpa_cli.sandbox.inside import landlock

    if landlock.version() > 0:
        return None
    return Missing("Landlock", "a kernel of 5.13 or newer with landlock among its lsm= (cat /sys/kernel/security/lsm)")


def _bubblewrap() -> Missing | None:
    if shutil.which("bwrap"):
        return None
    return Missing("bubblewrap", "Debian and Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap")


UNUSABLE = Missing(
    "permission",
    "its parts are here and did not hold when tried: bubblewrap may be older than 0.8; containers and Ubuntu 24.04's "
    "AppArmor often forbid user namespaces (docker run --security-opt seccomp=unconfined, or sysctl "
    "kernel.apparmor_restrict_unprivileged_userns=0)",
)
