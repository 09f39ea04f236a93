"""`attend`: from arrays to an `Attention`, checked, computed, and ready to be looked into."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.inputs import EmptyRows, Inputs, NonFinite, Options
from sdpa_cli.attention.liveness import has_live_key
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.refusals import EmptyRowsError, NonFiniteScoreError
from sdpa_cli.attention.remembering import prepared
from sdpa_cli.attention.result import Attention
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.attention.softmax import SoftmaxState
from sdpa_cli.attention.solving import Progress, Solution, solve, solve_apart
from sdpa_cli.attention.streaming import first_nonfinite, public_index

if TYPE_CHECKING:
    from concurrent.futures import Executor


def attend(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | Mask | None = None,
    bias: ArrayLike | None = None,
    alibi: ArrayLike | bool | None = None,
    score: Score | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    empty_rows: EmptyRows = "error",
    nonfinite: NonFinite = "error",
    block_size: int | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Attention:
    """Scaled dot-product attention, ``softmax(mask(softcap(scale · Q Kᵀ) + bias)) V``, exact and in linear memory.

    Parameters
    ----------
    q, k, v
        Queries ``(…, Tq, d_k)``, keys ``(…, Tk, d_k)`` and values ``(…, Tk, d_v)``, of rank 2, 3 ``(N, T, d)`` or 4
        ``(B, H, T, d)``. Leading axes must be equal, but that K and V of rank 4 may have fewer heads than Q: query head
        h then reads key/value head ``h // (H / H_kv)``. Real numbers; memory maps are read tile by tile. Computed in
        float32 if all three are float32 or float16, else in float64.
    mask
        Boolean array, True = forbidden, ``(Tq, Tk)`` or with Q's leading axes (each its full size or 1); or a `Mask`.
    bias
        Added to the scaled and capped scores; shaped as a mask array. It forbids nothing: −inf in it, at an allowed
        key, is a score that is not finite. Forbidding is the mask's task, so that liveness has one source.
    alibi
        Slopes of ALiBi, one per head ``(H,)`` or one for all: a key at distance n loses n times the slope. True stands
        for those of the paper (`alibi_slopes`). Computed tile by tile from the positions.
    score
        How a query and a key are compared, where that is not the scaled dot product: `Dot`, `General`, `Additive` or
        `Linear`. Their matrices say how long queries and keys are.
    scale
        Any finite number; ``1/sqrt(d_k)`` by default, and 1 with another `score`.
    softcap
        If given, scaled scores s become ``softcap · tanh(s / softcap)``, before bias and mask.
    empty_rows
        What becomes of a query with every key forbidden: ``"error"``, or ``"zero"`` for an output of zeros and an lse
        of −inf.
    nonfinite
        What becomes of a NaN or infinite score at an allowed key: ``"error"``, or ``"propagate"`` for whatever
        floating-point arithmetic makes of it. Forbidden keys and their values never count, whatever they hold.
    block_size
        Keys per tile. It changes speed, and the result within rounding.
    threads
        How many to use; by default as many as the process may. It changes no bit of the result. BLAS is held at one
        thread meanwhile, and where there is one thread for each CPU, the calling one is kept to its own; both get their
        own settings back.
    executor
        Any `concurrent.futures.Executor`, such as a process pool or Dask's ``Client.get_executor()``: parts of the
        problem are computed by it, each with `threads` threads (one by default), and merged here. Memory-mapped arrays
        are sent as their path.
    progress
        Called with how many parts of the problem are done, and of how many, as each is done, by the thread that did it.
        What it raises ends the computation, and is raised here. A small problem is done in one go, and not told of.

    Returns
    -------
    Attention
        With ``.output`` ``(…, Tq, d_v)``, ``.lse`` ``(…, Tq)`` and any window of scores and weights.

    Raises
    ------
    InputError
        If the values cannot be computed with; it holds every problem found.
    EmptyRowsError
        An `InputError`: some query has no key to look at.
    NonFiniteScoreError
        An `InputError`: the score of an allowed key is NaN or infinite.

    References
    ----------
    .. [1] A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017, section 3.2.1.
    .. [2] T. Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness",
       arXiv:2205.14135, 2022, Theorem 1.

    Examples
    --------
    >>> q, k, v = [[1, 0], [0, 1]], [[1, 1], [2, 0]], [[1, 0, 0], [0, 1, 0]]
    >>> result = attend(q, k, v, mask=Mask(causal=True))
    >>> result.output.round(4)
    array([[1.    , 0.    , 0.    ],
           [0.6698, 0.3302, 0.    ]])
    >>> result.weights(rows=slice(1, 2)).round(4)
    array([[0.6698, 0.3302]])
    """
    options = Options(scale, softcap, empty_rows, nonfinite, block_size, threads, alibi, score)
    return attention_of(prepared(q, k, v, mask, bias, options), executor, progress)


def attention_of(inputs: Inputs, executor: Executor | None = None, progress: Progress | None = None) -> Attention:
    """`attend`, from inputs that are checked and arranged."""
    live = _live_rows(inputs)
    solution = _solved(inputs, executor, progress)
    state, lead = solution.state, inputs.lead
    if not solution.proved:
        _mend(inputs, executor, state, live)
    return Attention(
        output=state.acc.reshape(*lead, *state.acc.shape[-2:]),
        lse=solution.lse.reshape(*lead, state.m.shape[-1]),
        _inputs=inputs,
        _reference=state.m,
        _total=state.l,
    )


def _mend(inputs: Inputs, executor: Executor | None, state: SoftmaxState, live: NDArray[np.bool_]) -> None:
    """Mend the outputs that floating-point numbers could not hold, or that there are none of, in place."""
    if not np.isfinite(state.acc).all():
        # Sums of values near the largest number overflow before they are divided: once more, with smaller values.
        shrunk = _solved(inputs.but(value_scale=_SHRINK), executor).state.acc
        # No mean is larger than the largest number; one that was rounded up to more would become infinite.
        largest = np.finfo(inputs.dtype).max * inputs.dtype.type(_SHRINK)
        np.clip(shrunk, -largest, largest, out=shrunk, where=np.isfinite(shrunk))
        shrunk /= inputs.dtype.type(_SHRINK)
        # Only in their place: the smallest values of other outputs would become 0.
        np.copyto(state.acc, shrunk, where=~np.isfinite(state.acc))
    if not state.l.all():
        # Live, but without weight: every score propagated as −inf, and 0/0 is what that makes.
        state.acc[(state.l == 0) & live] = np.nan


_ALL = np.broadcast_to(np.True_, 1)
_SHRINK = 2.0**-64
"""More keys than that no memory holds."""


def _solved(inputs: Inputs, executor: Executor | None, progress: Progress | None = None) -> Solution:
    threads = inputs.options.threads
    # In a context of its own, which ends with it however it ends: NumPy's error settings are part of the context, and
    # an interrupt may keep `errstate` from giving back the caller's.
    alone = copy_context()
    try:
        if executor is None:
            return alone.run(solve, inputs, threads, progress)
        return alone.run(solve_apart, inputs, executor, threads, progress)
    except NonFiniteScoreError as error:
        with np.errstate(all="ignore"):
            raise (first_nonfinite(inputs) or error) from None


def _live_rows(inputs: Inputs) -> NDArray[np.bool_]:
    """Which queries have a live key, broadcasting to ``(B, H_kv, G, Tq)``. Others are refused unless asked for."""
    if inputs.rule.leaves_all_a_key(inputs.queries):
        return _ALL
    live = has_live_key(inputs.rule, inputs.queries)
    if not live.all() and inputs.options.empty_rows == "error":
        empty = np.argwhere(~np.broadcast_to(live, inputs.q.shape[:-1]))
        if len(empty):
            raise EmptyRowsError([public_index(inputs, tuple(index)) for index in empty])
    return live
