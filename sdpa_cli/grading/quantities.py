"""The quantities that exercises speak of by name: what a case has, and what the right attention makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention
from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.cases import Case
from sdpa_cli.faults import Recipe, Steps

Array = NDArray[Any]

SHAPES = {"output": "(…, Tq, d_v)", "weights": "(…, Tq, Tk)", "scores": "(…, Tq, Tk)", "lse": "(…, Tq)"}
"""The letters of what a function may return."""

# A class of thousands is graded on the same few cases. What depends on a case alone is computed once; nothing that is
# kept is ever written to.
per_case = lru_cache(maxsize=4096)
"""Remembers a function of cases."""

_RIGHT: Mapping[str, Callable[[Attention], Array]] = {
    "scores": lambda attention: attention.scores(),
    "weights": lambda attention: attention.weights(),
    "output": lambda attention: attention.output,
    "lse": lambda attention: attention.lse,
    "row-sums": lambda attention: attention.weights().sum(axis=-1),
    "normaliser": lambda attention: np.exp(attention.scores()).sum(axis=-1),
    "shifted-normaliser": lambda attention: np.exp(_shifted(attention.scores())).sum(axis=-1),
}
PER_ROW = frozenset({"lse", "row-sums", "normaliser", "shifted-normaliser"})
"""Quantities with one number for each row."""
RIGHT_NAMES = tuple(_RIGHT)

OF_STEPS: Mapping[str, Callable[[Steps], Array]] = {
    "scores": lambda steps: steps.logits,
    "weights": lambda steps: steps.weights,
    "output": lambda steps: steps.output,
    "lse": lambda steps: _lse(steps),
    "row-sums": lambda steps: steps.weights.sum(axis=-1),
    "normaliser": lambda steps: np.exp(steps.logits).sum(axis=-1),
    "shifted-normaliser": lambda steps: steps.exponentials.sum(axis=-1),
}
"""The same quantities, where a recipe computes them."""


@per_case
def right(case: Case, names: tuple[str, ...]) -> dict[str, Array]:
    """What the engine makes of a case.

    Parameters
    ----------
    case
        The case.
    names
        Of `RIGHT_NAMES`.

    Raises
    ------
    InputError
        As `Case.attend` does.
    """
    attention = case.attend()
    return {name: np.asarray(_RIGHT[name](attention)) for name in names}


def of_recipe(recipe: Recipe, inputs: Inputs, names: tuple[str, ...]) -> dict[str, Array]:
    """What a recipe makes of inputs, in the engine's shapes.

    Parameters
    ----------
    recipe, inputs
        What is computed, of what.
    names
        Of `RIGHT_NAMES`.

    Raises
    ------
    ValueError
        Where the shapes do not admit the recipe.
    """
    steps = recipe.run(inputs)
    with np.errstate(all="ignore"):
        arrays = {name: OF_STEPS[name](steps) for name in names}
    return {name: array.reshape(*inputs.lead, *array.shape[3:]) for name, array in arrays.items()}


def _lse(steps: Steps) -> Array:
    """What was taken off each row is put back onto the logarithm of its sum."""
    taken = np.where(np.isfinite(steps.logits), steps.logits - steps.shifted, -np.inf).max(axis=-1)
    return np.asarray(taken + np.log(steps.exponentials.sum(axis=-1)))


def _shifted(scores: Array) -> Array:
    return np.asarray(scores - scores.max(axis=-1, keepdims=True))


@per_case
def engine_inputs(case: Case) -> Inputs:
    """A case as the catalogue's recipes take it; a query without a live key is not refused here."""
    return replace(case, empty_rows="zero").inputs()


@per_case
def forbidden(case: Case) -> NDArray[np.bool_]:
    """The mask of a case as an array ``(…, Tq, Tk)``, True = forbidden."""
    return replace(case, empty_rows="zero").attend().forbidden()


def has_mask(case: Case) -> bool:
    """Whether the case speaks of a mask at all."""
    mask = case.mask
    parts = (mask.window, mask.key_lengths, mask.forbidden, mask.segments, mask.stride)
    return mask.causal or any(part is not None for part in parts)


_ARGUMENTS: Mapping[str, Callable[[Case], Any]] = {
    "Q": lambda case: np.array(case.q, case.dtype),
    "K": lambda case: np.array(case.k, case.dtype),
    "V": lambda case: np.array(case.v, case.dtype),
    "scores": lambda case: right(case, ("scores",))["scores"],
    "mask": lambda case: forbidden(case) if has_mask(case) else None,
    "causal": lambda case: case.mask.causal or None,
    "query_offset": lambda case: case.mask.query_offset,
    "window": lambda case: case.mask.window and (case.mask.window.left, case.mask.window.right),
    "bias": lambda case: None if case.bias is None else np.array(case.bias, np.float64),
    "softcap": lambda case: case.softcap,
    "scale": lambda case: case.scale,
}
ARGUMENT_NAMES = tuple(_ARGUMENTS)


@per_case
def arguments(case: Case, names: tuple[str, ...], options: tuple[str, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function is called with for a case: by position, and by name what the case has of the options."""
    by_name = {name: _ARGUMENTS[name](case) for name in options}
    return tuple(_ARGUMENTS[name](case) for name in names), {k: v for k, v in by_name.items() if v is not None}
