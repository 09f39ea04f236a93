"""How many submissions a core judges in a second, beside a fresh sandbox for each, in the same run.

Usage: python benchmarks/sandbox.py [SUBMISSIONS]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from sdpa_cli.sandbox import Sandbox

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


def main(count: int) -> None:
    """Measure on one core: the parent waits while the child works, and the other way round."""
    random = np.random.default_rng(0)
    inputs = [random.standard_normal((8, 4)) for _ in range(3)]
    started = time.perf_counter()
    baseline = max(2, count // 50)
    for _ in range(baseline):
        with Sandbox() as box:
            judge(box, inputs)
    fresh = baseline / (time.perf_counter() - started)
    with Sandbox() as box:
        judge(box, inputs)
        started = time.perf_counter()
        for _ in range(count):
            judge(box, inputs)
        warm = count / (time.perf_counter() - started)
        print(f"{box.level.name} ({box.level.means}), {CALLS} calls each")
    print(f"one zygote for all   {warm:7.1f} submissions/s")
    print(f"a fresh sandbox each {fresh:7.1f} submissions/s   ratio {warm / fresh:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
