"""A sign of life on the terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 1.0
_LOOK_SECONDS = 0.1


@contextmanager
def waiting(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show on standard error, if that is a terminal, that something is under way, for how long and how far it is.

    Parameters
    ----------
    words
        What is under way.

    Yields
    ------
    callable
        To be told how many parts are done, and of how many, if that is known. From any thread, and as often as it is.
    """
    parts: dict[str, int] = {}

    def tell(completed: int, total: int) -> None:
        parts.update(completed=completed, total=total)

    if sys.stderr is None or not sys.stderr.isatty():
        yield tell
        return
    done = threading.Event()
    shower = threading.Thread(target=_show, args=(words, parts, done), daemon=True)
    shower.start()
    try:
        yield tell
    finally:
        done.set()
        shower.join()


def _show(words: str, parts: dict[str, int], done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    # Only work that takes this long waits for Rich's progress display to be imported.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn(words, markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words, total=None)
        while not done.wait(_LOOK_SECONDS):
            progress.update(task, **parts)  # type: ignore[arg-type]
