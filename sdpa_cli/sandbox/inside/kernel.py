"""The C library's doors to the kernel that Python has no names for (Linux)."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_MADV_COLLAPSE = 25
_libc = ctypes.CDLL(None, use_errno=True)  # once, before the fork: each costs a child a third of a millisecond
_libc.syscall.restype = ctypes.c_long


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def syscall(what: str, number: int, *arguments: Any) -> int:
    """A system call by number. Raises `OSError`."""
    return _checked(_libc.syscall(number, *arguments), what)


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "parent-death signal")


def no_new_privileges() -> None:
    """No later exec may gain rights; Landlock and seccomp ask for this first."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def load_filter(program: bytes) -> None:
    """Load a seccomp program."""
    loaded = _Program(len(program) // 8, program)
    _checked(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0), "seccomp")


def collapse(address: int, size: int) -> None:
    """Have this memory held by large pages (Linux 6.1). Raises `OSError`."""
    _checked(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), _MADV_COLLAPSE), "large pages")


def _checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result
