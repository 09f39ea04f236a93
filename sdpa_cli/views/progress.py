"""A sign of life on the terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 1.0


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show on standard error, if that is a terminal, that something is under way and for how long.

    Parameters
    ----------
    words
        What is under way.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    shower = threading.Thread(target=_show, args=(words, done), daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()


def _show(words: str, done: threading.Event) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    # Only work that takes this long waits for Rich's progress display to be imported.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(words, markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(words, total=None)
        done.wait()
