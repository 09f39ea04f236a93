"""How far the grading of a class has come: a live line on a terminal, a plain one now and then in a log."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from sdpa_cli.classroom.results import Standing
from sdpa_cli.classroom.running import Done
from sdpa_cli.classroom.saying import standing_words
from sdpa_cli.grading.saying import Speaker
from sdpa_cli.views.outputs import tell

_LOG_SECONDS = 15.0
_FEW = 5
"""From fewer than so many, nothing can be said about the pace."""
Note = Callable[[Done, int], None]


@contextmanager
def watched(speaker: Speaker) -> Iterator[Note]:
    """Tell on standard error how the grading goes on.

    Yields
    ------
    callable
        To be called with every seat that is finished, and how many there are.
    """
    tally = Tally(speaker)
    live = sys.stderr is not None and sys.stderr.isatty()
    try:
        with _live(tally) if live else nullcontext(_Log(tally).note) as note:
            yield note
    except KeyboardInterrupt:
        tell(f"{speaker('progress.interrupted', count=tally.kept)}\n")
        raise


class Tally:
    """Standings counted, and the rate of those graded in this run."""

    def __init__(self, speaker: Speaker, now: Callable[[], float] = time.monotonic) -> None:
        self._speaker, self._now = speaker, now
        self._start = now()
        self._fresh = 0
        self.kept = 0
        """Those that have a grade, which the gradebook has."""
        self.counts: Counter[Standing] = Counter()

    def add(self, done: Done) -> int:
        """Count one; how many there are."""
        self.counts[done.result.standing] += 1
        self._fresh += done.fresh
        self.kept += done.result.record is not None
        return self.counts.total()

    def begin(self) -> str:
        """What is said before there is anything to count."""
        return self._speaker("progress.grading")

    def words(self, total: int) -> str:
        """One line: how many, how fast, how long, and how they stand."""
        done = self.counts.total()
        head = [self._speaker("progress.count", done=done, total=total), *self._pace(total - done)]
        found = [(standing, self.counts[standing]) for standing in Standing if self.counts[standing]]
        return f"{', '.join(head)}: " + ", ".join(
            f"{count} {standing_words(standing, self._speaker, count)}" for standing, count in found
        )

    def _pace(self, left: int) -> Iterator[str]:
        seconds = self._now() - self._start
        if self._fresh < _FEW or seconds <= 0:
            return
        rate = self._fresh / seconds
        yield self._speaker("progress.rate", rate=self._speaker.number(round(rate, 1)))
        if seconds_left := round(left / rate):
            yield self._speaker("progress.left", left=seconds_left)


class _Log:
    """A line every quarter of a minute, and the last."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._next = time.monotonic() + _LOG_SECONDS

    def note(self, done: Done, total: int) -> None:
        finished = self._tally.add(done) == total
        if finished or time.monotonic() >= self._next:
            self._next = time.monotonic() + _LOG_SECONDS
            tell(f"{self._tally.words(total)}\n")


@contextmanager
def _live(tally: Tally) -> Iterator[Note]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    # The words take the lines that they need: what is cut off is what an instructor has to see to.
    words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=False))
    columns = (BarColumn(bar_width=12), words)
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(tally.begin(), total=None)

        def note(done: Done, total: int) -> None:
            finished = tally.add(done)
            shown.update(task, completed=finished, total=total, description=tally.words(total))

        yield note
