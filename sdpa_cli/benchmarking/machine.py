"""Where a report was measured: processor, memory, NumPy, its BLAS and whatever else decides about speed."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sdpa_cli.benchmarking import memory
from sdpa_cli.benchmarking.oracle import PRECISION
from sdpa_cli.cpus import usable_cpus

_SETTINGS = re.compile(r"(OPENBLAS|MKL|BLIS|OMP|GOMP|KMP|VECLIB|XLA|NPY|MALLOC)_")


THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""How the libraries that do the work are told their number of threads."""


@dataclass(frozen=True)
class Machine:
    """What the figures depend on."""

    system: str
    processor: str
    cpus: int
    """That this process may use."""
    load: float | None
    """How many processes were busy in the minute before, on average: they make all figures worse."""
    memory_bytes: int | None
    python: str
    blas: str
    """What NumPy was built with."""
    simd: tuple[str, ...]
    """The vector instructions NumPy found on this processor, beyond those every such processor has."""
    oracle: str
    """The precision that accuracy is measured against."""
    settings: tuple[tuple[str, str], ...]
    """Environment variables of BLAS, threads and memory that were set and left alone, name and value."""


def describe() -> Machine:
    """Look at this machine."""
    config = np.show_config(mode="dicts")
    assert config
    blas = config["Build Dependencies"]["blas"]
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cpus=usable_cpus(),
        load=round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        memory_bytes=memory.total(),
        python=platform.python_version(),
        blas=f"{blas['name']} {blas['version']}",
        simd=tuple(config["SIMD Extensions"].get("found", ())),
        oracle=PRECISION,
        settings=tuple(
            sorted(
                (name, value)
                for name, value in os.environ.items()
                if _SETTINGS.match(name) and name not in THREAD_VARIABLES
            )
        ),
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", info.read_text("utf-8"), re.MULTILINE) if info.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()
