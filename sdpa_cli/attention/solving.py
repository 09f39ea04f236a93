"""From a problem to the softmax state of all its queries: over regions, on threads, or through an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.at_once import see_at_once
from sdpa_cli.attention.blas import one_blas_thread
from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.regions import Region
from sdpa_cli.attention.scratch import own_scratch
from sdpa_cli.attention.softmax import SoftmaxState
from sdpa_cli.attention.streaming import fold
from sdpa_cli.attention.threads import share
from sdpa_cli.attention.tiles import SMALL, Cut, load, plan, plan_parts, regions
from sdpa_cli.attention.unshifted import fold_unshifted
from sdpa_cli.cpus import usable_cpus

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

Array = NDArray[Any]
ONE_THREAD = 1 << 17
"""Multiplications of a product for which OpenBLAS starts no threads: it does from twice as many."""
Progress = Callable[[int, int], None]
"""Told how many parts of a problem are done, and of how many, by whichever thread has done one."""
_NO_HOLD = nullcontext()
_VECTOR_DEPTH = 16
"""For products with a vector, as of one query or of a sum of squares, it starts them from a sixteenth as many."""


@dataclass(frozen=True)
class Solution:
    """The answer to a problem."""

    state: SoftmaxState
    """Of all queries after all keys ``(B, H_kv, G, Tq)``, but with the finished output in the place of `acc`.

    The output of a query that saw no weight is 0.
    """
    proved: bool = False
    """Whether all sums are known to be sound, those of weights above 0, and nothing was shifted."""

    @property
    def lse(self) -> Array:
        """Log-sum-exp of the scores, ``(B, H_kv, G, Tq)``."""
        return np.log(self.state.l) if self.proved else self.state.lse


def solve(inputs: Inputs, threads: int | None = None, progress: Progress | None = None) -> Solution:
    """Solve a problem, in this process.

    Parameters
    ----------
    inputs
        The problem.
    threads
        How many to use; by default as many as the process may.
    progress
        Told of each region, where there are several.
    """
    if load(inputs) <= SMALL and inputs.options.block_size is None:
        return _solve_small(inputs)
    cut, whole = plan(inputs), _blank(inputs)
    todo = list(regions(inputs, cut))
    unmerged: dict[int, SoftmaxState] = {}
    unproved: list[int] = []
    nth = count(1)

    def do(number: int) -> None:
        region = todo[number]
        part, state = inputs.part(region), whole.at(region.queries)
        if cut.span < inputs.keys:
            state = unmerged[number] = _blank(part)
        proved = _fold(part, cut, state)
        if not proved:
            unproved.append(number)
        if cut.span == inputs.keys:
            state.normalise(weighed=proved)
        if progress is not None:
            progress(next(nth), len(todo))

    with one_blas_thread(), np.errstate(all="ignore"):
        share(range(len(todo)), do, threads or usable_cpus())
        if unmerged:
            for region, numbers in _by_queries(todo):
                _place(whole, region, (unmerged.pop(number) for number in numbers))
    return Solution(whole, not unproved)


def _solve_small(inputs: Inputs) -> Solution:
    """`solve` for a problem of one tile, on the calling thread: to wake another would take as long as the work."""
    free = _starts_no_threads(inputs.q.shape, inputs.keys, inputs.d_v)
    with _NO_HOLD if free else one_blas_thread(), np.errstate(all="ignore"), own_scratch() as scratch:
        state = see_at_once(inputs, scratch)
        proved = state is not None
        if state is None:
            state = _blank(inputs)
            fold(inputs, plan(inputs), scratch, state)
        state.normalise(weighed=proved)
    return Solution(state, proved)


@lru_cache(maxsize=256)
def _starts_no_threads(q: tuple[int, ...], keys: int, d_v: int) -> bool:
    """Whether BLAS does not, for any product of a small problem: then it need not be held."""
    batch, kv_heads, group, queries, depth = q
    rows = group * queries
    vectors = max(rows * keys, max(rows, keys) * max(depth, d_v), batch * kv_heads * rows * d_v)
    return max(rows * keys * max(depth, d_v), vectors * _VECTOR_DEPTH) <= ONE_THREAD


def _fold(part: Inputs, cut: Cut, state: SoftmaxState) -> bool:
    """Fill the state of a region, by the fast path if it holds; whether it does."""
    with own_scratch() as scratch:
        proved = fold_unshifted(part, cut, scratch, state)
        if not proved:
            fold(part, cut, scratch, state)
    return proved


def solve_apart(
    inputs: Inputs, executor: Executor, threads: int | None = None, progress: Progress | None = None
) -> Solution:
    """`solve`, with parts of the problem done by an executor: on other threads, processes or machines.

    Each part is a smaller problem, some queries against some keys. Its answer is a softmax state; those of the same
    queries are merged, in order, so that the result does not depend on the executor.

    Parameters
    ----------
    inputs
        The problem. To another process it travels by pickle, memory-mapped arrays by their path.
    executor
        Any `concurrent.futures.Executor`.
    threads
        How many each part uses; one by default.
    progress
        Told of each part.
    """
    whole = _blank(inputs)
    todo = list(regions(inputs, plan_parts(inputs)))
    waiting: list[Future[SoftmaxState]] = []

    def arrived(number: int) -> SoftmaxState:
        part = waiting[number].result()
        if progress is not None:
            progress(number + 1, len(todo))
        return part

    try:
        waiting += [executor.submit(_solve_part, inputs.part(region), threads or 1) for region in todo]
        with np.errstate(all="ignore"):
            for region, numbers in _by_queries(todo):
                # A list, for a StopIteration that is raised here must not be taken for the end of the parts.
                _place(whole, region, [arrived(number) for number in numbers])
    finally:
        for future in waiting:
            future.cancel()
    return Solution(whole)


def _solve_part(part: Inputs, threads: int) -> SoftmaxState:
    """What an executor runs: the state of a part, ready to be merged."""
    done = solve(part, threads).state
    return SoftmaxState(done.m, done.l, done.acc * done.l[..., None])


def _blank(inputs: Inputs) -> SoftmaxState:
    """Room for the states of all queries, not yet cleared."""
    shape = inputs.q.shape[:-1]
    m, total = (np.empty(shape, inputs.dtype) for _ in range(2))
    return SoftmaxState(m, total, np.empty((*shape, inputs.d_v), inputs.dtype))


def _place(whole: SoftmaxState, region: Region, parts: Iterable[SoftmaxState]) -> None:
    """Merge what parts know of the same queries, in their order, into the whole."""
    state = whole.at(region.queries)
    state.clear()
    for part in parts:
        state.absorb(part)
    state.normalise()


def _by_queries(todo: list[Region]) -> Iterator[tuple[Region, list[int]]]:
    """The numbers of the regions that are about the same queries; these follow each other, in the order of keys."""
    for _, numbers in groupby(range(len(todo)), key=lambda number: repr(todo[number].queries)):
        same = list(numbers)
        yield todo[same[0]], same
