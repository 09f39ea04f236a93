"""From a problem to the softmax state of all its queries: over regions, on threads, or through an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.regions import Region, Verdict
from sdpa_cli.attention.scores import scaled_queries
from sdpa_cli.attention.softmax import SoftmaxState
from sdpa_cli.attention.streaming import Scratch, fold, seen
from sdpa_cli.attention.threads import available, one_blas_thread, share
from sdpa_cli.attention.tiles import SMALL, Cut, Tile, plan, plan_parts, regions
from sdpa_cli.attention.unshifted import calm_heads, fold_unshifted

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

ONE_THREAD = 1 << 17
"""Multiplications of a product for which OpenBLAS starts no threads: it does from twice as many."""
_SUM_DEPTH = 32
"""Products with a vector, as the row sums are, have a lower bound: as if each entry took so many."""


def solve(inputs: Inputs, threads: int | None = None) -> SoftmaxState:
    """The state of all queries after all keys, but with the finished output in the place of `acc`.

    Parameters
    ----------
    inputs
        The problem.
    threads
        How many to use; by default as many as the process may.

    Returns
    -------
    SoftmaxState
        ``(B, H_kv, G, Tq)``. The output of a query that saw no weight is 0.
    """
    cut = plan(inputs)
    if inputs.size <= SMALL and cut.keys == inputs.keys:
        return _solve_at_once(inputs, cut)
    whole = _blank(inputs)
    todo = list(regions(inputs, cut))
    unmerged: dict[int, SoftmaxState] = {}
    with one_blas_thread, np.errstate(all="ignore"):
        calm = calm_heads(inputs)

        def worker() -> Callable[[int], None]:
            scratch = Scratch.of(inputs, cut)

            def do(number: int) -> None:
                region = todo[number]
                part = inputs.part(region)
                path = fold_unshifted if calm[region.batch, region.heads].all() else fold
                if cut.span < inputs.keys:
                    unmerged[number] = _blank(part)
                    path(part, cut, scratch, unmerged[number])
                else:
                    state = whole.at(region.queries)
                    path(part, cut, scratch, state)
                    state.normalise()

            return do

        share(range(len(todo)), worker, threads or available())
        if unmerged:
            for region, numbers in _by_queries(todo):
                _place(whole, region, (unmerged.pop(number) for number in numbers))
    return whole


def _solve_at_once(inputs: Inputs, cut: Cut) -> SoftmaxState:
    """`solve` for a problem of one tile, where the steps around the arithmetic would cost twice what it costs."""
    rows, cols = slice(0, inputs.queries), slice(0, inputs.keys)
    verdict = Verdict.ALLOWED if inputs.rule.forbids_nothing else Verdict.MIXED
    largest = inputs.heads[2] * inputs.queries * inputs.keys * max(inputs.q.shape[-1], inputs.d_v, _SUM_DEPTH)
    with nullcontext() if largest <= ONE_THREAD else one_blas_thread, np.errstate(all="ignore"):
        state = seen(inputs, scaled_queries(inputs, rows), Tile(cols, rows, rows, verdict), Scratch.of(inputs, cut))
        state.normalise()
    return state


def solve_apart(inputs: Inputs, executor: Executor, threads: int | None = None) -> SoftmaxState:
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
    """
    whole = _blank(inputs)
    todo = list(regions(inputs, plan_parts(inputs)))
    waiting: list[Future[SoftmaxState]] = []
    try:
        waiting += [executor.submit(_solve_part, inputs.part(region), threads or 1) for region in todo]
        with np.errstate(all="ignore"):
            for region, numbers in _by_queries(todo):
                _place(whole, region, (waiting[number].result() for number in numbers))
    finally:
        for future in waiting:
            future.cancel()
    return whole


def _solve_part(part: Inputs, threads: int) -> SoftmaxState:
    """What an executor runs: the state of a part, ready to be merged."""
    done = solve(part, threads)
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
