"""The engines that are timed: one table, as data. Each has a module here that prepares one workload for it.

Such a module offers two functions, and is imported only in the process of its own engine:

``prepare(workload, inputs, threads) -> Call``
    Convert the inputs to the engine's own arrays and layout and build or compile whatever it needs; the returned
    call does the attention alone, and has finished when it returns. Raises `UnsupportedError` with the reason.
``versions() -> dict[str, str]``
    The libraries that do the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

from sdpa_cli.benchmarking.workloads import Workload
from sdpa_cli.errors import InputError, Problem

Call = Callable[[], Any]
"""One attention. Returns the output, ``(B, H, Tq, d_v)``, as anything `numpy.asarray` takes; None where it has none."""


class UnsupportedError(Exception):
    """An engine lacks what a workload asks for. Its message is the reason that the report shows."""


@dataclass(frozen=True)
class Engine:
    """One way to compute attention."""

    name: str
    """What ``--engines`` selects, and every table shows."""
    module: str
    """Where its `prepare` lives."""
    libraries: tuple[str, ...] = ()
    """The top-level packages that must be installed, beyond this tool's own dependencies."""
    matrices: int = 0
    """How many score matrices it is known to hold at once: what it would need is predicted before it is run."""

    def predicted_bytes(self, workload: Workload) -> int:
        """What it will need beyond the inputs, as far as that is known: its score matrices and the output."""
        return self.matrices * workload.matrix_bytes + workload.output_bytes


ENGINES = (
    Engine("streaming", f"{__name__}.streaming"),
    Engine("naive", f"{__name__}.naive", matrices=1),
    Engine("floor", f"{__name__}.floor"),
    Engine("torch", f"{__name__}.pytorch", libraries=("torch",)),
    Engine("onnxruntime", f"{__name__}.onnx_runtime", libraries=("onnxruntime", "onnx"), matrices=1),
    Engine("jax", f"{__name__}.jax_nn", libraries=("jax",), matrices=3),
)
PEERS = tuple(engine.name for engine in ENGINES if engine.libraries)
"""The engines that other projects make."""


def missing(engine: Engine) -> tuple[str, ...]:
    """The libraries an engine needs and this Python does not have. Looks without importing."""
    return tuple(library for library in engine.libraries if find_spec(library) is None)


def choose(names: Sequence[str]) -> tuple[Engine, ...]:
    """The engines of these names, in the table's order.

    Raises
    ------
    InputError
        For every name that is none.

    Examples
    --------
    >>> [engine.name for engine in choose(["naive", "streaming"])]
    ['streaming', 'naive']
    """
    known = [engine.name for engine in ENGINES]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(*(_no_such_engine(name, known) for name in unknown))
    return tuple(engine for engine in ENGINES if engine.name in names)


def _no_such_engine(name: str, known: Sequence[str]) -> Problem:
    near = get_close_matches(name, known, n=1)
    return Problem(
        "unknown-engine",
        f"no engine is called {name!r}",
        expected="one of " + ", ".join(known),
        hint=f"did you mean {near[0]!r}?" if near else None,
        path=("engines",),
    )
