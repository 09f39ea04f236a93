"""The protocol: every engine in a process of its own, all of them round by round, one workload after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from sdpa_cli.benchmarking.engines import ENGINES, Engine, choose, missing
from sdpa_cli.benchmarking.lanes import Lane, pose
from sdpa_cli.benchmarking.machine import describe
from sdpa_cli.benchmarking.report import Missing, Report, compare, slopes, summarise
from sdpa_cli.benchmarking.workloads import QUICK, WORKLOADS, Workload, select
from sdpa_cli.cpus import usable_cpus
from sdpa_cli.errors import InputError, Problem

_FEWEST_ROUNDS = 3

Steps = Callable[[str, int, int], None]
"""Told what comes next: the workload's name, how many are done, and of how many."""


def no_steps(name: str, done: int, of: int) -> None:
    """For those who do not want to be told."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and how carefully."""

    workloads: tuple[Workload, ...] = WORKLOADS
    engines: tuple[Engine, ...] = ENGINES
    threads: int = field(default_factory=usable_cpus)
    """Of each engine. Every library is told, and where the system allows it no process may use more CPUs."""
    rounds: int = 11
    seconds: float = 15.0
    """For the rounds of one workload: a slow one gets fewer rounds, but at least three."""
    timeout: float = 300.0
    """Seconds after which an engine that says nothing is given up."""


def plan_for(workloads: Sequence[str], engines: Sequence[str], threads: int | None = None) -> Plan:
    """A plan in the words of a command line.

    Parameters
    ----------
    workloads
        Names or globs; all workloads where there are none.
    engines
        Names; all engines where there are none.
    threads
        Of each engine; as many as this process may use by default.

    Raises
    ------
    InputError
        For names that are unknown, and where none of the engines is installed.
    """
    chosen = choose(engines) if engines else ENGINES
    if all(missing(engine) for engine in chosen):
        absent = [_missing(engine) for engine in chosen]
        message = f"there is nothing to measure: {' and '.join(one.engine for one in absent)} not installed"
        raise InputError(Problem("no-engine", message, hint="; ".join(one.install for one in absent)))
    return Plan(select(workloads) if workloads else WORKLOADS, chosen, threads or usable_cpus())


def quicker(plan: Plan) -> Plan:
    """The same plan with fewer rounds, and the workloads of `QUICK` unless some were chosen already."""
    workloads = select(QUICK) if plan.workloads == WORKLOADS else plan.workloads
    return replace(plan, workloads=workloads, rounds=5, seconds=2.0, timeout=30.0)


def run(plan: Plan, on_step: Steps = no_steps) -> Report:
    """Measure.

    Parameters
    ----------
    plan
        What to measure. Engines that are not installed are reported as missing.
    on_step
        Told before every workload.

    Returns
    -------
    Report
        An engine that cannot do a workload, dies or answers wrongly is reported as such; that is no error of the run.

    Examples
    --------
    >>> plan = Plan(select(["full-16-f32"]), choose(["naive"]), threads=1, rounds=3)
    >>> [row.measurement.status.value for row in run(plan).rows]
    ['ok']
    """
    engines = [engine for engine in plan.engines if not missing(engine)]
    machine = describe()
    lanes: list[Lane] = []
    for done, workload in enumerate(plan.workloads):
        on_step(workload.name, done, len(plan.workloads))
        lanes += _measure(workload, engines, plan)
    rows = compare([lane.measurement() for lane in lanes])
    versions = {library: version for lane in lanes for library, version in lane.versions.items()}
    return Report(
        rows=rows,
        slopes=slopes(rows),
        summaries=summarise(rows),
        missing=tuple(_missing(engine) for engine in plan.engines if missing(engine)),
        machine=machine,
        versions=tuple(sorted(versions.items())),
        threads=plan.threads,
        rounds=plan.rounds,
        memory_method=next((lane.memory_method for lane in lanes if lane.memory_method), "not measured"),
    )


def _measure(workload: Workload, engines: Sequence[Engine], plan: Plan) -> list[Lane]:
    """All engines on one workload, each in a fresh process: what one of them keeps from an earlier one cannot count."""
    question = pose(workload)
    lanes = [Lane(engine, question, plan.timeout) for engine in engines]
    with ExitStack() as stack:
        for lane in lanes:
            lane.start(plan.threads, stack)
        for lane in lanes:
            lane.load()
        for lane in lanes:
            lane.prepare()
        for turn in range(_rounds(lanes, plan)):
            first = turn % len(lanes)
            for lane in lanes[first:] + lanes[:first]:  # nobody always follows the same neighbour's heat
                lane.time()
    return lanes


def _rounds(lanes: Sequence[Lane], plan: Plan) -> int:
    each = sum(lane.call_seconds for lane in lanes)
    return min(plan.rounds, max(_FEWEST_ROUNDS, int(plan.seconds / each))) if each else 0


def _missing(engine: Engine) -> Missing:
    return Missing(engine.name, missing(engine), f"pip install {' '.join(engine.libraries)}")
