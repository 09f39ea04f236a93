"""Grades every attack of tests/sandbox as a submission of F3, inside the guard that the test puts around this process.

Arguments: the exercises' folder, a folder with canaries. Output: JSON, by attack.
"""

from __future__ import annotations

import json
import site
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sandbox.attacks import ATTACKS, Attack

import sdpa_cli
from sdpa_cli.grading.grader import Wanted, grade
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.library import find_exercise
from sdpa_cli.sandbox import Level, Sandbox

AS_SUBMISSION = """

def attention(Q, K, V, mask=None):
    import numpy as np
    attack()
    return np.zeros((2, 3)), np.zeros((2, 2))
"""


def main(exercises: Path, canaries: Path) -> None:
    exercise = replace(find_exercise(exercises, "F3"), seconds=0.4)
    known = {"CANARY": str(canaries), "PRODUCT": str(Path(sdpa_cli.__file__).parent), "SITE": site.getsitepackages()[0]}
    head = "".join(f"{name} = {text!r}\n" for name, text in known.items())
    with Sandbox() as box, ThreadPoolExecutor(6) as threads:
        assert box.level >= Level.L2

        def verdict(attack: Attack) -> dict[str, list[object]]:
            files = {"attention.py": (head + attack.source + AS_SUBMISSION).encode()}
            report = grade(exercise, HandedIn(files), box, Wanted(only=("example",)))
            return {item.check: [item.status, item.earned] for item in report.items}

        verdicts = dict(zip([attack.name for attack in ATTACKS], threads.map(verdict, ATTACKS), strict=True))
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
