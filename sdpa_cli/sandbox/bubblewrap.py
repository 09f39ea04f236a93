"""The outermost wall: bubblewrap shows a process a bare system, and a network, processes and users of its own."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

from sdpa_cli.sandbox.program import Interpreter

_ROOT_LINKS = ("bin", "lib", "lib32", "lib64", "libx32")
_LIBRARIES = ("lib", "lib32", "lib64")


def prefix(bwrap: str, python: Interpreter) -> list[str]:
    """What to put before the interpreter's command.

    Root keeps no user namespace of its own, in which nobody would still be root outside and not be held by process
    limits: it keeps the right to change its identity, and the zygote does so before it takes the first order.
    """
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:
        identity = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        identity = ["--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    system = ["--new-session", "--hostname", "sdpa", "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    # no --die-with-parent: it means the parent's *thread*; the zygote ends when its orders do, and all else with it
    return [bwrap, *spaces, *identity, *system, *_files(python), "--chdir", "/", "--remount-ro", "/", "--"]


def _files(python: Interpreter) -> list[str]:
    """The system's libraries and Python's, all packages but NumPy hidden; each where it lies outside."""
    bind, hide = [], []
    for root in dict.fromkeys((Path("/usr"), python.prefix)):
        for folder in (root / name for name in _LIBRARIES):
            if folder.is_dir() and not folder.is_symlink():
                bind.append(folder)
                hide += sorted(folder.glob("python*/*-packages"))
    bind += [python.executable]
    shown = [python.numpy, python.numpy.parent / "numpy.libs", python.inside]
    # bubblewrap copies a closed folder's mode, and root's own Python may lie in root's home
    parents = sorted({parent for path in (*bind, *shown) for parent in path.parents} - {Path("/")})
    return [
        *chain.from_iterable(("--perms", "0755", "--dir", str(path)) for path in parents),
        *chain.from_iterable(("--ro-bind", str(path), str(path)) for path in bind),
        *_links(),
        *chain.from_iterable(("--tmpfs", str(path)) for path in hide),
        *chain.from_iterable(("--ro-bind", str(path), str(path)) for path in shown if path.exists()),
        *chain.from_iterable(("--remount-ro", str(path)) for path in hide),
    ]


def _links() -> list[str]:
    """The names in the root that programs are linked against: links into /usr, or folders of their own."""
    arguments = []
    for path in (Path("/", name) for name in _ROOT_LINKS):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir() and path.name != "bin":
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments
