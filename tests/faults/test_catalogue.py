"""The right recipe is right, every fault is wrong somewhere, and no two faults are the same."""

from itertools import combinations

import numpy as np
import pytest

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.attention.inputs import Options, prepare
from sdpa_cli.faults import CATALOGUE, LAWS, Recipe

COURSE = {"Q": np.eye(2), "K": np.array([[1, 1], [2, 0]]), "V": np.array([[1, 0, 0], [0, 1, 0]])}


def case(shape, mask=None, *, k_lead=None, bias=None, factor=1.0, **options):
    *lead, tq, tk, d_k, d_v = shape
    rng = np.random.default_rng([*shape])
    k_lead = lead if k_lead is None else k_lead
    arrays = {
        "Q": rng.standard_normal((*lead, tq, d_k)) * factor,
        "K": rng.standard_normal((*k_lead, tk, d_k)) * factor,
        "V": rng.standard_normal((*k_lead, tk, d_v)),
    }
    return arrays, mask, bias, Options(**options)


def poisoned():
    arrays, mask, bias, options = case((3, 4, 2, 3), Mask(key_lengths=3))
    arrays["V"][3] = np.nan
    return arrays, mask, bias, options


def towering():
    """The forbidden key's score lies far above the live ones."""
    arrays, mask, bias, options = case((2, 3, 2, 2), Mask(key_lengths=2))
    arrays["Q"], arrays["K"] = np.ones((2, 2)), np.array([[1, 1], [2, 0], [900, 900]])
    return arrays, mask, bias, options


# Together these tell every fault from every other. Square ones are there because only they let some faults pass.
CASES = {
    "plain": case((3, 4, 5, 2)),
    "square": case((3, 3, 3, 3)),
    "causal": case((4, 4, 5, 2), Mask(causal=True)),
    "rectangular-causal": case((2, 4, 3, 5), Mask(causal=True, query_offset=2)),
    "window": case((4, 4, 3, 2), Mask(window=Window(2, 0))),
    "given": case((3, 3, 4, 2), np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], bool)),
    "padding": case((2, 3, 4, 4, 3), Mask(key_lengths=[4, 2])),
    "grouped": case((1, 4, 3, 3, 2, 2), k_lead=(1, 2)),
    "softcap": case((3, 3, 4, 2), Mask(causal=True), softcap=2.0),
    "bias": case((2, 3, 4, 2), bias=np.array([[0.5, -1, 2], [0, 1, 3]])),
    "huge": case((2, 3, 4, 2), factor=30.0),
    "uneven": (
        {"Q": np.array([[0.0, 1], [40, 0]]), "K": np.array([[90.0, 0], [1, 1]]), "V": np.eye(2)},
        None,
        None,
        Options(),
    ),
    "empty-row": case((2, 3, 4, 2), np.array([[1, 1, 1], [0, 0, 1]], bool), empty_rows="zero"),
    "poisoned": poisoned(),
    "towering": towering(),
}


def steps(recipe, name):
    arrays, mask, bias, options = CASES[name]
    try:
        return recipe.run(prepare(arrays, mask, bias, options))
    except ValueError:
        return None


def agree(one, other):
    if one is None or other is None:
        return one is other
    # half-precision-scores lies about 1e-3 from the right values, the others farther.
    return all(
        np.allclose(getattr(one, step), getattr(other, step), rtol=1e-9, atol=1e-9, equal_nan=True)
        for step in ("weights", "output")
    )


@pytest.mark.parametrize("name", CASES)
def test_the_right_recipe_is_the_engine(name):
    arrays, mask, bias, options = CASES[name]
    engine = attend(*arrays.values(), mask=mask, bias=bias, softcap=options.softcap, empty_rows=options.empty_rows)
    right = Recipe().run(prepare(arrays, mask, bias, options))
    lead = engine.output.shape[:-1]
    np.testing.assert_allclose(right.weights.reshape(*lead, -1), engine.weights(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(right.output.reshape(engine.output.shape), engine.output, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("fault", CATALOGUE.values(), ids=CATALOGUE)
def test_every_fault_is_wrong_somewhere(fault):
    assert fault.law in LAWS
    assert any(
        (wrong := steps(fault.recipe, name)) is not None and not agree(wrong, steps(Recipe(), name)) for name in CASES
    )


@pytest.mark.parametrize(("one", "other"), list(combinations(CATALOGUE, 2)))
def test_no_two_faults_are_the_same(one, other):
    assert any(not agree(steps(CATALOGUE[one].recipe, name), steps(CATALOGUE[other].recipe, name)) for name in CASES)


def test_the_course_s_fault_leaves_the_row_sum_the_course_gives():
    inputs = prepare(COURSE, Mask(causal=True), None, Options())
    wrong = CATALOGUE["mask-after-softmax"].recipe.run(inputs)
    assert wrong.weights[0, 0, 0, 0].round(4).tolist() == [0.3302, 0]
    assert wrong.weights[0, 0, 0, 0].sum() == pytest.approx(0.3302, abs=1e-4)
    assert wrong.output[0, 0, 0, 0].round(4).tolist() == [0.3302, 0, 0]


def test_a_recipe_the_shapes_do_not_admit_is_refused():
    arrays, mask, bias, options = CASES["plain"]
    with pytest.raises(ValueError, match="output of shape"):
        CATALOGUE["keys-as-values"].recipe.run(prepare(arrays, mask, bias, options))
