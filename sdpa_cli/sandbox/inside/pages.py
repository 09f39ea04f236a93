"""Large pages for the zygote's memory: forking copies, and ending frees, one entry for each where small ones take 512.

A child that writes to one gets a small page of its own, as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sdpa_cli.sandbox.inside import kernel

_LARGE = 2 << 20
_ARENA = 1 << 20
"""What CPython asks the system for at a time, for its small objects."""
_ARENAS = 12
_SMALL = 512
"""Bytes of the largest of them."""


def side_by_side() -> list[bytes]:
    """Have CPython take arenas that lie side by side, for scattered ones hold no large page.

    Returns
    -------
    list of bytes
        Objects in each, without which they would be given back.
    """
    size = _SMALL - sys.getsizeof(b"")
    objects = [bytes(size) for _ in range(_ARENAS * _ARENA // _SMALL)]
    return objects[:: _ARENA // _SMALL // 8]  # several, for how many it holds is not for us to know


def enlarge() -> None:
    """Make large pages of the private memory there is, wherever the kernel can (from 6.1 on)."""
    for start, end in _private():
        for address in range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE):
            with suppress(OSError):
                kernel.collapse(address, _LARGE)


def _private() -> Iterator[tuple[int, int]]:
    """The heap's and the arenas' first and last addresses."""
    for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
        where, rights, *_, inode, name = [*line.split(maxsplit=5), ""][:6]
        if rights == "rw-p" and inode == "0" and name in ("", "[heap]"):
            start, _, end = where.partition("-")
            yield int(start, 16), int(end, 16)
