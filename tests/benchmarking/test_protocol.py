"""The protocol with engines that do everything wrong: each is reported as such, the others are measured as ever."""

import io
import json
import os

import pytest

from sdpa_cli.benchmarking import lanes, memory, worker
from sdpa_cli.benchmarking.engines import ENGINES, Engine, choose
from sdpa_cli.benchmarking.measuring import Plan, plan_for, quicker, run
from sdpa_cli.benchmarking.report import Status
from sdpa_cli.benchmarking.worker import serve
from sdpa_cli.benchmarking.workloads import QUICK, WORKLOADS, Workload, select
from sdpa_cli.errors import InputError

TINY = Workload("full", 24, 24, "float64", heads=2, kv_heads=2, depth=4)
NEEDED = 2 * 24 * 24 * 8 + 2 * 24 * 4 * 8
"""Bytes of its score matrices and of its output."""
START = """
import os, sys, time
import numpy as np
from sdpa_cli.benchmarking.engines import UnsupportedError
def versions(): return {"fake": "1.0"}
def right(inputs):
    scores = inputs.q @ inputs.k.swapaxes(-1, -2) / inputs.q.shape[-1] ** 0.5
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ inputs.v
def prepare(workload, inputs, threads):
"""
# What each fake does when it is called; the status and the reason that must be reported.
FAKES = {
    "right": ("return lambda: right(inputs)", Status.OK, None),
    "chatty": ("print('{}')\n    return lambda: os.write(1, b'noise') and right(inputs)", Status.OK, None),
    "silent": ("return lambda: None", Status.OK, None),
    "wrong": ("return lambda: right(inputs) + 1e-6", Status.WRONG, "its error is more than float64 rounding"),
    "nan": ("return lambda: right(inputs) * np.nan", Status.WRONG, "its error is more than float64 rounding"),
    "narrow": ("return lambda: right(inputs)[..., :3]", Status.WRONG, "its rows have the shape (12, 3)"),
    "lacking": ("raise UnsupportedError('no float64 here')", Status.UNSUPPORTED, "no float64 here"),
    "raising": ("raise TypeError('bad\\n\\x1b[31mnews')", Status.FAILED, "TypeError: bad [31mnews"),
    "dying": (
        "sys.stderr.write('out of luck\\n')\n    os._exit(3)",
        Status.FAILED,
        "ended with exit code 3: out of luck",
    ),
    "killed": ("os.kill(os.getpid(), 9)", Status.FAILED, "ended with signal SIGKILL"),
    "nameless": ("os.kill(os.getpid(), 40)", Status.FAILED, "ended with signal 40"),
    "hanging": ("time.sleep(60)", Status.FAILED, "no answer within 3 s"),
    "late": (
        "calls = iter(range(3))\n    return lambda: right(inputs) if next(calls, None) is not None else os._exit(4)",
        Status.FAILED,
        "ended with exit code 4",
    ),
}


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A fake engine by name."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(tmp_path)

    def of(name, **rest):
        (tmp_path / f"fake_{name}.py").write_text(f"{START}    {FAKES[name][0]}\n", "utf-8")
        return Engine(name, f"fake_{name}", **rest)

    return of


@pytest.mark.parametrize("name", FAKES)
def test_what_an_engine_does_is_reported_and_no_fault_of_the_run(fake, name):
    plan = Plan((TINY,), (fake("right"), fake(name, matrices=0)), threads=1, rounds=3, timeout=3)
    rows = run(plan).rows
    _, status, reason = FAKES[name]
    assert (rows[-1].measurement.status, rows[-1].measurement.reason) == (status, reason)
    assert rows[0].measurement.status is Status.OK
    assert len(rows[0].measurement.rounds) == 3
    timed = status in (Status.OK, Status.WRONG)
    assert len(rows[-1].measurement.rounds) == (3 if timed else 0)
    assert (rows[-1].seconds is not None) == timed


def test_an_error_is_measured_where_there_is_an_answer(fake):
    rows = run(Plan((TINY,), (fake("right"), fake("wrong"), fake("silent")), threads=1, rounds=3)).rows
    assert rows[0].measurement.max_error < 1e-14
    assert rows[1].measurement.max_error == pytest.approx(1e-6, rel=1e-3)
    assert rows[2].measurement.max_error is None


def test_an_engine_that_would_fill_the_memory_is_not_started(fake, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 12 << 30)
    asked = Workload("one-head", 67000, 67000, heads=1, kv_heads=1)
    monkeypatch.setattr(lanes.oracle, "expected_rows", lambda *_: None)
    monkeypatch.setattr(lanes, "make_inputs", lambda _: None)
    (row,) = run(Plan((asked,), (fake("killed", matrices=1),), threads=1)).rows
    assert (row.measurement.status, row.measurement.reason) == (Status.STOPPED, "would need 16.7 GiB of 12 free")


@pytest.mark.parametrize(
    ("free", "status"),
    [(2 * NEEDED, Status.OK), (2 * NEEDED - 2, Status.STOPPED), (None, Status.OK)],
    ids=["half of what is free", "more than half", "unknown"],
)
def test_half_of_the_free_memory_may_be_taken(fake, monkeypatch, free, status):
    monkeypatch.setattr(memory, "available", lambda: free)
    (row,) = run(Plan((TINY,), (fake("right", matrices=1),), threads=1, rounds=3)).rows
    assert row.measurement.status is status


def test_what_is_not_installed_is_missing_and_not_a_row():
    absent = Engine("absent", "nowhere", libraries=("no_such_library_here",))
    report = run(Plan((TINY,), (absent,), threads=1))
    assert report.rows == ()
    (gone,) = report.missing
    assert (gone.engine, gone.libraries) == ("absent", ("no_such_library_here",))
    assert gone.install == "pip install no_such_library_here"


def test_a_file_in_the_users_folder_does_not_stand_in_for_a_library(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit('not NumPy')", "utf-8")
    monkeypatch.chdir(tmp_path)
    (row,) = run(Plan((TINY,), choose(["naive"]), threads=1, rounds=3)).rows
    assert row.measurement.status is Status.OK


def test_a_worker_answers_request_after_request(fake):
    engine = fake("right")
    requests = [{"repeat": 1}, {}, {"workload": vars(TINY), "cells": [[0, 0, 0], [0, 1, 5]]}, {"repeat": 2}]
    early, versions, prepared, timed = serve(engine.module, 1, iter(requests))
    assert early == {"failed": "RuntimeError: asked to run before a workload was given"}
    assert versions == {"versions": {"fake": "1.0"}}
    assert [len(row) for row in prepared["rows"]] == [4, 4]
    assert prepared["seconds"] > 0
    assert timed.keys() == {"seconds"}
    json.dumps(prepared)


def test_a_real_run_of_this_tools_own_engines():
    steps = io.StringIO()
    plan = plan_for(["causal-16-f64", "full-64-f32"], ["streaming", "naive", "floor"], threads=2)
    report = run(
        Plan(plan.workloads, plan.engines, plan.threads, rounds=3),
        lambda name, done, of: print(name, done, of, file=steps),
    )
    assert {row.measurement.status for row in report.rows} == {Status.OK}
    assert len(report.rows) == 2 * 3
    assert report.streaming_holds
    assert dict(report.versions).keys() == {"numpy"}
    assert report.threads == 2
    assert steps.getvalue().splitlines()[0] == "full-64-f32 0 2"
    for row in report.rows:
        assert row.to_floor is not None
        assert row.to_torch is None
        assert (row.measurement.max_error is None) == (row.measurement.engine == "floor")


def test_a_plan_in_the_words_of_the_command_line():
    plan = plan_for(["full-16-*"], ["naive"], threads=3)
    assert [workload.name for workload in plan.workloads] == ["full-16-f32", "full-16-f64"]
    assert (plan.engines, plan.threads) == (choose(["naive"]), 3)
    assert (plan_for([], []).workloads, plan_for([], []).engines) == (WORKLOADS, ENGINES)
    with pytest.raises(InputError):
        plan_for(["nothing"], [])


def test_quick_chooses_workloads_only_where_none_were_chosen():
    assert quicker(plan_for([], [])).workloads == select(QUICK)
    assert quicker(plan_for(["full-16-f32"], [])).workloads == select(["full-16-f32"])
    assert quicker(plan_for([], [])).rounds < Plan().rounds


def test_where_none_of_the_engines_is_installed_there_is_nothing_to_measure(monkeypatch):
    absent = (Engine("absent", "nowhere", libraries=("no_such_library_here",)),)
    monkeypatch.setattr("sdpa_cli.benchmarking.measuring.choose", lambda names: absent)
    with pytest.raises(InputError, match="there is nothing to measure: absent not installed") as caught:
        plan_for([], ["absent"])
    assert caught.value.problems[0].hint == "pip install no_such_library_here"


def test_a_system_that_keeps_nobody_to_a_cpu_is_measured_all_the_same(monkeypatch):
    asked = []

    def refuse(process, cpus):
        asked.append(cpus)
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    worker._keep_to_cpus(1)
    assert [len(cpus) for cpus in asked] == [1]
