"""Naming the fault: a submission whose numbers are a catalogued fault's on every case makes that fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.cases import Case
from sdpa_cli.errors import InputError
from sdpa_cli.faults import CATALOGUE, Recipe
from sdpa_cli.faults.recipe import Given, forbid
from sdpa_cli.grading.attempt import Call
from sdpa_cli.grading.comparing import has_nan, returned
from sdpa_cli.grading.exercise import Function
from sdpa_cli.grading.quantities import engine_inputs, has_mask, of_recipe, per_case

Array = NDArray[Any]
Arrays = Mapping[str, Array]
# A fault written in single precision is the same fault; half-precision scores lie a hundred times farther off.
ATOL, RTOL = 2e-6, 1e-5


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers of a submission on one case."""

    case: Case
    actual: Arrays
    must_raise: bool


def evidence_of(calls: Iterable[Call], function: Function) -> tuple[Evidence, ...]:
    """The calls that returned arrays of the right shapes: what can be compared with a fault."""
    found = []
    for call in calls:
        actual, right = returned(call.outcome, function), run(Recipe(), call.case, function.returns)
        # Where the right values are NaN, so are those of most faults.
        if actual is not None and right is not None and _fits(actual, right) and not has_nan(right):
            found.append(Evidence(call.case, actual, call.must_raise))
    return tuple(found)


def diagnose(evidence: Sequence[Evidence], returns: tuple[str, ...]) -> str | None:
    """The one fault that explains the evidence.

    Parameters
    ----------
    evidence
        Numbers of the submission.
    returns
        What they are.

    Returns
    -------
    str or None
        None where no fault does, and where more than one would: a wrong name teaches worse than none.
    """
    if "weights" not in returns:
        evidence = [one for one in evidence if not one.must_raise]
    computed = [one for one in evidence if not one.must_raise and _finite((one.case.q, one.case.k, one.case.v))]
    finite = [one for one in computed if _finite(one.actual.values())]
    # A second fault beside the first may show only where a row is empty, where an input is NaN, where numbers overflow.
    for part in (evidence, computed, finite):
        names = [
            name for name, fault in CATALOGUE.items() if any(_explains(r, part, returns) for r in _styles(fault.recipe))
        ]
        if names:
            return names[0] if len(names) == 1 else None
    return None


@per_case
def run(recipe: Recipe, case: Case, returns: tuple[str, ...]) -> Arrays | None:
    """What a recipe makes of a case, by name; None where the shapes do not admit it."""
    try:
        return of_recipe(recipe, engine_inputs(case), returns)
    except (ValueError, InputError):
        return None


def _styles(recipe: Recipe) -> Iterator[Recipe]:
    """A recipe as people write it: they keep NaN in a forbidden value out of the output in more than one way."""
    yield recipe
    if recipe.mix is Recipe().mix:
        yield replace(recipe, mix=_mix_without_unseen)
        yield replace(recipe, mix=_mix_without_forbidden)


def _mix_without_unseen(w: Array, given: Given) -> Array:
    """The values that the mask forbids to every query are set to 0 beforehand."""
    unseen = np.asarray(forbid(given.inputs).all(axis=-2))
    return np.asarray(w @ np.where(unseen[..., None], 0, given.v))


def _mix_without_forbidden(w: Array, given: Given) -> Array:
    """Each query leaves out the values that the mask forbids to it."""
    terms = np.where(forbid(given.inputs)[..., None], 0, w[..., None] * given.v[..., None, :, :])
    return np.asarray(terms.sum(axis=-2))


def _explains(recipe: Recipe, evidence: Sequence[Evidence], returns: tuple[str, ...]) -> bool:
    """Whether a fault's numbers are the submission's everywhere, and somewhere not the right ones."""
    shows = False
    for one in evidence:
        # What the right function refuses has no right output; which weights come of it still tells the fault.
        wanted = tuple(part for part in returns if part == "weights") if one.must_raise else returns
        wrong, right = run(recipe, one.case, wanted), run(Recipe(), one.case, wanted)
        unmasked = not has_mask(one.case) and recipe.forbid is not Recipe().forbid
        if wrong is None or right is None or not _agree(one.actual, wrong):
            # Who gets a mask wrong may well leave it alone where there is none.
            if unmasked and right is not None and _agree(one.actual, right):
                continue
            return False
        shows = shows or one.must_raise or not _agree(right, wrong)
    return shows


def _finite(arrays: Iterable[Array]) -> bool:
    return all(np.isfinite(array).all() for array in arrays)


def _agree(one: Arrays, other: Arrays) -> bool:
    return all(
        one[name].shape == array.shape and np.allclose(one[name], array, rtol=RTOL, atol=ATOL, equal_nan=True)
        for name, array in other.items()
    )


def _fits(actual: Arrays, right: Arrays) -> bool:
    return all(actual[name].shape == array.shape for name, array in right.items())
