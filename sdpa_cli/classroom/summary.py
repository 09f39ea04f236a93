"""A class in figures: how points are spread, which checks failed how often, and which faults are behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from sdpa_cli.classroom.choosing import NOTEBOOK
from sdpa_cli.classroom.results import ClassResult, Result, Standing
from sdpa_cli.grading.report import CELLS, LOADS, Status

BINS = 10


@dataclass(frozen=True)
class Bin:
    """One column of the distribution."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class CheckCount:
    """How one check went in the whole class."""

    check: str
    counts: Mapping[Status, int]

    @property
    def failed(self) -> int:
        """How many failed it."""
        return self.counts.get(Status.FAILED, 0)


@dataclass(frozen=True)
class Summary:
    """The class's figures. Results are numbered from 0."""

    standings: Mapping[Standing, int]
    mean: float | None
    median: float | None
    bins: tuple[Bin, ...]
    checks: tuple[CheckCount, ...]
    """In the exercise's order."""
    faults: tuple[tuple[str, tuple[int, ...]], ...]
    """Diagnosed faults with their submissions, the most frequent first."""
    for_a_person: tuple[int, ...]
    """Submissions that somebody has to look at."""


def summary(found: ClassResult) -> Summary:
    """Count."""
    points = [one.points for one in found.results if one.points is not None]
    return Summary(
        {standing: sum(one.standing is standing for one in found.results) for standing in Standing},
        fmean(points) if points else None,
        median(points) if points else None,
        _bins(points, found.max_points),
        _checks(found.results),
        _faults(found.results),
        tuple(at for at, one in enumerate(found.results) if one.needs_person),
    )


def _bins(points: Sequence[float], possible: float) -> tuple[Bin, ...]:
    """Equal parts of what is possible; what lies beyond, by a bonus, is in the last."""
    width = (possible or 1.0) / BINS
    counts = Counter(min(BINS - 1, int(one / width)) for one in points)
    return tuple(Bin(at * width, (at + 1) * width, counts[at]) for at in range(BINS))


def _checks(results: Sequence[Result]) -> tuple[CheckCount, ...]:
    counts: dict[str, Counter[Status]] = defaultdict(Counter)
    graded = [result for result in results if result.items]
    for result in graded:
        for item in result.items:
            counts[item.check][item.status] += 1
    # Of these two there is an item only where they failed: everybody else passed.
    tried = {LOADS: len(graded), CELLS: sum(NOTEBOOK in result.files for result in graded)}
    for check in tried.keys() & counts:
        counts[check][Status.PASSED] = tried[check] - counts[check].total()
    return tuple(CheckCount(check, dict(found)) for check, found in counts.items())


def _faults(results: Sequence[Result]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    found: dict[str, list[int]] = defaultdict(list)
    for at, result in enumerate(results):
        if result.fault is not None:
            found[result.fault].append(at)
    return tuple((name, tuple(found[name])) for name in sorted(found, key=lambda name: (-len(found[name]), name)))
