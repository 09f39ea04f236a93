"""Which attention problems are timed: one table, as data, each problem with a name such as ``causal-2048-f32``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

from sdpa_cli.errors import InputError, Problem

ITEM_SIZES = {"float32": 4, "float64": 8}
_ABBREVIATIONS = {"float32": "f32", "float64": "f64"}


@dataclass(frozen=True)
class Workload:
    """One attention problem: its shapes, its dtype and what is forbidden in it. The numbers themselves are seeded."""

    kind: str
    """What is special about it: ``full``, ``causal``, ``decode`` …; workloads of one kind form a scaling series."""
    queries: int
    """Tq."""
    keys: int
    """Tk."""
    dtype: str = "float32"
    batch: int = 1
    """B."""
    heads: int = 8
    """H."""
    kv_heads: int = 8
    """H of K and V; query head h reads kv head ``h // (heads / kv_heads)``."""
    depth: int = 64
    """d_k and d_v."""
    causal: bool = False
    reach: int | None = None
    """A window: query i sees keys ``i − reach … i + reach``, both ends included."""
    lengths: tuple[int, ...] | None = None
    """Padding: how many keys of each batch entry are real."""
    forbidden_share: float = 0.0
    """A random boolean mask, one for all heads, that forbids each key with this probability."""

    @property
    def name(self) -> str:
        """What ``--workload`` selects, such as ``gqa-decode-8192-f32``: the kind, Tk and the dtype."""
        return f"{self.kind}-{self.keys}-{_ABBREVIATIONS[self.dtype]}"

    @property
    def scores(self) -> int:
        """How many scores there are, the forbidden ones included."""
        return self.batch * self.heads * self.queries * self.keys

    @property
    def matrix_bytes(self) -> int:
        """The size of all score matrices, the O(T²) that streaming avoids."""
        return self.scores * ITEM_SIZES[self.dtype]

    @property
    def output_bytes(self) -> int:
        """The size of the output, which every engine must produce."""
        return self.batch * self.heads * self.queries * self.depth * ITEM_SIZES[self.dtype]

    def shrunk(self, most: int = 16) -> Workload:
        """The same kind of problem, so small that it only wakes up an engine's code."""
        lengths = None if self.lengths is None else tuple(min(most, length) for length in self.lengths)
        return replace(self, queries=min(most, self.queries), keys=min(most, self.keys), lengths=lengths)


def _square(kind: str, length: int, **rest: object) -> Workload:
    return replace(Workload(kind, length, length), **rest)  # type: ignore[arg-type]


def _both_dtypes(workloads: Iterable[Workload]) -> tuple[Workload, ...]:
    return tuple(replace(workload, dtype=dtype) for workload in workloads for dtype in ITEM_SIZES)


WORKLOADS = (
    *_both_dtypes(
        [
            *(_square("full", length) for length in (16, 64, 128, 512, 1024, 2048, 4096)),
            *(_square("causal", length, causal=True) for length in (16, 64, 128, 512, 1024, 2048, 4096)),
            _square("random-mask", 2048, forbidden_share=0.5),
            *(_square("window", length, reach=255) for length in (2048, 8192)),
            _square("padding", 2048, batch=4, lengths=(512, 1024, 1536, 2048)),
            Workload("decode", 1, 8192, heads=32, kv_heads=32),
            Workload("gqa-decode", 1, 8192, heads=32, kv_heads=8),
            _square("gqa-prefill", 2048, heads=32, kv_heads=8, causal=True),
            _square("one-head", 16384, heads=1, kv_heads=1),
            _square("one-head-causal", 16384, heads=1, kv_heads=1, causal=True),
        ]
    ),
    _square("one-head", 65536, heads=1, kv_heads=1),
)
"""Every workload that ``sdpa bench`` knows, small before large within a kind."""

QUICK = ("full-512-f32", "full-1024-f32", "full-2048-f32", "causal-2048-f32")
"""What ``--quick`` measures: enough to see O(T²) against O(T), in less than a minute."""


def select(patterns: Sequence[str], among: Sequence[Workload] = WORKLOADS) -> tuple[Workload, ...]:
    """The workloads whose names match any of the patterns, in the table's order.

    Parameters
    ----------
    patterns
        Names or globs, such as ``causal-*-f32``.
    among
        Where to choose from.

    Raises
    ------
    InputError
        For every pattern that matches nothing.

    Examples
    --------
    >>> [workload.name for workload in select(["decode-*", "causal-1*-f64"])]
    ['causal-16-f64', 'causal-128-f64', 'causal-1024-f64', 'decode-8192-f32', 'decode-8192-f64']
    """
    names = [workload.name for workload in among]
    unmatched = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
    if unmatched:
        raise InputError(*(_no_such_workload(pattern, names) for pattern in unmatched))
    return tuple(workload for workload in among if any(fnmatchcase(workload.name, pattern) for pattern in patterns))


def _no_such_workload(pattern: str, names: Sequence[str]) -> Problem:
    near = get_close_matches(pattern, names, n=1)
    return Problem(
        "unknown-workload",
        f"no workload is called {pattern!r}",
        expected="one of " + ", ".join(names) + ", or a glob such as 'causal-*-f32'",
        hint=f"did you mean {near[0]!r}?" if near else None,
        path=("workload",),
    )
