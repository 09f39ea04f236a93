"""Own threads over tasks, while BLAS is held at one.

A BLAS with threads of its own wakes them for every product and waits for the slowest; threads that each take whole
regions meet once per call. And products whose shape does not depend on the thread count give the same bits for any.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import cache, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sdpa_cli.cpus import keep_to, places

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")

_MOST_WAITING = 256
"""Threads that are kept at most."""


class _OneBlasThread:
    """BLAS held at one thread while anybody needs it; counted, so that overlapping and nested calls restore it once.

    The setting belongs to the process, and so does this object: there is one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._held: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._hold()
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._restore()

    def _hold(self) -> None:
        """In half of the time of `ThreadpoolController.limit`, which looks up what it may limit."""
        self._held = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
        try:
            for library, _ in self._held:
                library.set_num_threads(1)
        except BaseException:  # an interrupt, too
            self._restore()
            raise

    def _restore(self) -> None:
        for library, threads in self._held:
            library.set_num_threads(threads)

    def after_fork(self) -> None:
        """A child inherits the hold of calls that do not exist in it."""
        self._lock = threading.Lock()
        if self._users:
            self._users = 0
            self._restore()


one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread.after_fork)


def blas_architectures() -> set[str]:
    """The kinds of processor that the loaded BLAS libraries chose their kernels for."""
    return {library.get("architecture", "") for library in _blas().info()}


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process. To find them takes 1 ms, to import what finds them 4."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class _Job:
    """Work for a helper. It raises nothing."""

    def __init__(self, work: Callable[[], None], helper: _Helper) -> None:
        self.work, self._helper = work, helper
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
            _waiting.append(self._helper)
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

    def take(self, work: Callable[[], None]) -> _Job:
        """Do this next."""
        job = _Job(work, self)
        self._jobs.put(job)
        return job

    def run(self) -> None:
        """Do jobs, until enough others wait for some."""
        kept = True
        while kept:
            job = self._jobs.get()
            if job.begin():
                job.work()
                kept = len(_waiting) < _MOST_WAITING
                if kept:
                    _waiting.append(self)  # before anybody hears that it is done, and looks for a helper again
                job.end()
            del job  # and the arrays it knows


_waiting: list[_Helper] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)  # threads do not live on in a child


def _helper() -> _Helper:
    """One that waits, or a new one."""
    try:
        return _waiting.pop()
    except IndexError:
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
    before = os.sched_getaffinity(0) if mine else set()
    try:
        for place in others:
            jobs.append(_helper().take(partial(help_out, place)))
        keep_to(mine)
        work()
    finally:
        keep_to(before)
        queue.clear()
        for job in jobs:
            job.finish()
    if failures:
        raise min(failures, key=lambda failure: failure[0])[1]
