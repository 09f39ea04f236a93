"""What this machine offers for grading, what is missing, and how to get it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from sdpa_cli import __version__
from sdpa_cli.classroom.grading import LEAST_LEVEL
from sdpa_cli.cpus import usable_cpus
from sdpa_cli.sandbox import Level, Offer, Start, probe
from sdpa_cli.sandbox.sandbox import usual_start


@dataclass(frozen=True)
class Extra:
    """Something that is not needed, and is of use."""

    name: str
    use: str
    present: bool
    cure: str


@dataclass(frozen=True)
class Examination:
    """A machine, examined."""

    system: str
    versions: tuple[tuple[str, str], ...]
    cores: int
    offer: Offer
    warm: bool
    """Whether submissions are forked from a warm interpreter: milliseconds each."""
    extras: tuple[Extra, ...]

    @property
    def grades(self) -> bool:
        """Whether a class can be graded here as it should be."""
        return self.offer.best >= LEAST_LEVEL

    @property
    def least(self) -> Level:
        """The level that grading a class asks for."""
        return LEAST_LEVEL


def examine() -> Examination:
    """Look at everything that grading uses; every level of the sandbox is tried."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return Examination(
        f"{platform.system()} {platform.release()}, {platform.machine()}",
        (("sdpa", __version__), ("Python", python), ("NumPy", np.__version__)),
        usable_cpus(),
        probe(),
        usual_start() is Start.FORK,
        (_extra("distributed", "--cluster: grading and computing on many machines", "pip install distributed"),),
    )


def _extra(module: str, use: str, cure: str) -> Extra:
    return Extra(module, use, find_spec(module) is not None, cure)
