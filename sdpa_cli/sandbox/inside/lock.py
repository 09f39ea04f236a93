"""The lock that every system has: identity, life and resources; and the trial of what should be locked."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass

if sys.platform != "win32":  # now: once root is given up its own library may be out of reach
    import resource
if sys.platform == "linux":
    from sdpa_cli.sandbox.inside import kernel

NOBODY_ID = 65534


class UnsafeError(Exception):
    """The lock does not hold; nothing untrusted may run."""


@dataclass(frozen=True)
class Rations:
    """What one child may use up."""

    cpu_seconds: int
    memory_bytes: int
    open_files: int


def drop_root() -> None:
    """Become nobody. Root is not held by process limits and owns the files of everyone."""
    if not hasattr(os, "geteuid"):
        return
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY_ID)  # from root, each sets the real, the effective and the saved one
        os.setuid(NOBODY_ID)
        if 0 in (os.getgid(), os.getegid(), *os.getgroups()):
            raise UnsafeError("still in root's group after giving it up")
    if 0 in (os.getuid(), os.geteuid()):
        raise UnsafeError("still root after giving it up")


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends (Linux)."""
    kernel.die_with_parent()
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(0)


def ration(rations: Rations) -> None:
    """Set the resource limits this system knows. No process and no thread may be added, no file may grow."""
    if sys.platform == "win32":
        return
    limits = {
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (0, 0),
        "RLIMIT_NPROC": (0, 0),
        "RLIMIT_MEMLOCK": (0, 0),
        "RLIMIT_MSGQUEUE": (0, 0),
        "RLIMIT_NOFILE": (rations.open_files, rations.open_files),
        "RLIMIT_AS": (rations.memory_bytes, rations.memory_bytes),
        "RLIMIT_CPU": (rations.cpu_seconds, rations.cpu_seconds + 1),
    }
    for name, limit in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None and not (name == "RLIMIT_AS" and sys.platform == "darwin"):  # refused there
            resource.setrlimit(kind, limit)


def try_the_door() -> None:
    """Attempt what must fail. A level is only what it has just been seen to hold.

    Raises
    ------
    UnsafeError
        Something that should be locked opened.
    """
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("make a socket", socket.socket),
        ("read another's file", lambda: os.open("/etc/passwd", os.O_RDONLY)),
        ("write a file", lambda: os.open("/tmp/sdpa-door", os.O_WRONLY | os.O_CREAT)),  # noqa: S108 # must not open
        ("signal its parent", lambda: os.kill(os.getppid(), 0)),
        ("start a process", _fork),
    ]
    for what, attempt in attempts:
        try:
            attempt()
        except OSError:
            continue
        raise UnsafeError(f"the sandbox lets a submission {what}")


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
