"""The words and numbers of a benchmark report, which its table, Markdown and HTML forms share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, log10

from sdpa_cli.benchmarking.report import Report, Row, Slope, Status, Summary
from sdpa_cli.benchmarking.workloads import Workload

COLUMNS = ("ms", "/ torch", "/ floor", "/ streaming", "MiB", "max error")
CAPTION = (
    "ms: median time of one call; / x: that time over x's, median of the rounds' ratios, below 1 is faster; "
    "MiB: peak memory beyond the inputs; max error: of a sample of rows against an extended-precision oracle."
)
SLOPE_COLUMNS = ("series", "fitted to", "engine", "time", "memory")
SUMMARY_COLUMNS = ("engine", "keys", "against", "workloads", "mean", "worst", "where")
NUMERIC = frozenset({*COLUMNS, "time", "memory", "workloads", "mean", "worst"})
"""The columns whose cells are set to the right."""
_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True)
class Series:
    """How one figure grows with T, for every engine: what a chart draws."""

    title: str
    unit: str
    lines: tuple[tuple[str, tuple[tuple[int, float], ...]], ...]
    """Engine and its points (T, value), by rising T."""


def cells(row: Row) -> tuple[str, ...]:
    """One engine's figures in the order of `COLUMNS`; where there are none, its status."""
    found = row.measurement
    if row.seconds is None:
        return (found.status.value, *[""] * (len(COLUMNS) - 1))
    error = "" if found.max_error is None else f"{found.max_error:.1e}"
    return (
        digits(row.seconds * 1e3),
        *("" if ratio is None else f"{ratio:.2f}" for ratio in (row.to_torch, row.to_floor, row.to_streaming)),
        "" if found.peak_bytes is None else digits(found.peak_bytes / _MIB),
        error if found.status is Status.OK else f"{error} {found.status.value}".strip(),
    )


def digits(value: float) -> str:
    """A number, 0 or more, with at least three significant digits and no exponent.

    Examples
    --------
    >>> digits(0.04567), digits(12.3456), digits(1398.4), digits(0.0)
    ('0.0457', '12.3', '1398', '0')
    """
    decimals = max(0, 2 - floor(log10(value))) if value else 0
    return f"{value:.{decimals}f}"


def by_workload(rows: Sequence[Row]) -> Iterator[tuple[Workload, list[Row]]]:
    """The rows of each workload together."""
    for workload, group in groupby(rows, key=lambda row: row.measurement.workload):
        yield workload, list(group)


def shape_words(workload: Workload) -> str:
    """A workload's shapes in the field's letters, those that say something."""
    heads = f"H={workload.heads}" if workload.heads == workload.kv_heads else f"H={workload.heads}/{workload.kv_heads}"
    length = f"T={workload.keys}" if workload.queries == workload.keys else f"Tq={workload.queries} Tk={workload.keys}"
    return f"B={workload.batch} {heads} {length} d={workload.depth}"


def notes(report: Report) -> list[str]:
    """Why figures are missing or not to be trusted, each reason once."""
    found: dict[tuple[str, Status, str], list[str]] = {}
    for row in report.rows:
        one = row.measurement
        if one.status is not Status.OK:
            found.setdefault((one.engine, one.status, one.reason or ""), []).append(one.workload.name)
    lines = [
        f"{engine} {status.value}: {reason} ({_names(names)})" for (engine, status, reason), names in found.items()
    ]
    return lines + [f"{gone.engine} is not installed; to measure it: {gone.install}" for gone in report.missing]


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more"


def slope_cells(slope: Slope) -> tuple[str, ...]:
    """Series, lengths, engine and the two exponents."""
    lengths = f"T {slope.lengths[0]} to {slope.lengths[-1]}"
    powers = ("" if power is None else f"T^{power:.2f}" for power in (slope.time, slope.memory))
    return (f"{slope.kind} {slope.dtype}", lengths, slope.engine, *powers)


def summary_cells(summary: Summary) -> tuple[str, ...]:
    """One comparison: its extent, the geometric mean of its ratios, and the worst with its workload."""
    low, high = summary.keys
    keys = f"{low} or more" if high is None else f"{low} to {high}"
    ratios = (f"{summary.geometric_mean:.2f}", f"{summary.worst:.2f}")
    return summary.engine, keys, summary.against, str(summary.workloads), *ratios, summary.worst_workload


def circumstances(report: Report) -> list[tuple[str, str]]:
    """Where and how it was measured: label and words."""
    machine = report.machine
    size = "" if machine.memory_bytes is None else f", {machine.memory_bytes / _GIB:.0f} GiB"
    load = "" if machine.load is None else f", load {machine.load:.1f} before the run"
    versions = ", ".join(f"{library} {version}" for library, version in report.versions)
    lines = [
        ("machine", f"{machine.processor}, {machine.cpus} CPUs{size}, {machine.system}{load}"),
        ("vector units", ", ".join(machine.simd)),
        ("libraries", f"Python {machine.python}, {versions}; NumPy's BLAS: {machine.blas}"),
        (
            "protocol",
            f"{report.threads} threads each, one process per engine, up to {report.rounds} interleaved rounds",
        ),
        ("memory", report.memory_method),
        ("oracle", machine.oracle),
        ("environment", " ".join(f"{name}={value}" for name, value in machine.settings)),
    ]
    return [(label, words) for label, words in lines if words]


def charts(report: Report) -> list[Series]:
    """Time and memory against T, for every series that has a slope."""
    series = dict.fromkeys((slope.kind, slope.dtype) for slope in report.slopes)
    return [chart for kind, dtype in series for chart in _charts(report.rows, kind, dtype)]


def _charts(rows: Sequence[Row], kind: str, dtype: str) -> Iterator[Series]:
    seconds: dict[str, list[tuple[int, float]]] = {}
    memory: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        found = row.measurement
        if (found.workload.kind, found.workload.dtype) != (kind, dtype) or not row.seconds:
            continue
        seconds.setdefault(found.engine, []).append((found.workload.keys, row.seconds * 1e3))
        if found.peak_bytes:
            memory.setdefault(found.engine, []).append((found.workload.keys, found.peak_bytes / _MIB))
    for title, unit, lines in (("time", "ms", seconds), ("peak memory beyond the inputs", "MiB", memory)):
        ordered = tuple((engine, tuple(sorted(points))) for engine, points in lines.items())
        if ordered:
            yield Series(f"{kind} {dtype}: {title}", unit, ordered)
