"""Quantities by name: the engine's and a recipe's are the same numbers, with a fault and without one."""

from dataclasses import replace

import numpy as np
import pytest
from grading.items import EXERCISES

from sdpa_cli.attention import Mask, Window
from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import load_case
from sdpa_cli.faults import CATALOGUE, Recipe
from sdpa_cli.grading.attempt import Call
from sdpa_cli.grading.diagnosis import diagnose, evidence_of
from sdpa_cli.grading.exercise import Check, Function
from sdpa_cli.grading.grader import grade
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.grading.kinds.own_tests import stand_in
from sdpa_cli.grading.kinds.written import AnswerRule
from sdpa_cli.grading.quantities import RIGHT_NAMES, arguments, engine_inputs, has_mask, of_recipe, right
from sdpa_cli.grading.report import Status
from sdpa_cli.sandbox import Kind, Outcome

CASES = sorted(path for name in ("F3", "X1") for path in (EXERCISES / name / "cases").glob("*.yaml"))
PLAIN = [path for path in CASES if path.stem != "empty-row" and not path.stem.startswith("nan-")]
"""Those that are computed, and without NaN: where one spreads to is a matter of how it is computed."""


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_without_a_fault_a_recipe_s_quantities_are_the_engine_s(path):
    case = load_case(path)
    with np.errstate(all="ignore"):
        wanted, found = right(case, RIGHT_NAMES), of_recipe(Recipe(), engine_inputs(case), RIGHT_NAMES)
    assert {name: array.shape for name, array in found.items()} == {name: wanted[name].shape for name in RIGHT_NAMES}
    assert [name for name in RIGHT_NAMES if not np.allclose(found[name], wanted[name], 1e-12, 1e-12)] == []


TWO_TOKEN = load_case(EXERCISES / "F3" / "cases" / "two-token-causal.yaml")
MASKS = {
    "causal": Mask(causal=True),
    "window": Mask(window=Window(1, 0)),
    "key_lengths": Mask(key_lengths=1),
    "forbidden": Mask(forbidden=np.array([[False, True], [False, False]])),
    "segments": Mask(segments=[0, 1]),
    "stride": Mask(stride=2),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_each_part_of_a_mask_is_one(mask):
    assert has_mask(replace(TWO_TOKEN, mask=mask))
    assert not has_mask(replace(TWO_TOKEN, mask=Mask()))


E_ROOT = np.exp([[1, 2], [1, 0]] / np.sqrt(2))
"""The exponentials of its scores, whole."""
FAULTY = {
    "scores": [[1 / 2**0.5, 2**0.5], [1 / 2**0.5, 0]],
    "row-sums": [E_ROOT[0, 0] / E_ROOT[0].sum(), 1],
    "normaliser": E_ROOT.sum(-1),
    "shifted-normaliser": [1 + E_ROOT[0, 0] / E_ROOT[0, 1], 1 + 1 / E_ROOT[1, 0]],
    "lse": np.log(E_ROOT.sum(-1)),
}
"""What a mask after the softmax makes of the causal example: everything before the weights knows of no mask."""


@pytest.mark.parametrize("name", FAULTY)
def test_a_quantity_of_a_fault_is_that_quantity(name):
    fault = CATALOGUE["mask-after-softmax"].recipe
    assert np.allclose(of_recipe(fault, engine_inputs(TWO_TOKEN), (name,))[name], FAULTY[name], rtol=1e-12)


@pytest.mark.parametrize("name", FAULTY)
def test_an_answer_is_held_against_that_quantity_of_a_fault(box, exercise, name):
    rule = AnswerRule("answers.yaml", "it", name, TWO_TOKEN, Tolerance(1e-9, 1e-9), "mask-after-softmax")
    about = replace(exercise("F4"), function=None, checks=(Check("it", rule, 1.0),))
    right_values = of_recipe(Recipe(), engine_inputs(TWO_TOKEN), (name,))[name]
    found = []
    for values in (FAULTY[name], right_values):
        answers = f"it: {np.asarray(values).tolist()}\n".replace("-inf", "-.inf").encode()
        found.append(grade(about, HandedIn({"answers.yaml": answers}), box).items[0].status)
    assert found == [Status.PASSED, Status.FAILED]


RETURNS = ("scores", "weights", "lse", "output")


def test_a_function_that_returns_scores_and_lse_has_a_stand_in():
    (q, k, v), named = arguments(TWO_TOKEN, ("Q", "K", "V"), ("mask",))
    for fault in (None, CATALOGUE["mask-after-softmax"]):
        found = stand_in(RETURNS, fault)(q, k, v, **named)
        wanted = of_recipe(fault.recipe if fault else Recipe(), engine_inputs(TWO_TOKEN), RETURNS)
        assert [np.array_equal(one, wanted[part]) for part, one in zip(RETURNS, found, strict=True)] == [True] * 4


@pytest.mark.parametrize("fault", ["no-scale", "base-two-exponential"])
def test_a_fault_is_named_by_scores_and_lse(fault):
    returns = ("scores", "lse")
    cases = [load_case(EXERCISES / "F3" / "cases" / f"{name}.yaml") for name in ("causal", "rectangular", "large")]
    calls = []
    for case in cases:
        arrays = of_recipe(CATALOGUE[fault].recipe, engine_inputs(case), returns)
        calls.append(Call(case, Outcome(Kind.RETURNED, value=tuple(arrays.values()))))
    function = Function("attend", "attention.py", ("Q", "K", "V"), ("mask",), returns)
    assert diagnose(evidence_of(calls, function), returns) == fault


def test_an_output_for_a_row_that_must_be_refused_tells_of_no_fault():
    """Weights of an empty row tell which fault made them; of an output alone there is nothing to hold it against."""
    # On these cases the numbers of every fault but the one that only empty rows show are others than the right ones.
    names = [path for path in CASES if path.parts[-3] == "X1"] + [EXERCISES / "F3" / "cases" / "nan-value.yaml"]
    high, low = (replace(TWO_TOKEN, q=TWO_TOKEN.q * factor) for factor in (2e3, -1e12))
    empty = load_case(EXERCISES / "F3" / "cases" / "empty-row.yaml")
    calls = []
    for case in (*map(load_case, names), high, low, empty):
        output = of_recipe(Recipe(), engine_inputs(case), ("output",))["output"]
        calls.append(Call(case, Outcome(Kind.RETURNED, value=output), must_raise=case is empty))
    evidence = evidence_of(calls, Function("attend", "attention.py", ("Q", "K", "V"), returns=("output",)))
    assert len(evidence) == len(calls)
    assert diagnose(evidence, ("output",)) is None
