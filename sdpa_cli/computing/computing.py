"""The one verb: a case is computed, and what it expects is verified."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sdpa_cli.attention import Attention
from sdpa_cli.cases import Case
from sdpa_cli.computing.results import Cache, Computed
from sdpa_cli.computing.verifying import verdicts

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sdpa_cli.attention.solving import Progress


def compute(
    case: Case, threads: int | None = None, executor: Executor | None = None, progress: Progress | None = None
) -> Computed:
    """Compute a case and verify what it expects.

    Parameters
    ----------
    case
        The case, as read from a file.
    threads, executor, progress
        As in `sdpa_cli.attend`.

    Returns
    -------
    Computed

    Raises
    ------
    InputError
        As `Case.attend` does.
    """
    attention, cache = _attended(case, threads, executor, progress)
    concatenated = output = None
    if case.layer is not None:
        from sdpa_cli.attention import combine

        concatenated, output = combine(attention.output, case.layer.projections)
    size = math.prod(attention.shapes["S"])
    forbidden = size - int(attention.live_counts().sum())
    computed = Computed(case, attention, (), forbidden, concatenated, output, cache)
    return replace(computed, verdicts=tuple(verdicts(computed)))


def _attended(
    case: Case, threads: int | None, executor: Executor | None, progress: Progress | None
) -> tuple[Attention, Cache | None]:
    """The attention, and the cache it leaves behind if the case is about one."""
    if case.decode:
        decoded = case.decoded()
        return decoded.attention, Cache(case.cached, decoded.kept, decoded.cache.nbytes)
    attention = case.attend(threads, executor, progress)
    if not case.cached:
        return attention, None
    return attention, Cache(case.cached, (case.k.shape[-2],), case.k.nbytes + case.v.nbytes)
