"""What a run found: a row for each workload and engine, and what the rows together say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from math import inf, log
from statistics import geometric_mean, linear_regression, median

from sdpa_cli.benchmarking.engines import PEERS
from sdpa_cli.benchmarking.machine import Machine
from sdpa_cli.benchmarking.workloads import Workload

RANGES: tuple[tuple[int, int | None], ...] = ((1024, None), (128, 512), (1, 64))
"""Lengths that are summarised apart: the shorter, the more a call costs beside its arithmetic."""
_SLOPE_FROM = 512


class Status(StrEnum):
    """What became of one engine on one workload."""

    OK = "ok"
    WRONG = "wrong"
    """It was timed, but its output is not the attention that was asked for."""
    UNSUPPORTED = "unsupported"
    STOPPED = "stopped"
    """Not started, since it would have filled the memory."""
    FAILED = "failed"
    """It raised an error, ended or fell silent."""


@dataclass(frozen=True)
class Measurement:
    """One engine on one workload, as it was observed."""

    workload: Workload
    engine: str
    status: Status = Status.OK
    reason: str | None = None
    """Why, in words, where the status is not OK."""
    rounds: tuple[float, ...] = ()
    """Seconds of each round; round r of all engines was measured within the same short time."""
    peak_bytes: int | None = None
    """How far the resident memory rose above what was held with the inputs in place; the output is included."""
    max_error: float | None = None
    """Largest absolute error of the sampled rows; None for the floor, which has no answer."""


@dataclass(frozen=True)
class Row:
    """A measurement beside those of the other engines. A ratio below 1 means: faster than that one."""

    measurement: Measurement
    seconds: float | None
    """Median of the rounds."""
    to_torch: float | None
    """Median of the rounds' ratios, as all ratios here."""
    to_floor: float | None
    to_streaming: float | None
    to_fastest_peer: float | None


_AGAINST: dict[str, Callable[[Row], float | None]] = {
    "torch": lambda row: row.to_torch,
    "fastest peer": lambda row: row.to_fastest_peer,
    "floor": lambda row: row.to_floor,
}
_YARDSTICKS = (*PEERS, "floor")


@dataclass(frozen=True)
class Slope:
    """How one engine's cost grows with T: cost ∝ T^slope, fitted to the logarithms."""

    kind: str
    dtype: str
    engine: str
    lengths: tuple[int, ...]
    """The Tk it was fitted to."""
    time: float | None
    memory: float | None


@dataclass(frozen=True)
class Summary:
    """One engine of this tool against another time, over all workloads of a range of lengths."""

    engine: str
    keys: tuple[int, int | None]
    """The range of Tk, ends included; None is without end."""
    against: str
    """``torch``, ``fastest peer`` or ``floor``."""
    workloads: int
    """How many both computed."""
    geometric_mean: float
    """Of the ratios."""
    worst: float
    worst_workload: str


@dataclass(frozen=True)
class Missing:
    """An engine that was asked for and is not installed."""

    engine: str
    libraries: tuple[str, ...]
    install: str
    """The command that brings it."""


@dataclass(frozen=True)
class Report:
    """Everything a view shows."""

    rows: tuple[Row, ...]
    slopes: tuple[Slope, ...]
    summaries: tuple[Summary, ...]
    missing: tuple[Missing, ...]
    machine: Machine
    versions: tuple[tuple[str, str], ...]
    """Of every library that was measured, by name."""
    threads: int
    rounds: int
    memory_method: str

    @property
    def streaming_holds(self) -> bool:
        """Whether this tool's own engine, wherever it was asked, answered and was right."""
        ours = [row.measurement.status for row in self.rows if row.measurement.engine == "streaming"]
        return all(status in (Status.OK, Status.STOPPED) for status in ours)


def compare(measurements: Sequence[Measurement]) -> tuple[Row, ...]:
    """Put every measurement beside those of the same workload."""
    rows: list[Row] = []
    for _, group in groupby(measurements, key=lambda measurement: measurement.workload):
        beside = {measurement.engine: measurement for measurement in group}
        rows += (_row(measurement, beside) for measurement in beside.values())
    return tuple(rows)


def _row(measurement: Measurement, beside: dict[str, Measurement]) -> Row:
    peers = [beside[name] for name in PEERS if name in beside and beside[name].rounds]
    sound = [peer for peer in peers if peer.status is Status.OK]
    fastest = min(sound, key=lambda peer: median(peer.rounds), default=None)
    return Row(
        measurement,
        seconds=median(measurement.rounds) if measurement.rounds else None,
        to_torch=ratio(measurement, beside.get("torch")),
        to_floor=ratio(measurement, beside.get("floor")),
        to_streaming=ratio(measurement, beside.get("streaming")),
        to_fastest_peer=ratio(measurement, fastest),
    )


def ratio(one: Measurement, other: Measurement | None) -> float | None:
    """One engine's time over the other's: the median over the rounds, in each of which both met the same machine."""
    if other is None or not one.rounds or not other.rounds:
        return None
    return median(mine / theirs for mine, theirs in zip(one.rounds, other.rounds, strict=True))


def slopes(rows: Sequence[Row]) -> tuple[Slope, ...]:
    """Fit the growth of time and memory to every series of lengths that has at least two."""
    series: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        workload = row.measurement.workload
        if row.seconds is not None and workload.queries == workload.keys >= _SLOPE_FROM:
            series.setdefault((workload.kind, workload.dtype, row.measurement.engine), []).append(row)
    return tuple(_slope(key, found) for key, found in series.items() if len(found) > 1)


def _slope(key: tuple[str, str, str], rows: Sequence[Row]) -> Slope:
    lengths = tuple(row.measurement.workload.keys for row in rows)
    seconds = [(length, row.seconds) for length, row in zip(lengths, rows, strict=True)]
    peaks = [(length, row.measurement.peak_bytes) for length, row in zip(lengths, rows, strict=True)]
    return Slope(*key, lengths=lengths, time=log_log_slope(seconds), memory=log_log_slope(peaks))


def log_log_slope(points: Sequence[tuple[float, float | None]]) -> float | None:
    """The exponent p of the least-squares fit y ∝ x^p; None with fewer than two positive points.

    Examples
    --------
    >>> round(log_log_slope([(512, 3.0), (1024, 12.0), (2048, 48.0)]), 6)
    2.0
    """
    positive = [(log(x), log(y)) for x, y in points if y]
    return linear_regression(*zip(*positive, strict=True)).slope if len(positive) > 1 else None


def summarise(rows: Sequence[Row]) -> tuple[Summary, ...]:
    """Streaming and naive against the others, from the longest workloads to the shortest."""
    ours = [row for row in rows if row.measurement.status is Status.OK and row.measurement.engine not in _YARDSTICKS]
    return tuple(
        _summary(engine, keys, against, found)
        for engine in dict.fromkeys(row.measurement.engine for row in ours)
        for keys in RANGES
        for against, ratio_of in _AGAINST.items()
        if (found := _ratios([row for row in ours if row.measurement.engine == engine], keys, ratio_of))
    )


def _ratios(
    rows: Sequence[Row], keys: tuple[int, int | None], ratio_of: Callable[[Row], float | None]
) -> list[tuple[float, str]]:
    inside = [row for row in rows if keys[0] <= row.measurement.workload.keys <= (keys[1] or inf)]
    return [(found, row.measurement.workload.name) for row in inside if (found := ratio_of(row)) is not None]


def _summary(engine: str, keys: tuple[int, int | None], against: str, found: Sequence[tuple[float, str]]) -> Summary:
    worst, workload = max(found)
    return Summary(engine, keys, against, len(found), geometric_mean(ratio for ratio, _ in found), worst, workload)
