"""How many whole F3 submissions a class's grading judges in a second, beside a fresh interpreter for each, in one run.

Usage: python benchmarks/grading.py [SUBMISSIONS]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sdpa_cli.classroom.grading import Order, grade_class
from sdpa_cli.classroom.workers import local_workers
from sdpa_cli.cpus import usable_cpus
from sdpa_cli.grading.library import find_exercise, own_exercises

SOLUTION = Path(__file__).parent.parent / "solutions" / "F3"
FRESH = 5
"""Submissions that the baseline grades; it takes the same time for each."""


def lay_out(folder: Path, count: int) -> None:
    """A folder of right submissions: all checks run, none is spared by an early failure. No two are the same bytes."""
    for number in range(count):
        place = folder / f"student-{number:05d}"
        place.mkdir(parents=True)
        for path in SOLUTION.iterdir():
            data = path.read_bytes()
            (place / path.name).write_bytes(data + f"# {number}\n".encode() if path.suffix == ".py" else data)


def whole(folder: Path, output: Path, workers: int) -> tuple[float, float]:
    """Seconds from the command to the last grade, and those from the first grade to the last, per submission."""
    exercise = find_exercise(own_exercises(), "F3")
    start, first, graded = time.perf_counter(), 0.0, 0

    def note(_: object, __: int) -> None:
        nonlocal first, graded
        first = first or time.perf_counter()
        graded += 1

    result = grade_class(Order(exercise, folder, seed="benchmark"), output, local_workers(workers), note)
    end = time.perf_counter()
    assert all(one.points and one.points > result.max_points for one in result.results)
    return end - start, (end - first) / max(1, graded - 1)


def fresh(folder: Path) -> float:
    """Seconds per submission where each is graded by a process of its own."""
    places = sorted(folder.iterdir())[:FRESH]
    start = time.perf_counter()
    for place in places:
        command = [sys.executable, "-m", "sdpa_cli", "check", "F3", str(place), "--format", "json"]
        subprocess.run(command, capture_output=True, check=True, cwd=folder)  # noqa: S603 # our own words
    return (time.perf_counter() - start) / len(places)


def main(count: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "class"
        lay_out(folder, count)
        print(f"{count} right F3 submissions, all {len(find_exercise(own_exercises(), 'F3').checks)} checks of each")
        for workers in dict.fromkeys((1, usable_cpus())):
            total, each = whole(folder, Path(name) / f"by-{workers}", workers)
            print(
                f"  {workers} worker(s): {total:6.1f} s in all; once warm {each * 1e3:6.1f} ms each, {1 / each:6.1f}/s"
            )
        seconds = fresh(folder)
        print(f"  a fresh interpreter each: {seconds * 1e3:6.1f} ms each, {1 / seconds:6.1f}/s")
        total, _ = whole(folder, Path(name) / f"by-{usable_cpus()}", usable_cpus())
        print(f"  the same class again, from its gradebook: {total:6.2f} s")
    peak = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"  largest process here {peak[0]:.0f} MiB, largest worker {peak[1]:.0f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
