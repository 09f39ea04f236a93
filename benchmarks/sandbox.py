"""How many submissions a core judges in a second, beside a fresh sandbox for each, in the same run.

Usage: python benchmarks/sandbox.py [SUBMISSIONS]
"""

from __future__ import annotations

import resource
import sys
import time

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


def measure(level: Level, boxes: int, submissions: int, inputs: list[np.ndarray]) -> list[float]:
    """Seconds on the clock and of processors, with so many sandboxes one after another, and submissions in each."""
    before = spent()
    for _ in range(boxes):
        with Sandbox(level) as box:
            assert box.level == level
            for _ in range(submissions):
                judge(box, inputs)
    return [now - then for now, then in zip(spent(), before, strict=True)]


def compare(level: Level, count: int, inputs: list[np.ndarray]) -> None:
    """Print one level's rates, without the start of the one zygote, with each start of the fresh ones."""
    few = max(2, count // 50)
    starts = [seconds / few for seconds in measure(level, few, 0, inputs)]
    each = [seconds / few for seconds in measure(level, few, 1, inputs)]
    shared = [
        (seconds - start) / count for seconds, start in zip(measure(level, 1, count, inputs), starts, strict=True)
    ]
    print(f"{level.name} ({level.means}), {CALLS} calls each")
    for name, (wall, processor) in (("one zygote for all", shared), ("a fresh sandbox each", each)):
        # bubblewrap's first process does not pass on what its children used
        per_core = f"{1 / processor:7.1f}/s per core" if level < Level.L3 else ""
        print(f"  {name:20} {1 / wall:7.1f}/s by the clock {per_core}")


def main(count: int) -> None:
    """The clock says what one sees; processor time is what a busy machine can be asked about."""
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((8, 4)) for _ in range(3)]
    with Sandbox() as box:
        best = box.level
    for level in dict.fromkeys((best, min(best, Level.L2))):
        compare(level, count, inputs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
