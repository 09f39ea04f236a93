"""The system calls that a submission may make, as a seccomp program built by libseccomp for this machine."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyseccomp import Arg, SyscallFilter

# fmt: off
_PLAIN = [
    # memory, files already open, looking at files
    "read", "write", "readv", "writev", "pread64", "close", "fstat", "lseek", "mmap", "mprotect", "munmap",
    "mremap", "madvise", "brk", "dup", "poll", "ppoll", "select", "pselect6", "stat", "lstat", "newfstatat",
    "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd",
    # itself, time, randomness, and the machinery of threads that it does not have
    "getpid", "gettid", "getuid", "geteuid", "getgid", "getegid", "uname", "getrusage", "getrlimit", "times",
    "time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "getrandom",
    "sysinfo", "sched_yield", "sched_getaffinity", "futex", "rseq", "set_robust_list", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall", "exit", "exit_group",
]
# fmt: on
_TERMINAL_CONTROLS = (0x5401, 0x541B, 0x5451)  # TCGETS, FIONREAD, FIOCLEX: what opening a file asks
_DESCRIPTOR_CONTROLS = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
_INT = 0xFFFFFFFF  # the kernel reads an int, and so must the filter


def program(*, reads: bool) -> bytes:
    """The filter: what is listed is allowed, everything else answers EPERM; another architecture's calls kill.

    Parameters
    ----------
    reads
        Whether files may be opened for reading (another wall then says which).
    """
    from pyseccomp import EQ, ERRNO, MASKED_EQ, Arg, Attr, SyscallFilter

    calls = SyscallFilter(ERRNO(errno.EPERM))
    with contextlib.suppress(OSError):  # libseccomp before 2.5: a list, to be gone through, in place of a tree
        calls.set_attr(Attr.CTL_OPTIMIZE, 2)
    for name in _PLAIN:
        _allow(calls, name)
    _allow(calls, "prlimit64", Arg(0, EQ, 0), Arg(2, EQ, 0))  # its own limits, to look at
    for control in _TERMINAL_CONTROLS:
        _allow(calls, "ioctl", Arg(1, MASKED_EQ, _INT, control))
    for control in _DESCRIPTOR_CONTROLS:
        _allow(calls, "fcntl", Arg(1, MASKED_EQ, _INT, control))
    if reads:
        # O_TMPFILE contains O_DIRECTORY, without which no folder can be listed
        writing = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | (os.O_TMPFILE & ~os.O_DIRECTORY)
        _allow(calls, "openat", Arg(2, MASKED_EQ, writing, 0))
    with tempfile.TemporaryFile() as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read()


def _allow(calls: SyscallFilter, name: str, *conditions: Arg) -> None:
    from pyseccomp import ALLOW

    with contextlib.suppress(OSError):  # this architecture has no such call: then there is nothing to allow
        calls.add_rule(ALLOW, name, *conditions)
