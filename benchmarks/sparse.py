"""What sparse masks cost beside the full attention, in the same run, and how many of their cells are live.

Usage: python benchmarks/sparse.py [T]
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from sdpa_cli.attention import Mask, Window, attend

HEADS, D = 8, 64
ROUNDS = 7


def masks(tokens: int) -> dict[str, Mask]:
    """Each pattern, and what it is called."""
    documents = np.repeat(np.arange(16), -(-tokens // 16))[:tokens]
    return {
        "full": Mask(),
        "causal": Mask(causal=True),
        "window 256": Mask(causal=True, window=Window(left=255)),
        "window 256, 4 global tokens": Mask(causal=True, window=Window(left=255), global_tokens=[0, 1, 2, 3]),
        "window 256, stride 1024": Mask(causal=True, window=Window(left=255), stride=1024),
        "16 documents": Mask(causal=True, segments=documents),
    }


def main() -> None:
    """Print the median time of each, interleaved, and its ratio to the full one and to its share of live cells."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, HEADS, tokens, D)).astype(np.float32) for _ in range(3))
    seconds: dict[str, list[float]] = {name: [] for name in masks(tokens)}
    for _ in range(ROUNDS):
        for name, mask in masks(tokens).items():
            start = time.perf_counter()
            attend(q, k, v, mask=mask)
            seconds[name].append(time.perf_counter() - start)
    full = statistics.median(seconds["full"])
    print(f"T = {tokens}, {HEADS} heads of {D}, float32")
    for name, mask in masks(tokens).items():
        live = attend(q[:, :1], k[:, :1], v[:, :1], mask=mask).live_counts().sum() / tokens**2
        median = statistics.median(seconds[name])
        print(f"{name:<28} {median * 1e3:8.1f} ms   1/{full / median:<6.1f} of full   live cells 1/{1 / live:.1f}")


if __name__ == "__main__":
    main()
