"""Which number of a case is to blame for a score that is not finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Additive, General, NonFiniteScoreError
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.cases.nodes import named
from sdpa_cli.cases.source import Steps

if TYPE_CHECKING:
    from sdpa_cli.cases.case import Case

Array = NDArray[Any]
Index = tuple[int, ...]


def blamed(case: Case, error: NonFiniteScoreError) -> NonFiniteScoreError:
    """The refusal of a score, counting from 1, at the number that spoils it.

    Parameters
    ----------
    case
        What was computed.
    error
        As the engine raised it.

    Returns
    -------
    NonFiniteScoreError
        Where Q, K and bias are finite, and only what becomes of them is not, it says that and points at the query.
    """
    told = error.counted_from(1)
    score = f"score S{named(error.index)} is {error.value}, and its key is allowed"
    found = next(_wild(case, error.index), None)
    if found is not None:
        steps, value = found
        message = f"{score}: there is {value} in {named(steps)}"
        hint = "write a finite number there, forbid the key, or set nonfinite: propagate"
    else:
        steps, _ = next(_parts(case, error.index))
        message = f"{score}: what is computed of finite numbers is too large for {case.dtype}"
        hint = "use smaller numbers or a smaller scale, forbid the key, or set nonfinite: propagate"
    told.problems = (replace(told.problems[0], message=message, hint=hint, path=steps),)
    return told


def _wild(case: Case, index: Index) -> Iterator[tuple[Steps, float]]:
    """The numbers that are not finite, of those that a score was computed of."""
    for steps, part in _parts(case, index):
        for cell in np.argwhere(~np.isfinite(part)):
            # A rotation spreads what is not finite over two columns: of such a row, no column is named.
            turned = case.layer is None and case.placement.rope is not None and steps[0] in ("Q", "K")
            yield (steps if turned else (*steps, *map(int, cell))), float(part[tuple(cell)])


def _parts(case: Case, index: Index) -> Iterator[tuple[Steps, Array]]:
    """The parts of the case that a score was computed of, the query first."""
    *lead, i, j = index
    if case.layer is None:
        yield ("Q", *lead, i), case.q[(*lead, i)]
    else:
        batch = lead[: case.layer.x.ndim - 2]
        yield ("X", *batch, i), case.layer.x[(*batch, i)]
    yield _key(case, (*lead, j))
    if case.layer is not None:
        for name, matrix in case.layer.projections.arrays.items():
            if name[2] in "QK":
                yield (name,), matrix
    yield from _matrices(case.score)
    if case.bias is not None:
        shape = case.bias.shape
        cell = (*(min(h, n - 1) for h, n in zip(lead, shape[:-2], strict=bool(shape[:-2]))), i, j)
        yield ("bias", *cell), case.bias[cell]


def _matrices(score: Score | None) -> Iterator[tuple[Steps, Array]]:
    """What a score function brings along."""
    if isinstance(score, General):
        yield ("score", "general"), np.asarray(score.W)
    if isinstance(score, Additive):
        for name in ("W_q", "W_k", "v"):
            if (matrix := getattr(score, name)) is not None:
                yield ("score", "additive", name), np.asarray(matrix)


def _key(case: Case, index: Index) -> tuple[Steps, Array]:
    """The key's own numbers: cached, given, or what it is made of."""
    *lead, j = index
    if case.layer is not None and j >= case.cached:
        name, array = ("X", case.layer.x) if case.layer.memory is None else ("memory", case.layer.memory)
        here = (*lead[: array.ndim - 2], j - case.cached)
        return (name, *here), array[here]
    group = case.q.shape[-3] // case.k.shape[-3] if case.k.ndim > 2 else 1
    heads = (*lead[:-1], *(h // group for h in lead[-1:]))
    steps: Steps = ("past", "K", *heads, j) if j < case.cached else ("K", *heads, j - case.cached)
    return steps, case.k[(*heads, j)]
