"""Waiting for a file to be saved: times and sizes are looked at, which works on every file system."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from sdpa_cli.grading.jobs import Job

INTERVAL_SECONDS = 0.2
Stamps = dict[Path, tuple[int, int]]


def watched(jobs: Iterable[Job]) -> Iterator[tuple[Job, ...]]:
    """The jobs whose files were saved since, again and again, for ever."""
    places = {job: job.place for job in jobs if isinstance(job.place, Path)}
    before = {job: stamps(place) for job, place in places.items()}
    while True:
        time.sleep(INTERVAL_SECONDS)
        now = {job: stamps(place) for job, place in places.items()}
        changed = tuple(job for job in places if now[job] != before[job])
        before = now
        if changed:
            yield changed


def stamps(place: Path) -> Stamps:
    """Time and size of a file and its neighbours, or of the files of a folder."""
    found: Stamps = {}
    folder = place if place.is_dir() else place.parent
    for file in sorted(folder.glob("*")):
        try:
            state = file.stat()
        except OSError:
            continue  # an editor is just replacing it
        if file.suffix in (".py", ".yaml", ".ipynb"):
            found[file] = (state.st_mtime_ns, state.st_size)
    return found
