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


class _Helper(threading.Thread):
    """A thread that waits for jobs. It is kept between calls, with its memory: a new one takes as long as T = 64.

    Handed a job by `concurrent.futures` it begins 50 µs later, a tenth of the time at T = 256.
    """

    def __init__(self) -> None:
        super().__init__(name="attention", daemon=True)
        self._jobs: SimpleQueue[tuple[Callable[[], None], threading.Lock]] = SimpleQueue()
        self.start()

    def begin(self, job: Callable[[], None]) -> threading.Lock:
        """Start a job that raises nothing. The lock is free when it is done."""
        done = threading.Lock()
        done.acquire()
        self._jobs.put((job, done))
        return done

    def run(self) -> None:
        """Do jobs, until enough others wait for some."""
        while True:
            job, done = self._jobs.get()
            job()
            waiting = len(_waiting) < _MOST_WAITING
            if waiting:
                _waiting.append(self)
            done.release()
            if not waiting:
                return
            del job  # and the arrays it knows


_waiting: list[_Helper] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)  # threads do not live on in a child


def _helper() -> _Helper:
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

    begun: list[threading.Lock] = []
    before = os.sched_getaffinity(0) if mine else set()
    try:
        for place in others:
            begun.append(_helper().begin(partial(help_out, place)))
        keep_to(mine)
        work()
    finally:
        keep_to(before)
        queue.clear()
        for done in begun:
            done.acquire()
    if failures:
        raise min(failures, key=lambda failure: failure[0])[1]
