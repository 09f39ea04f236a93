"""What it costs to read a matrix written out in YAML, beside what PyYAML's C loader alone takes for the same text.

Run it with ``python benchmarks/reading.py``. Both are timed in turns in one process; the medians are printed.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import yaml

from sdpa_cli.cases import load_case

ROUNDS = 7
SHAPE = (1000, 64)
STYLES: dict[str, Callable[[float], str]] = {"all digits": repr, "4 decimals": "{:.4f}".format}


def seconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print one line for each way of writing the numbers."""
    values = np.random.default_rng(0).standard_normal(SHAPE).tolist()
    for style, write in STYLES.items():
        matrix = "[" + ",\n  ".join("[" + ", ".join(map(write, row)) + "]" for row in values) + "]"
        text = f"Q: {matrix}\nK: [{[1] * SHAPE[1]}]\nV: [[1]]\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "case.yaml")
            path.write_text(text)
            loaders = (partial(yaml.load, text, yaml.CSafeLoader), partial(load_case, path))
            rounds = [tuple(map(seconds, loaders)) for _ in range(ROUNDS)]
        plain, ours = (statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"{SHAPE[0]}×{SHAPE[1]}, {style}: CSafeLoader {plain:.3f} s, load_case {ours:.3f} s, {ours / plain:.2f}×")


if __name__ == "__main__":
    main()
