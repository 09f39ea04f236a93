"""Own threads over tasks, while BLAS is held at one.

A BLAS with threads of its own wakes them for every product and waits for the slowest; threads that each take whole
regions meet once per call. And products whose shape does not depend on the thread count give the same bits for any.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sdpa_cli.cpus import keep_to, places

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

Task = TypeVar("Task")

_MOST_HELPERS = 256
"""Threads that are kept at most: none is started while another has nothing to do."""


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


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads kept between calls, with their memory: new ones take a tenth of the time at T = 1024, half at 256."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_MOST_HELPERS, "attention")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # threads do not live on in a child


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

    helpers: list[Future[None]] = []
    before = os.sched_getaffinity(0) if mine else set()
    try:
        for place in others:
            helpers.append(_helpers().submit(help_out, place))
        keep_to(mine)
        work()
    except BaseException:
        _helpers.cache_clear()  # an interrupt while it was handed work may have left it locked
        raise
    finally:
        keep_to(before)
        queue.clear()
        for helper in helpers:
            # All may be busy with calls that wait for this one: what none of them has begun is not waited for.
            if not helper.cancel():
                helper.result()
    if failures:
        raise min(failures, key=lambda failure: failure[0])[1]
