"""Faults side by side: where they part, which law they break and by which numbers, where they do no harm."""

import numpy as np
import pytest
from explaining.questions import case, trace

from sdpa_cli.errors import InputError
from sdpa_cli.explaining.comparing.faults import catalogue, explain_fault
from sdpa_cli.explaining.comparing.sides import Parting, Sides, parting
from sdpa_cli.explaining.comparing.sources import SOURCES
from sdpa_cli.explaining.comparing.witnesses import witness
from sdpa_cli.explaining.trace import Catalogue, Check, Command, Link, Pair, Words, words
from sdpa_cli.faults import CATALOGUE, Recipe

TITLES = (words("side.right"), words("side.faulty"))


def sides(name, inputs=None):
    inputs = witness(name) if inputs is None else inputs
    return Sides(inputs, Recipe().run(inputs), CATALOGUE[name].recipe.run(inputs), TITLES)


def checks(found, step):
    return [part for s in found.steps if s.name == step for part in s.parts if isinstance(part, Check)]


def pairs(found, step):
    return [part for s in found.steps if s.name == step for part in s.parts if isinstance(part, Pair)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_fault_shows_on_a_case_of_its_own(name):
    both = sides(name)
    where = parting(both)
    assert where is not None
    right, other = (getattr(side, where.step)[where.index] for side in (both.right, both.other))
    assert not np.isclose(right, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_fault_s_law_is_shown_broken_by_numbers(name):
    (check,) = checks(trace(f"fault {name}"), "law")[:1]
    assert not check.holds
    expected = {
        "scale": {"evidence.scale", "evidence.values"},
        "live-keys": {"evidence.gained", "evidence.lost"},
        "zero-weights": {"evidence.zero", "evidence.leak"},
        "row-sum": {"evidence.row-sum"},
        "shift-invariance": {"evidence.shift"},
        "finite": {"evidence.not-finite", "evidence.zero"},
        "formula": {"evidence.values"},
    }
    assert check.words.key in expected[CATALOGUE[name].law]


PARTS_AT = {
    "no-scale": "scores",
    "key-not-transposed": "products",
    "mask-after-softmax": "logits",
    "softcap-after-mask": "scores",
    "no-max-shift": "exponentials",
    "softmax-over-queries": "weights",
    "max-without-keepdims": "shifted",
    "base-two-exponential": "exponentials",
    "weights-transposed": "output",
}


@pytest.mark.parametrize(("name", "step"), PARTS_AT.items(), ids=PARTS_AT)
def test_the_first_step_that_differs(name, step):
    assert parting(sides(name)).step == step


def test_what_the_softmax_cancels_is_no_difference():
    """Without a shift the shifted scores differ by a constant, which is legal; only overflow is not."""
    inputs = case("two").attend().inputs
    assert parting(sides("no-max-shift", inputs)) is None
    assert parting(sides("max-of-all-rows", inputs)) is None


def test_f4_s_row_sum():
    found = trace("fault mask-after-softmax")
    (check,) = checks(found, "law")
    assert check.words.key == "evidence.row-sum"
    assert check.words.values["sum"] == pytest.approx(0.3302, abs=1e-4)
    assert check.words.values["row"].index == 0
    weights, output = pairs(found, "consequence")
    np.testing.assert_allclose(weights.other.totals, [0.3302, 1], atol=1e-4)
    np.testing.assert_allclose(output.other.values[0], [0.3302, 0, 0], atol=1e-4)
    np.testing.assert_array_equal(output.right.values[0], [1, 0, 0])


def test_the_first_cell_is_pointed_at_on_both_sides():
    (pair,) = pairs(trace("fault mask-after-softmax"), "difference")
    assert pair.right.marked == pair.other.marked == (0, 1)
    assert pair.right.values[0, 1] == -np.inf
    assert pair.other.values[0, 1] == pytest.approx(2**0.5)


def test_the_factor_of_a_wrong_scale():
    (check,) = checks(trace("fault no-scale"), "law")
    assert check.words.values["factor"] == pytest.approx(2**0.5)


def test_a_fault_that_makes_no_difference_says_so_and_where_it_would():
    found = trace("harmless")
    (step,) = [step for step in found.steps if step.name == "difference"]
    keys = [part.key for part in step.parts if isinstance(part, Words)]
    assert keys == ["fault.harmless.why", "fault.window-by-total-width.shows"]
    assert [part.text for part in step.parts if isinstance(part, Command)] == [
        "sdpa explain --fault window-by-total-width"
    ]


def test_a_fault_the_shapes_do_not_admit_says_why():
    (step,) = [step for step in trace("impossible").steps if step.name == "difference"]
    assert step.parts[0].key == "fault.impossible.why"


def test_the_cell_of_a_large_case_is_among_those_shown():
    (pair,) = pairs(trace("in a batch"), "difference")
    assert pair.right.values.shape[0] <= 9
    i, j = pair.right.marked
    assert pair.right.rows.indices[i] == 0
    assert pair.right.cols.indices[j] == 0


def test_an_unknown_fault_names_the_near_one():
    with pytest.raises(InputError) as error:
        explain_fault("mask-after-softmx")
    problem = error.value.problems[0]
    assert problem.message == "there is no fault 'mask-after-softmx'"
    assert problem.hint == "did you mean mask-after-softmax? sdpa explain --faults lists all of them"


def test_a_case_too_large_to_be_held_twice_is_refused(tmp_path):
    from sdpa_cli.cases import load_case

    path = tmp_path / "large.yaml"
    path.write_text("".join(f"{x}: {{random: normal, shape: [900, 8], seed: 1}}\n" for x in "QKV"), "utf-8")
    with pytest.raises(InputError, match="too large to be walked side by side"):
        explain_fault("no-scale", load_case(path))


def test_the_catalogue_holds_every_fault_and_its_source():
    (found,) = [part for part in catalogue().steps[0].parts if isinstance(part, Catalogue)]
    assert [entry.name for entry in found.entries] == list(CATALOGUE)
    for entry in found.entries:
        assert [name for name, _ in entry.parts] == ["cause", "symptom", "shows", "cure"]
        assert isinstance(entry.source, Link) or entry.source == words("source.course")


def test_sources_are_of_faults_and_have_addresses():
    assert set(SOURCES) <= set(CATALOGUE)
    for source in SOURCES.values():
        assert source.url.startswith("https://")
        assert source.title


def test_the_head_of_a_difference_is_named():
    (step,) = [step for step in trace("fault heads-tiled").steps if step.name == "difference"]
    assert step.parts[0].key == "fault.in-head"
    assert step.parts[0].values["head"].index == 1


def test_a_parting_knows_its_head_and_cell():
    where = Parting("weights", (0, 1, 2, 3, 4))
    assert where.head == (0, 1, 2)
    assert where.cell == (3, 4)
