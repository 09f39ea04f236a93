"""The CPUs that this process may use, and who keeps to which."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from functools import partial
from typing import Any


def usable_cpus() -> int:
    """How many CPUs this process may use: its affinity, where the system knows one."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def places(number: int) -> list[set[int]]:
    """The CPUs that each of so many threads or processes keeps to: one of its own, where there is one for each.

    Those that wait for each other now and then look idle to the system, which may leave two of them on one CPU: then
    they take twice as long. Where there are CPUs to spare it knows best who else is at work, and which share a core.

    Returns
    -------
    list of set
        Empty ones where the system does not tell.
    """
    if not hasattr(os, "sched_getaffinity"):
        return [set()] * number
    cpus = os.sched_getaffinity(0)
    return [{cpu} for cpu in sorted(cpus)] if number == len(cpus) else [cpus] * number


class kept_to:  # noqa: N801 - read as a function
    """The calling thread kept to these CPUs within a `with`.

    An interrupt may come within `__enter__` and `__exit__`, too: then it has its own back when this object goes, by a
    weak reference, for `__del__` would swallow an interrupt that comes within it.
    """

    _open: dict[int, Any] = {}  # noqa: RUF012 - each by a reference that tells when one is gone that has not let go

    def __init__(self, place: set[int]) -> None:
        self._place = place

    def __enter__(self) -> None:
        if self._place:
            gone = weakref.ref(self, partial(self._give_back, id(self)))
            self._open[id(self)] = gone, threading.get_native_id(), os.sched_getaffinity(0)
            keep_to(self._place)

    def __exit__(self, *_: object) -> None:
        self._give_back(id(self))

    @classmethod
    def _give_back(cls, holder: int, _: object = None) -> None:
        if holder in cls._open:
            _, thread, before = cls._open[holder]  # which need not be the one that lets go of it
            keep_to(before, thread)
            del cls._open[holder]


def keep_to(place: set[int], thread: int = 0) -> None:
    """Keep a thread, by default the calling one, to these CPUs, where the system lets it: some containers do not."""
    if place:
        with suppress(OSError):
            os.sched_setaffinity(thread, place)
