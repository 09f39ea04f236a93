"""Whether a case computes what it expects, and what the numbers say where it does not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention
from sdpa_cli.attention.difference import Difference, Tolerance, compare
from sdpa_cli.computing.results import MATRICES, Computed, Matrix, Verdict, read, row_blocks

_MOST_DECIMALS = 8
"""With more than these, a value does not count as rounded."""


def verdicts(computed: Computed) -> Iterator[Verdict]:
    """Compare every matrix that the case expects."""
    expect = computed.case.expect
    if expect is None:
        return
    for name in MATRICES:
        expected = getattr(expect, name, None)
        if expected is not None:
            verdict = _verify(computed, name, expected, expect.tolerance)
            yield replace(verdict, hint=_hint(computed.attention, verdict, expected))


def _verify(computed: Computed, name: Matrix, expected: NDArray[Any], tolerance: Tolerance) -> Verdict:
    """Compare block by block, and merge what was found as one comparison would have found it."""
    worst: Difference | None = None
    error = 0.0
    for rows in row_blocks(expected.shape):
        actual, wanted = read(computed, name, rows), np.asarray(expected[..., rows, :], np.float64)
        found = compare(actual, wanted, tolerance)
        error = max(error, _largest_error(actual, wanted))
        if found is not None:
            index = (*found.index[:-2], found.index[-2] + rows.start, found.index[-1])
            worst = _worse(worst, replace(found, index=index, total=expected.size))
    return Verdict(name, worst, error)


def _largest_error(actual: NDArray[Any], expected: NDArray[Any]) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(actual == expected, 0.0, np.abs(actual - expected))
    return float(np.nan_to_num(error, nan=np.inf, posinf=np.inf).max(initial=0.0))


def _worse(one: Difference | None, other: Difference) -> Difference:
    if one is None:
        return other
    worst = max(one, other, key=_excess)
    return replace(worst, count=one.count + other.count)


def _excess(difference: Difference) -> float:
    return float("inf") if np.isnan(difference.error) else difference.error - difference.limit


def _hint(attention: Attention, verdict: Verdict, expected: NDArray[Any]) -> str | None:
    """What the numbers themselves say about why they differ."""
    if verdict.difference is None:
        return None
    if verdict.name in ("scores", "weights") and (clash := _clash(attention, verdict.name, expected)) is not None:
        return clash
    for decimals, why in _roundings(expected):
        # A shade more than half of the last decimal, for rounding in binary.
        if verdict.error <= 0.5001 * 10.0**-decimals:
            return f"the expected values {why}; atol: {5 * 10.0 ** -(decimals + 1):.0e} allows for that"
    return None


def _clash(attention: Attention, name: Matrix, expected: NDArray[Any]) -> str | None:
    """The first cell where the expectation forbids what the mask allows, or the other way round."""
    for rows in row_blocks(expected.shape):
        part, forbidden = expected[..., rows, :], attention.forbidden(rows=rows)
        alive = part != 0 if name == "weights" else part > -np.inf
        clashes = forbidden & alive if name == "weights" else forbidden == alive
        if clashes.any():
            index = np.unravel_index(int(np.argmax(clashes)), clashes.shape)
            query, key = int(index[-2]) + rows.start + 1, int(index[-1]) + 1
            verb = "forbids" if forbidden[index] else "allows"
            what = f", so its {name[:-1]} is {'0' if name == 'weights' else '-inf'}" if forbidden[index] else ""
            return f"the mask {verb} key {key} to query {query}{what}; is the mask what you mean?"
    return None


def _roundings(values: NDArray[Any]) -> Iterator[tuple[int, str]]:
    """To how many decimals the values may have been rounded: by their dtype, or by whoever wrote them."""
    if values.dtype in (np.float16, np.float32):
        largest = max((float(np.abs(part[np.isfinite(part)]).max(initial=0)) for part in _parts(values)), default=0.0)
        kept = -math.ceil(math.log10(float(np.finfo(values.dtype).eps) * (largest or 1.0)))
        if kept >= 1:
            yield kept, f"are {values.dtype}, which keeps {kept} of their decimals"
    written = next((n for n in range(1, _MOST_DECIMALS + 1) if all(_fits(p, n) for p in _parts(values))), None)
    if written is not None:
        yield written, f"have {written} decimal{'' if written == 1 else 's'}"


def _parts(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (values[..., rows, :] for rows in row_blocks(values.shape))


def _fits(values: NDArray[Any], decimals: int) -> bool:
    """Whether so many decimals say each value: of its own dtype, none is nearer to what they say."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(np.asarray(values, np.float64), decimals)
        return np.array_equal(rounded.astype(values.dtype) if values.dtype.kind == "f" else rounded, values)
