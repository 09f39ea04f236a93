"""How many submissions a core judges in a second, beside a fresh sandbox for each, in the same run.

Usage: python benchmarks/sandbox.py [SUBMISSIONS]
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from sdpa_cli.sandbox import Level, Sandbox

CALLS = 20
SOURCE = b"""
import numpy as np

def attention(Q, K, V, mask=None):
    S = Q @ K.T / np.sqrt(K.shape[-1])
    if mask is not None:
        S = np.where(mask, -np.inf, S)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)
    return A @ V, A
"""


def judge(box: Sandbox, inputs: list[np.ndarray]) -> None:
    """Open one submission and make its calls."""
    with box.open(SOURCE) as submission:
        for _ in range(CALLS):
            outcome = submission.call("attention", inputs, {"mask": None})
            assert outcome.kind == "returned", outcome


def spent() -> tuple[float, float]:
    """Wall time, and processor time of this process and of all its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)


def measure(level: Level, boxes: int, submissions: int) -> list[float]:
    """Seconds on the clock and of processors, with so many sandboxes one after another, and submissions in each."""
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((8, 4)) for _ in range(3)]
    before = spent()
    for _ in range(boxes):
        with Sandbox(level) as box:
            assert box.level == level
            for _ in range(submissions):
                judge(box, inputs)
    return [now - then for now, then in zip(spent(), before, strict=True)]


def shared(core: int, level: Level, count: int) -> tuple[float, float]:
    """Submissions in a second by the clock, and by processor time, on one core: without the start of their zygote."""
    os.sched_setaffinity(0, {core})
    starts = measure(level, 3, 0)
    wall, processor = (
        count / (whole - start / 3) for whole, start in zip(measure(level, 1, count), starts, strict=True)
    )
    return wall, processor


def compare(level: Level, count: int, cores: list[int]) -> None:
    """Print one level's rates."""
    few = max(2, count // 50)
    print(f"{level.name} ({level.means}), {CALLS} calls each")
    wall, processor = shared(cores[0], level, count)
    # bubblewrap's first process does not pass on what its children used
    used = f", {processor:.1f}/s by processor time" if level < Level.L3 else ""
    print(f"  one zygote for all, on one core    {wall:7.1f}/s by the clock{used}")
    with ProcessPoolExecutor(len(cores), multiprocessing.get_context("spawn")) as pool:
        rates = [wall for wall, _ in pool.map(shared, cores, [level] * len(cores), [count] * len(cores))]
    print(f"  one on each core, {len(cores)} cores          {sum(rates):7.1f}/s")
    print(f"  a fresh sandbox each, on one core  {few / measure(level, few, 1)[0]:7.1f}/s")


def main(count: int) -> None:
    """The clock says what one sees; processor time is what a busy machine can be asked about."""
    with Sandbox() as box:
        best = box.level
    cores = sorted(os.sched_getaffinity(0))
    for level in dict.fromkeys((best, min(best, Level.L2))):
        compare(level, count, cores)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
