"""Where a computation first goes wrong, read off its numbers: scores, scale, mask, weights or output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import Case
from sdpa_cli.faults import CATALOGUE, Recipe, Steps
from sdpa_cli.grading.comparing import first_where, shown_index
from sdpa_cli.grading.quantities import engine_inputs, forbidden, of_recipe, right
from sdpa_cli.grading.report import Message, say

Array = NDArray[Any]
Arrays = Mapping[str, Array]

STAGES = ("scores", "scale", "mask", "weights", "output")
_OF_STEP = {"products": "scores", "scores": "scale", "logits": "mask", "weights": "weights", "output": "output"}
_EXACT = 1e-6
"""A factor is one only if it is the same everywhere to this relative error."""
_ROUNDING = 4.0
"""How many times the rounding of a precision a difference may be and still look like it."""


@dataclass(frozen=True)
class Reading:
    """What the numbers themselves say about a difference."""

    stage: str | None = None
    messages: tuple[Message, ...] = ()


def stage_of_fault(name: str, case: Case) -> str | None:
    """The first step at which a fault leaves the right way on a case; None where it does not, or cannot be computed."""
    inputs = engine_inputs(case)
    try:
        wrong, right_steps = CATALOGUE[name].recipe.run(inputs), Recipe().run(inputs)
    except ValueError:
        return None
    for step, stage in _OF_STEP.items():
        if not _same_step(wrong, right_steps, step):
            return stage
    return None


def _same_step(one: Steps, other: Steps, step: str) -> bool:
    return np.allclose(getattr(one, step), getattr(other, step), rtol=1e-9, atol=1e-12, equal_nan=True)


def read_numbers(case: Case, actual: Arrays, tolerance: Tolerance) -> Reading:
    """The first wrong stage, and what the difference looks like.

    Parameters
    ----------
    case
        The failing case.
    actual
        What the submission gave for it, of the right shapes.
    tolerance
        What counts as equal.
    """
    names = ("scores", "weights", "output")
    expected = right(case, names)
    if (precision := _precision(case, actual, expected)) is not None:
        return Reading(None, (say(f"reading.{precision}"),))
    weights, output = actual.get("weights"), actual.get("output")
    if weights is None:
        return Reading(None, tuple(_factor_message(case, "output", output, expected["output"])))
    if np.allclose(weights, expected["weights"], rtol=tolerance.rtol, atol=tolerance.atol):
        if output is None or np.allclose(output, expected["output"], rtol=tolerance.rtol, atol=tolerance.atol):
            return Reading()
        return Reading("output", tuple(_factor_message(case, "output", output, expected["output"])))
    return _read_weights(case, np.asarray(weights, np.float64), expected)


def _read_weights(case: Case, weights: Array, expected: Arrays) -> Reading:
    dead = np.broadcast_to(forbidden(case), weights.shape)
    if not np.isfinite(weights).all():
        return Reading("weights", (say("reading.not-finite"),))
    if (weights[dead] != 0).any():
        return Reading("mask", (say("reading.forbidden-weight", count=int((weights[dead] != 0).sum())),))
    sums = weights.sum(axis=-1)
    if (row := first_where(np.abs(sums - 1) > 1e-4)) is not None:
        return Reading("weights", (say("reading.row-sum", row=shown_index(row), sum=float(sums[row])),))
    if ((weights == 0) & ~dead & (expected["weights"] > 1e-12)).any():
        return Reading("mask", (say("reading.live-weight"),))
    factor = _logit_factor(weights, expected["scores"], ~dead)
    if factor is not None:
        return Reading("scale", (say("reading.logits-factor", factor=_named_factor(factor, case), value=factor),))
    return Reading("scores", ())


def _logit_factor(weights: Array, scores: Array, live: NDArray[np.bool_]) -> float | None:
    """What the right scores were multiplied by, if by one number; softmax hides only a constant per row."""
    with np.errstate(all="ignore"):
        logits = np.where(live & (weights > 0), np.log(weights), 0.0)
    finite = np.where(live, scores, 0.0)
    count = live.sum(axis=-1, keepdims=True)
    centred = [np.where(live, x - x.sum(axis=-1, keepdims=True) / np.maximum(count, 1), 0.0) for x in (logits, finite)]
    return _ratio(*centred)


def _factor_message(case: Case, part: str, actual: Array | None, expected: Array) -> Iterator[Message]:
    factor = None if actual is None else _ratio(np.asarray(actual, np.float64), expected)
    if factor is not None:
        yield say("reading.factor", part=part, factor=_named_factor(factor, case), value=factor)


def _ratio(actual: Array, expected: Array) -> float | None:
    """The one number by which all of `expected` was multiplied; None where there is none, or it is 1."""
    size = float((expected * expected).sum())
    if size == 0 or not np.isfinite(actual).all():
        return None
    factor = float((actual * expected).sum()) / size
    error = float(np.abs(actual - factor * expected).max())
    largest = float(np.abs(actual).max())
    return factor if error <= _EXACT * largest and abs(factor - 1) > _EXACT and factor != 0 else None


def _named_factor(factor: float, case: Case) -> str:
    """A factor in the field's terms, where it is a simple one."""
    d_k, d_v, keys = case.q.shape[-1], case.v.shape[-1], case.k.shape[-2]
    known = {"√d_k": d_k**0.5, "d_k": d_k, "√d_v": d_v**0.5, "Tk": keys, "√Tk": keys**0.5, "√2": 2**0.5}
    known |= {"2": 2, "log 2": np.log(2)}
    known |= {
        f"1/{name}" if "/" not in name and " " not in name else f"1/({name})": 1 / value
        for name, value in known.items()
    }
    names = [name for name, value in known.items() if abs(abs(factor) - value) <= 1e-5 * value]
    sign = "−" if factor < 0 else ""
    return f"{sign}{names[0]}" if names else f"{factor:.6g}"


def _precision(case: Case, actual: Arrays, expected: Arrays) -> str | None:
    """Whether the error is what computing in a lower precision makes it; rounding never revives a forbidden key."""
    if (
        "weights" in actual
        and (actual["weights"][np.broadcast_to(forbidden(case), actual["weights"].shape)] != 0).any()
    ):
        return None
    if "weights" in actual and _is_one_sided(actual["weights"] - expected["weights"]):
        return None
    for name in ("float32", "float16"):
        low = _in_precision(case, name)
        for part in actual:
            # A column of zeros stays one in every precision.
            if part not in low or (actual[part][(low[part] == 0) & (expected[part] == 0)] != 0).any():
                return None
        errors = {part: _error(actual[part], expected[part]) for part in actual}
        rounding = {part: _error(low[part], expected[part]) for part in actual}
        if all(0 < errors[part] <= _ROUNDING * rounding[part] or errors[part] == 0 for part in actual) and any(
            errors.values()
        ):
            return name
    return None


def _is_one_sided(errors: Array) -> bool:
    """Rounding goes both ways within a row of weights, for the row still sums to 1."""
    return bool((errors > 0).all() or (errors < 0).all())


def _in_precision(case: Case, dtype: str) -> Arrays:
    """The right steps with every array rounded to a precision."""
    inputs = engine_inputs(replace(case, q=_round(case.q, dtype), k=_round(case.k, dtype), v=_round(case.v, dtype)))

    def rounded(step: Any) -> Any:
        return lambda array, given: _round(step(array, given), dtype)

    right_recipe = Recipe()
    recipe = replace(
        right_recipe,
        multiply=lambda given: _round(right_recipe.multiply(given), dtype),
        **{
            name: rounded(getattr(right_recipe, name))
            for name in ("scale", "shift", "exponentiate", "normalise", "mix")
        },
    )
    return of_recipe(recipe, inputs, ("scores", "weights", "output"))


def _round(array: Array, dtype: str) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(dtype).astype(np.float64)


def _error(one: Array, other: Array) -> float:
    with np.errstate(invalid="ignore"):
        gap = np.where(one == other, 0.0, np.abs(np.asarray(one, np.float64) - other))
    return float(np.nan_to_num(gap, nan=np.inf).max(initial=0.0))
