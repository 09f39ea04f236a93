"""Landlock, the kernel's own file fence: three system calls, with the same numbers on every architecture.

See the kernel's ``Documentation/userspace-api/landlock.rst``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from sdpa_cli.sandbox.inside import kernel

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3


def version() -> int:
    """The kernel's Landlock ABI, 0 when it has none."""
    try:
        return kernel.syscall("landlock", _CREATE, None, 0, 1)
    except OSError:
        return 0


def ruleset(readable: Iterable[Path]) -> int:
    """A descriptor of the rule "read these and nothing else; write, run, connect and signal nowhere"."""
    abi = version()
    rights = (1 << 13) - 1  # ABI 1: thirteen rights on files
    for since, right in ((2, 13), (3, 14), (5, 15)):  # move across folders, truncate, device controls
        rights |= (abi >= since) << right
    network = 3 if abi >= 4 else 0  # bind and connect over TCP
    scoped = 3 if abi >= 6 else 0  # abstract sockets and signals beyond this fence
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    fence = kernel.syscall("landlock", _CREATE, struct.pack("QQQ", rights, network, scoped), size, 0)
    for path in readable:
        _allow(fence, path)
    return fence


def _allow(fence: int, path: Path) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no permission
    right = _READ_FILE | (_READ_DIR if path.is_dir() else 0)  # the kernel refuses READ_DIR on a file
    kernel.syscall(f"landlock on {path}", _ADD_RULE, fence, 1, struct.pack("=Qi", right, target), 0)
    os.close(target)


def restrict(fence: int) -> None:
    """Put this process behind the fence, for good."""
    kernel.syscall("landlock on this process", _RESTRICT, fence, 0)
    os.close(fence)
