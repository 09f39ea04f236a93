"""`Sandbox`: where submissions are opened, at one level of confinement."""

from __future__ import annotations

import keyword
import os
import sys
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from types import TracebackType
from typing import TYPE_CHECKING

from sdpa_cli.sandbox.children import locked
from sdpa_cli.sandbox.fresh import Fresh
from sdpa_cli.sandbox.inside.lock import Rations
from sdpa_cli.sandbox.levels import UNUSABLE, Level, Missing, Offer, Rung, candidates, missing, notes
from sdpa_cli.sandbox.limits import Limits
from sdpa_cli.sandbox.program import SandboxError, failure

if TYPE_CHECKING:
    from sdpa_cli.sandbox.children import Launcher
    from sdpa_cli.sandbox.submission import Submission


class Start(Enum):
    """How a submission's process comes about."""

    FORK = "fork"
    """From a warm zygote: milliseconds. Linux."""
    FRESH = "fresh"
    """A new interpreter: an import of NumPy each time. Everywhere."""


def usual_start() -> Start:
    """Fork where a single-threaded process may be forked safely and held by a handle."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # another system, or a kernel before 5.3
        return Start.FRESH
    return Start.FORK


class Sandbox:
    """A place to open submissions in. Starts in the background; what it is shows when it is first used.

    Make it in the process that uses it, and not before a fork. Threads may share it.

    Parameters
    ----------
    level
        None is the best that this machine holds.
    start
        None is the best that this machine offers.

    Raises
    ------
    SandboxError
        The level asked for needs a part that is missing here, or does not hold (at first use). Nothing runs then.

    Examples
    --------
    >>> from sdpa_cli.sandbox import Sandbox
    >>> with Sandbox() as box, box.open(b"def twice(x): return 2 * x", "twice.py") as submission:
    ...     submission.call("twice", (3.0,)).value
    6.0
    """

    def __init__(self, level: Level | None = None, start: Start | None = None) -> None:
        self._start = start or usual_start()
        self._levels = candidates() if level is None else [level]
        if self._start is Start.FRESH and sys.platform == "linux":
            self._levels = [one for one in self._levels if one == Level.L0]  # its walls are built around a zygote
        lacking = missing(level) if level is not None else ()
        if lacking or not self._levels:
            raise _unavailable(level or Level.L0, lacking or (Missing("a zygote", "leave out the kind of start"),))
        self._ready = False
        self._lock = threading.Lock()
        self._launcher = self._launch()

    @property
    def level(self) -> Level:
        """The level at which submissions are confined, tried out."""
        self._get_ready()
        return self._levels[0]

    def open(
        self,
        source: bytes | Mapping[str, bytes],
        name: str = "attention.py",
        limits: Limits = Limits(),  # noqa: B008 # frozen
        provide: Mapping[str, Callable[..., object]] | None = None,
    ) -> Submission:
        """Load a submission in a process of its own.

        Parameters
        ----------
        source
            A file's bytes, or several by name: the first is loaded, called and tested, and may import the others.
        name
            The name of the one file. Names are ``identifier.py``: the caller chooses them, not the student.
        provide
            Functions of this process that the files import, by ``module.function`` (``attention`` is short for
            ``attention.attention``): the call comes here, the answer goes there, the code does not. They replace a
            file's own function of that name once the file has run, and are called in the thread that asks. Open a
            submission anew for each function that its tests are to be run against, and never provide one to a
            submission that is itself to be judged.
        """
        from sdpa_cli.sandbox.callbacks import Provided
        from sdpa_cli.sandbox.submission import Submission

        files = {name: source} if isinstance(source, bytes) else dict(source)
        for file in files:
            _check_name(file)
        self._get_ready()
        rations = Rations(limits.cpu_seconds, limits.memory_bytes, limits.open_files)
        child = locked(self._launcher.spawn(rations))
        return Submission(child, files, Provided(provide or {}, limits), limits)

    def close(self) -> None:
        """End every process of it."""
        self._launcher.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _launch(self) -> Launcher:
        if self._start is Start.FRESH:
            return Fresh(self._levels[0])
        from sdpa_cli.sandbox.forked import Zygote

        return Zygote(self._levels[0])

    def _get_ready(self) -> None:
        """Wait until the lock has been tried; where the best level does not hold, and any would do, take the next."""
        with self._lock:
            while not self._ready:
                try:
                    self._launcher.wait_until_ready()
                    self._ready = True
                except SandboxError:
                    self._launcher.close()
                    if len(self._levels) == 1:
                        raise
                    del self._levels[0]
                    self._launcher = self._launch()


def probe() -> Offer:
    """What this machine offers, by trying every level that it has the parts for. Takes a second."""
    rungs = []
    for level in reversed(Level):
        lacking = missing(level)
        if not lacking:
            try:
                with Sandbox(level) as box:
                    assert box.level == level
            except SandboxError:
                lacking = (UNUSABLE,)
        rungs.append(Rung(level, level.means, not lacking, lacking))
    return Offer(next(rung.level for rung in rungs if rung.available), tuple(rungs), notes())


def _check_name(file: str) -> None:
    stem, dot, suffix = file.rpartition(".")
    if not stem.isidentifier() or keyword.iskeyword(stem) or dot + suffix != ".py":
        raise ValueError(f"{file!r} cannot be a module's file; a name is an identifier and .py")


def _unavailable(level: Level, lacking: tuple[Missing, ...]) -> SandboxError:
    parts = ", ".join(part.part for part in lacking)
    return failure("sandbox-unavailable", f"{level.name} ({level.means}) needs {parts}", lacking[0].cure)
