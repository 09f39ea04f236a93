"""What a row of weights does not say: which key matters most, and whether other weights would give the same output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What becomes of an output when one key is forbidden and the other weights are normalised anew."""

    outputs: Array
    """``(n, d_v)``: row j without key j; NaN where no other key is left."""
    effects: Array
    """``(n,)``: how far each lies from the output with all keys, as a Euclidean distance."""


def leave_one_out(weights: Array, values: Array) -> LeftOut:
    """Leave out each key in turn, exactly: ``O₋ⱼ = (O − w_j v_j) / (1 − w_j)``.

    Parameters
    ----------
    weights
        Of the live keys of one query, ``(n,)``, summing to 1.
    values
        ``(n, d_v)``.

    Examples
    --------
    >>> found = leave_one_out(np.array([0.1, 0.9]), np.array([[10.0, 0.0], [-1.0, 0.0]]))
    >>> found.outputs.round(4).tolist(), found.effects.round(4).tolist()
    ([[-1.0, 0.0], [10.0, 0.0]], [1.1, 9.9])
    """
    with np.errstate(all="ignore"):
        outputs = _without_each(weights[:, None] * values) / _without_each(weights[:, None])
    return LeftOut(outputs, np.linalg.norm(outputs - weights @ values, axis=-1))


def _without_each(terms: Array) -> Array:
    """The sum of all rows but each one. Added up from both ends: 1 − w_j loses its digits where w_j is near 1."""
    before, after = np.zeros_like(terms), np.zeros_like(terms)
    before[1:] = np.cumsum(terms[:-1], axis=0)
    after[:-1] = np.cumsum(terms[:0:-1], axis=0)[::-1]
    return np.asarray(before + after)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Another row of weights that gives the same output."""

    weights: Array
    """``(n,)``, non-negative, summing to 1."""
    distance: float
    """Half the sum of the absolute differences to the row it stands in for: 0 is equal, 1 is nothing in common."""
    error: float
    """How far its output is off, at most."""


def other_weights(weights: Array, values: Array) -> Certificate | None:
    """Other weights with the same output, or None where only these give it.

    Two rows give the same output and the same sum when their difference lies in the null space of ``[Vᵀ; 1ᵀ]``. Of that
    space the direction is taken that lowers the largest weight most, as far as no weight becomes negative.

    Parameters
    ----------
    weights
        Of the live keys of one query, ``(n,)``, summing to 1.
    values
        ``(n, d_v)``.

    Examples
    --------
    >>> other_weights(np.array([0.2, 0.8]), np.array([[1.0, 0.0], [0.0, 1.0]])) is None
    True
    >>> other_weights(np.array([0.2, 0.6, 0.2]), np.array([[0.0], [1.0], [2.0]])).weights.round(4).tolist()
    [0.5, 0.0, 0.5]
    """
    carrying = weights > 0
    found = _moved(weights[carrying], _levelled(values[carrying]))
    if found is None:
        return None
    moved = np.zeros_like(weights)
    moved[carrying] = found
    return Certificate(
        moved,
        float(np.abs(moved - weights).sum() / 2),
        float(np.abs((moved - weights) @ values).max(initial=0.0)),
    )


def _levelled(values: Array) -> Array:
    """Values with their largest component at 1, so that a rank is judged alike for all."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values


def _moved(weights: Array, values: Array) -> Array | None:
    """The row farthest from `weights` along the directions tried; None where there is no direction at all."""
    conditions = np.vstack([values.T, np.ones(len(weights))])
    if np.linalg.matrix_rank(conditions) == len(weights):
        return None
    away = -np.eye(len(weights))[int(np.argmax(weights))]
    lowering = away - np.linalg.pinv(conditions) @ (conditions @ away)
    directions = [lowering]
    if len(weights) <= _SMALL:
        # Where the largest weight cannot change, some other one can.
        last = np.linalg.svd(conditions)[2][-1]
        directions += [last, -last]
    rows = [_as_far_as_possible(weights, direction) for direction in directions]
    return max(rows, key=lambda row: float(np.abs(row - weights).sum()))


def _as_far_as_possible(weights: Array, direction: Array) -> Array:
    """Along a direction, until the first weight is 0."""
    lowered = direction < -_NOTHING
    if not lowered.any():
        return weights
    steps = weights[lowered] / -direction[lowered]
    moved = weights + steps.min() * direction
    moved[np.flatnonzero(lowered)[int(np.argmin(steps))]] = 0
    moved = np.maximum(moved, 0)
    return np.asarray(moved / moved.sum())


_NOTHING = 1e-12
"""Components of a direction this small are rounding."""
_SMALL = 512
"""Up to so many keys another direction of the null space is looked for, which costs their number cubed."""
