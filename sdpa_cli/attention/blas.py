"""The BLAS that NumPy calls: what it chose its kernels for, and how it is held at one thread."""

from __future__ import annotations

import os
import threading
import weakref
from functools import cache, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def architectures() -> set[str]:
    """The kinds of processor that the loaded BLAS libraries chose their kernels for."""
    return {library.get("architecture", "") for library in _blas().info()}


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process. To find them takes 1 ms, to import what finds them 4."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class one_blas_thread:  # noqa: N801 - read as a function
    """BLAS held at one thread within a `with`, while any such is open: the setting belongs to the process.

    An interrupt may come within `__enter__` and `__exit__`, too. What it keeps from being given back then is given back
    when this object goes, through a weak reference: `__del__` would run after each call, and swallow an interrupt that
    comes then; and the reference must not know the object, so it goes by its id.
    """

    _lock = threading.RLock()
    _open: dict[int, Any] = {}  # noqa: RUF012 - the setting belongs to the process
    """Who holds it: by a reference that tells when one is gone that has not let go."""
    _taken: list[tuple[Any, int]] = []  # noqa: RUF012
    """The libraries and their own number of threads, until they have it back."""

    def __enter__(self) -> None:
        with self._lock:
            self._open[id(self)] = weakref.ref(self, partial(self._let_go, id(self)))
            if not self._taken:
                # Half of the time of `ThreadpoolController.limit`, which looks up what it may limit.
                self._taken[:] = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
            for library, _ in self._taken:
                library.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        self._let_go(id(self))

    @classmethod
    def _let_go(cls, holder: int, _: object = None) -> None:
        with cls._lock:
            if cls._open.keys() == {holder}:
                for library, threads in cls._taken:
                    library.set_num_threads(threads)
                cls._taken.clear()
            cls._open.pop(holder, None)

    @classmethod
    def after_fork(cls) -> None:
        """A child inherits the hold of calls that do not exist in it."""
        cls._lock = threading.RLock()
        for holder in list(cls._open):
            cls._let_go(holder)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread.after_fork)
