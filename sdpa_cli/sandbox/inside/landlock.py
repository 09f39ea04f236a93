"""Landlock, the kernel's own file fence: three system calls, with the same numbers on every architecture.

See the kernel's ``Documentation/userspace-api/landlock.rst``.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_PR_SET_NO_NEW_PRIVS = 38
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def version() -> int:
    """The kernel's Landlock ABI, 0 when it has none."""
    return max(0, int(_libc.syscall(_CREATE, None, 0, 1)))


def ruleset(readable: Iterable[Path]) -> int:
    """A descriptor of the rule "read these and nothing else; write, run, connect and signal nowhere"."""
    abi = version()
    rights = (1 << 13) - 1  # ABI 1: thirteen rights on files
    for since, right in ((2, 13), (3, 14), (5, 15)):  # move across folders, truncate, device controls
        rights |= (abi >= since) << right
    network = 3 if abi >= 4 else 0  # bind and connect over TCP
    scoped = 3 if abi >= 6 else 0  # abstract sockets and signals beyond this fence
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    fence = _checked(_libc.syscall(_CREATE, struct.pack("QQQ", rights, network, scoped), size, 0), "landlock")
    for path in readable:
        _allow(fence, path)
    return fence


def _allow(fence: int, path: Path) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    right = _READ_FILE | (_READ_DIR if path.is_dir() else 0)  # the kernel refuses READ_DIR on a file
    _checked(_libc.syscall(_ADD_RULE, fence, 1, struct.pack("=Qi", right, target), 0), f"landlock on {path}")
    os.close(target)


def no_new_privileges() -> None:
    """No later exec may gain rights; both Landlock and seccomp ask for this first."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def restrict(fence: int) -> None:
    """Put this process behind the fence, for good."""
    _checked(_libc.syscall(_RESTRICT, fence, 0), "landlock_restrict_self")
    os.close(fence)
