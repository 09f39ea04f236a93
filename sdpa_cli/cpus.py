"""The CPUs that this process may use, and who keeps to which."""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from contextlib import suppress


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

    An interrupt may come within `__exit__`, too: then it has its own back when this object goes.
    """

    _before: AbstractSet[int] = frozenset()

    def __init__(self, place: set[int]) -> None:
        self._place = place
        self._before = os.sched_getaffinity(0) if place else set()

    def __enter__(self) -> None:
        keep_to(self._place)

    def __exit__(self, *_: object) -> None:
        if self._before:
            keep_to(self._before)
            self._before = set()

    def __del__(self) -> None:
        self.__exit__()


def keep_to(place: AbstractSet[int]) -> None:
    """Keep the calling thread to these CPUs, where the system lets it: some containers do not."""
    if place:
        with suppress(OSError):
            os.sched_setaffinity(0, place)
