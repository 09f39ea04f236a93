"""What a derivation shows is what the engine computes, and every worked line can be calculated."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from explaining.evaluating import sides
from explaining.questions import CASES, QUESTIONS, TWO, case, trace

from sdpa_cli.cases import load_case
from sdpa_cli.errors import InputError
from sdpa_cli.explaining.derivation import derive
from sdpa_cli.explaining.maths import entry, plus, times
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.steps.output import output as output_step
from sdpa_cli.explaining.trace import Check, Facts, Matrix, Question, Table, Words, Worked
from sdpa_cli.explaining.walk import walk

ORDER = ["inputs", "products", "scale", "mask", "maximum", "exponentials", "weights", "output", "alternatives"]


def parts(found, kind, *steps):
    return [
        part for step in found.steps if not steps or step.name in steps for part in step.parts if isinstance(part, kind)
    ]


def matrix(found, step):
    return parts(found, Matrix, step)[-1]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_worked_line_can_be_calculated(name):
    for worked in parts(trace(name), Worked):
        found = sides(worked.maths)
        assert found or "Dots" in repr(worked.maths), worked.maths
        for one, other in pairwise(found):
            # float32 cases are worked out in float64.
            np.testing.assert_allclose(one, other, rtol=2e-6 if "float32" in name else 1e-9, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_every_check_holds_where_numbers_are_numbers(name):
    assert all(check.holds for check in parts(trace(f"derive {name}"), Check)) == (name != "wild")


@pytest.mark.parametrize("name", CASES)
def test_matrices_are_the_engine_s(name):
    found, way = trace(f"derive {name}"), walk(case(name), Selectors())
    rows, cols = way.rows, way.cols
    engine = way.whole.at(*way.leading)
    np.testing.assert_array_equal(matrix(found, "weights").values, engine.weights(rows, cols))
    np.testing.assert_array_equal(matrix(found, "weights").totals, engine.row_sums(rows))
    np.testing.assert_array_equal(
        matrix(found, "output").values, engine.output[rows][:, matrix(found, "output").cols.indices]
    )
    dead = engine.forbidden(rows, cols)
    np.testing.assert_allclose(way.unmasked[~dead], engine.scores(rows, cols)[~dead], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_sums_and_maxima_are_over_all_keys(name):
    way = walk(case(name), Selectors())
    scores = way.attention.scores(way.rows)
    np.testing.assert_allclose(way.maximum, scores.max(axis=-1), rtol=1e-7)
    shift = np.where(np.isneginf(way.maximum), 0, way.maximum)
    np.testing.assert_allclose(way.sums, np.exp(scores - shift[:, None]).sum(axis=-1), rtol=1e-6)


def test_the_steps_of_a_plain_case():
    assert [step.name for step in trace("derive two").steps] == [*ORDER, "questions", "cost"]


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("bias", {"softcap", "bias"}),
        ("alibi", {"alibi"}),
        ("layer", {"embeddings", "projection", "heads"}),
        ("learned", {"embeddings", "positions", "projection", "heads"}),
        ("rope", {"embeddings", "projection", "rope", "heads"}),
        ("decoded", {"cache"}),
    ],
)
def test_a_case_has_the_steps_of_what_it_has(name, extra):
    assert {step.name for step in trace(f"derive {name}").steps} - {*ORDER, "questions", "cost"} == extra


@pytest.mark.parametrize(
    ("mask", "row", "said"),
    [
        ("none", 1, "nothing"),
        ("{window: {right: 5}}", 1, "nothing"),
        ("causal", 1, "elsewhere"),
        ("causal", 0, "example"),
        ("causal", None, "example"),
    ],
)
def test_a_mask_is_told_of_the_whole_case_whatever_row_is_shown(mask, row, said, tmp_path):
    file = tmp_path / "case.yaml"
    file.write_text(f"{TWO}mask: {mask}\n", "utf-8")
    found = derive(load_case(file), Selectors(row=row))
    keys = [part.key for part in parts(found, Words, "mask")]
    assert keys[-1] == f"step.mask.{said}"
    assert ("step.mask.why" in keys) == (said != "nothing")
    assert ("step.maximum.unmasked" in [part.key for part in parts(found, Words, "maximum")]) == (said == "nothing")


def test_another_score_function_has_one_step_of_its_own():
    names = [step.name for step in trace("derive additive").steps]
    assert "scores" in names
    assert not {"products", "scale"} & set(names)


def test_the_issue_s_worked_entry():
    (worked,) = parts(trace("derive two"), Worked, "scale")
    assert sides(worked.maths) == pytest.approx([2**0.5, 2**0.5])
    assert worked.maths.terms[1].top == plus(times(1.0, 2.0), times(0.0, 0.0))


def test_the_course_s_numbers():
    weights = matrix(trace("derive two"), "weights")
    np.testing.assert_allclose(weights.values, [[0.3302, 0.6698], [0.6698, 0.3302]], atol=1e-4)
    exponentials = matrix(trace("derive two"), "exponentials")
    np.testing.assert_allclose(exponentials.totals * np.exp([2**0.5, 2**-0.5]), [6.1414, 3.0281], atol=1e-4)


def test_scores_vary_as_the_case_s_do():
    (facts,) = parts(trace("derive uneven"), Facts, "scale")
    _, before, after = (value for _, value in facts.items)
    products = case("uneven").q @ case("uneven").k.T
    assert (before, after) == pytest.approx((products.var(), products.var() / 2))


def test_all_four_questions_are_answered_for_the_case():
    empty = {part.answer.key for part in parts(trace("derive empty"), Question)}
    assert empty == {"question.shapes.answer", "question.sums.empty", "question.maximum.empty", "question.raises.empty"}
    assert len(parts(trace("derive two"), Question)) == 4


@pytest.mark.parametrize(("name", "key"), [("two", "check.row-sums"), ("empty", "check.row-sums-live")])
def test_rows_without_a_live_key_are_not_said_to_sum_to_one(name, key):
    assert [check.words.key for check in parts(trace(f"derive {name}"), Check, "weights")][1] == key


def test_a_rotation_is_worked_out_where_something_turns():
    (table,) = parts(trace("derive rope"), Table, "rope")
    (worked,) = parts(trace("derive rope"), Worked, "rope")
    assert [row[1] for row in table.rows] == [0, 1, 2]
    assert worked.maths.terms[0] == entry("q", 1, 0)


def test_a_chosen_tile_is_the_one_whose_memory_is_counted():
    found = parts(derive(case("uneven"), Selectors(block_size=1)), Facts, "cost")[-1]
    assert found.items[1][0].values == {"keys": 1}


@pytest.mark.parametrize(
    ("name", "key"), [("two", "lengths"), ("dot", "lengths"), ("general", "own-lengths"), ("additive", "own-lengths")]
)
def test_equal_lengths_are_claimed_only_where_they_must_be(name, key):
    assert trace(f"derive {name}").steps[0].parts[1].key == f"step.inputs.{key}"


def test_a_large_case_says_what_it_shows():
    found = trace("derive big")
    assert [note.key for note in found.notes] == ["note.head", "note.query", "note.key"]
    assert len(found.notes[1].values["shown"]) == 2


def test_a_case_larger_than_memory_for_its_scores_is_explained(tmp_path):
    path = tmp_path / "long.yaml"
    path.write_text(
        "Q: {random: normal, shape: [4, 8], seed: 1}\nK: {random: normal, shape: [200000, 8], seed: 2}\n"
        "V: {random: normal, shape: [200000, 8], seed: 3}\n",
        "utf-8",
    )
    found = derive(load_case(path), Selectors())
    assert matrix(found, "weights").values.shape[1] <= 9
    assert all(check.holds for check in parts(found, Check))


@pytest.mark.parametrize(
    ("selectors", "message"),
    [
        (Selectors(row=2), "--row: there is no row 3, the case has Tq = 2"),
        (Selectors(cell=(0, 5)), "--cell: there is no key 6, the case has Tk = 2"),
        (Selectors(cell=(7, 0)), "--cell: there is no row 8, the case has Tq = 2"),
        (Selectors(head=(0,)), "--head 1 is not in this case"),
    ],
)
def test_what_is_not_there_is_refused(selectors, message):
    with pytest.raises(InputError) as error:
        derive(case("two"), selectors)
    assert error.value.problems[0].message == message


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="--head 3 is not in this case"):
        derive(case("big"), Selectors(head=(2,)))


def test_the_chosen_head_is_the_one_shown():
    way = walk(case("grouped"), Selectors(head=(3,)))
    assert way.leading == (0, 3)
    assert way.kv_leading == (0, 1)
    np.testing.assert_array_equal(way.attention.output, way.whole.output[0, 3])


def test_one_cell_is_told_whole():
    (step,) = derive(case("two"), Selectors(cell=(0, 1))).steps
    results = [sides(part.maths)[-1] for part in step.parts if isinstance(part, Worked)]
    engine = case("two").attend()
    weight = engine.weights()[0, 1]
    assert results[:2] == pytest.approx([2.0, 2**0.5])
    assert results[5] == pytest.approx(weight)
    np.testing.assert_allclose(results[6], weight * case("two").v[1])


@pytest.mark.parametrize(("shift", "inside"), [(0, True), (1e-9, False)], ids=["its own rounding", "outside"])
def test_a_mean_may_leave_the_hull_by_its_rounding_alone(tmp_path, shift, inside):
    path = tmp_path / "case.yaml"
    path.write_text("Q: [[-0.5, -0.3]]\nK: [[0.4, 1.0], [-0.1, 1.4], [-0.7, 0.4]]\nV: [[0.1], [0.1], [0.1]]\n", "utf-8")
    way = walk(load_case(path), Selectors())
    assert way.attention.output.item() > 0.1
    way = replace(way, attention=replace(way.attention, output=way.attention.output + shift))
    (hull,) = (part for part in output_step(way).parts if isinstance(part, Check) and part.words.key == "check.hull")
    assert hull.holds is inside
