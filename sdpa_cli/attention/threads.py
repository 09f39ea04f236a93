"""Own threads over tasks.

A BLAS with threads of its own wakes them for every product and waits for the slowest; threads that each take whole
regions meet once per call. And products whose shape does not depend on the thread count give the same bits for any.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

import numpy as np

from sdpa_cli.cpus import keep_to, kept_to, places

Task = TypeVar("Task")

_IDLE_SECONDS = 60.0
"""A helper ends, and gives its memory back, when it has had nothing to do for so long."""
_MOST_WAITING = 256
"""Where so many threads wait for jobs, one that has done its own ends."""


class _Job:
    """Work for a helper. It raises nothing."""

    def __init__(self, work: Callable[[], None], helper: _Helper) -> None:
        self.work, self.helper = work, helper
        self._begun, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()

    def begin(self) -> bool:
        """Whether the one who asks is the first to do so, and so may do it."""
        return self._begun.acquire(blocking=False)

    def end(self) -> None:
        """Say that it is done."""
        self._done.release()

    def finish(self) -> None:
        """Wait until it is done; if nobody has begun it, nobody shall, and the helper is free."""
        if self.begin():
            _waiting.append(self.helper)
        else:
            self._done.acquire()


class _Helper(threading.Thread):
    """A thread that waits for jobs. It is kept between calls, with its memory: a new one takes as long as T = 64.

    Through `concurrent.futures` it would begin 50 µs later: a twentieth of the time at T = 256.
    """

    def __init__(self) -> None:
        super().__init__(name="attention", daemon=True)
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self.start()

    def take(self, job: _Job) -> None:
        """Do this next."""
        self._jobs.put(job)

    def run(self) -> None:
        """Do jobs, until enough others wait for some or none has come for a while."""
        while (job := self._next()) is not None:
            kept = True
            if job.begin():
                job.work()
                kept = len(_waiting) < _MOST_WAITING
                if kept:
                    _waiting.append(self)  # before anybody hears that it is done, and looks for a helper again
                job.end()
            del job  # and the arrays it knows
            if not kept:
                return

    def _next(self) -> _Job | None:
        """The next job. One that is taken from those who wait, and given none, was lost to an interrupt."""
        for _ in range(2):
            with suppress(Empty):
                return self._jobs.get(timeout=_IDLE_SECONDS)
            with suppress(ValueError):
                _waiting.remove(self)
                return None
        return None


_waiting: list[_Helper] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)  # threads do not live on in a child


def _helper() -> _Helper:
    """One that waits, or a new one."""
    with suppress(IndexError):
        while True:
            helper = _waiting.pop()
            if helper.is_alive():
                return helper
    return _Helper()


def share(tasks: Iterable[Task], do: Callable[[Task], None], threads: int) -> None:
    """Do every task, on the calling thread and `threads − 1` more.

    Parameters
    ----------
    tasks
        Taken in order by whoever is free.
    do
        Does one.
    threads
        How many.

    Raises
    ------
    Exception
        That of the first failing task in order, whichever thread met one first. After a failure, or when interrupted,
        no thread takes another task.
    """
    queue = list(enumerate(tasks))[::-1]
    failures: list[tuple[int, BaseException]] = []
    mine, *others = places(max(1, min(threads, len(queue))))

    def work() -> None:
        with np.errstate(all="ignore"):
            while queue and not failures:
                try:
                    number, task = queue.pop()
                except IndexError:
                    return
                try:
                    do(task)
                except BaseException as error:
                    failures.append((number, error))

    def help_out(place: set[int]) -> None:
        keep_to(place)  # and stay there, for the system would wake it on the CPU of whoever wakes it
        work()

    jobs: list[_Job] = []
    try:
        with suppress(RuntimeError):  # no more threads are to be had
            for place in others:
                jobs.append(_Job(partial(help_out, place), _helper()))
                jobs[-1].helper.take(jobs[-1])
        with kept_to(mine):
            work()
    finally:
        queue.clear()
        for job in jobs:
            job.finish()
    if failures:
        first = min(failures, key=lambda failure: failure[0])[1]
        failures.clear()
        try:
            raise first
        finally:
            del first  # which knows this frame: together they would keep all arrays
