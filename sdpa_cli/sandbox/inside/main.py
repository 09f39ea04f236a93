"""The bare interpreter's first steps: import, take orders from standard input, lock, serve."""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.fft
import numpy.linalg
import numpy.random

from sdpa_cli.sandbox.inside import lock
from sdpa_cli.sandbox.inside.channel import Channel
from sdpa_cli.sandbox.inside.serve import Service

# fmt: off
LATER = [
    "dataclasses", "typing", "collections.abc", "itertools", "functools", "operator", "math", "cmath",
    "numbers", "statistics", "fractions", "decimal", "warnings", "contextlib", "copy", "string", "re", "json",
    "time", "datetime", "enum", "abc", "textwrap", "pprint", "traceback", "inspect", "io", "pathlib",
    "unittest", "numpy.testing", "numpy.typing", "numpy.ma", "numpy.lib.stride_tricks", "logging", "heapq",
    "bisect", "array", "struct", "hashlib", "base64", "timeit", "doctest", "argparse", "tempfile", "csv",
    "queue", "threading", "concurrent.futures", "random",
    # in which source files are written
    *(f"encodings.{name}" for name in (
        "utf_8_sig", "ascii", "latin_1", "iso8859_1", "iso8859_2", "iso8859_15", "cp1250", "cp1251", "cp1252",
        "cp437", "cp850", "cp852", "mac_roman", "koi8_r",
    )),
]
# fmt: on
"""What submissions import. Loaded ahead in idle time, or at once where the lock leaves no file to be read."""


def main(site: str, control: int | None) -> None:
    """Become a zygote under orders from the descriptor `control`, or, without one, a single child."""
    settings = _settings()
    rest = iter(LATER)
    if not settings["reads"] or not _reachable(Path(sysconfig.get_paths()["stdlib"])):
        while _load_next(rest):
            pass
    if control is None:
        _serve_alone(settings, site)
    _serve_forks(settings, site, control, lambda: _load_next(rest))


def _settings() -> dict[str, Any]:
    size = int.from_bytes(_exactly(4), "little")
    settings: dict[str, Any] = json.loads(_exactly(size))
    return settings


def _exactly(size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def _load_next(rest: Iterator[str]) -> bool:
    name = next(rest, None)
    if name is not None:
        importlib.import_module(name)
    return name is not None


def _reachable(path: Path) -> bool:
    """Whether nobody may read there: root's own Python may lie in root's home."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return True
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _forget(site: str) -> None:
    """Leave no way back to the product's own modules, nor to the packages beside NumPy."""
    sys.path.remove(site)
    sys.path_importer_cache.pop(site, None)
    sys.argv[:] = [""]
    sys.orig_argv[:] = []
    for name in [name for name in sys.modules if name.partition(".")[0] == "sdpa_cli"]:
        del sys.modules[name]


def _serve_forks(settings: dict[str, Any], site: str, control: int, warm_up: Callable[[], bool]) -> None:
    from sdpa_cli.sandbox.inside import landlock, pages, zygote  # Linux only
    from sdpa_cli.sandbox.inside.rehearsal import rehearse

    rehearse()
    pages.enlarge()
    _forget(site)
    fence = landlock.ruleset(_readable()) if settings["landlock"] else None
    lock.drop_root()
    walls = zygote.Walls(fence, bytes.fromhex(settings["seccomp"]))
    zygote.try_out(walls)
    _mute()
    zygote.run(socket.socket(fileno=control), walls, warm_up)


def _serve_alone(settings: dict[str, Any], site: str) -> NoReturn:
    _forget(site)
    source, sink = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(sink, os.O_BINARY)
    _mute()
    lock.drop_root()
    if sys.platform == "linux":
        lock.die_with(settings["parent"])
    lock.ration(lock.Rations(*settings["rations"]))
    if settings["fenced"]:
        lock.try_the_door()
    Service(Channel(source, sink)).run()


def _mute() -> None:
    """Standard streams lead nowhere: what a submission prints goes through the channel."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _readable() -> list[Path]:
    """What a submission may read at all: Python's library without its site-packages, NumPy, and shared libraries."""
    library = Path(sysconfig.get_paths()["stdlib"])
    package = Path(np.__file__).parent
    beside = package.parent / "numpy.libs"
    entries = [entry for entry in library.iterdir() if not entry.name.endswith("-packages")]
    return [package, beside, *entries, *_library_folders(), Path("/dev/null"), Path("/dev/urandom")]


def _library_folders() -> set[Path]:
    """The folders of the libraries loaded so far, but for those that hold Python packages as well."""
    lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    loaded = {Path(line.split(maxsplit=5)[5]) for line in lines if "/" in line and ".so" in line}
    folders = {path.parent for path in loaded if path.is_absolute()}
    return {folder for folder in folders if not any(folder.glob("python*"))}
