"""Topics: every number in them is computed, and comes out as it must."""

import math
import re

import numpy as np
import pytest
from explaining.evaluating import sides
from explaining.questions import trace

from sdpa_cli.attention.cache import cache_bytes
from sdpa_cli.errors import InputError
from sdpa_cli.explaining.costs import Size, cost
from sdpa_cli.explaining.topics import LARGEST, OPTIONS, TOPICS, explain_topic
from sdpa_cli.explaining.topics.building import TopicOptions
from sdpa_cli.explaining.trace import Bytes, Check, Facts, Matrix, Pair, Shapes, Table, Words, Worked
from sdpa_cli.languages import load


def parts(found, kind, *steps):
    return [part for s in found.steps if not steps or s.name in steps for part in s.parts if isinstance(part, kind)]


def table(name, step, **options):
    found = explain_topic(name, TopicOptions(**options)) if options else trace(f"topic {name}")
    return np.array([[getattr(cell, "count", cell) for cell in row] for row in parts(found, Table, step)[0].rows])


def filled(name, step, key):
    return next(p for p in parts(trace(f"topic {name}"), Words, step) if p.key.endswith(key)).values


@pytest.mark.parametrize("name", TOPICS)
def test_every_check_of_a_topic_holds(name):
    assert all(check.holds for check in parts(trace(f"topic {name}"), Check))


@pytest.mark.parametrize("language", ["en", "hu", "da"])
def test_no_result_is_pasted_into_a_text(language):
    """A number with decimals in a topic's prose would be one."""
    for key, text in load("sdpa_cli.explaining.topics", language).entries.items():
        assert not re.search(r"\d[.,]\d", text), key


def test_shapes_are_those_of_the_computation():
    plain, heads = parts(trace("topic shapes"), Shapes)
    assert {name.name: axes for name, axes in plain.items}["O"] == (("Tq", 2), ("d_v", 4))
    assert {name.name: axes for name, axes in heads.items}["K"] == (("B", 1), ("H", 2), ("Tk", 3), ("d_k", 2))
    assert filled("shapes", "wrong", "why")["message"].text == "K has d_k = 3, Q has d_k = 2"


def test_scaling_brings_the_variance_to_1():
    found = table("scaling", "measured")
    d, before, after, peaked, calm = found.T
    np.testing.assert_allclose(before, d, rtol=0.1)
    np.testing.assert_allclose(after, 1, rtol=0.1)
    assert peaked[-1] > 0.9
    assert np.ptp(calm) < 0.02


def test_scaling_for_a_length_of_one_s_own_and_another_seed():
    assert table("scaling", "measured", d=16)[0, 0] == 16
    assert table("scaling", "measured", seed=1)[0, 1] != table("scaling", "measured")[0, 1]


def test_f2_s_two_matrices():
    found = trace("topic softmax")
    exponentials, weights = parts(found, Matrix, "plain")
    np.testing.assert_allclose(exponentials.values, [[1, math.e**2, 0], [math.e, 0.3679, 1]], atol=1e-4)
    np.testing.assert_allclose(exponentials.totals, [8.3891, 4.0862], atol=1e-4)
    right = [[0.1192, 0.8808, 0], [0.6652, 0.0900, 0.2447]]
    np.testing.assert_allclose(weights.values, right, atol=1e-4)
    np.testing.assert_allclose(parts(found, Matrix, "shifted")[1].values, right, atol=1e-4)


def test_f2_s_matrices_are_nowhere_else():
    for name in TOPICS:
        for matrix in parts(trace(f"topic {name}"), Matrix):
            assert name == "softmax" or not np.isclose(matrix.values, 0.8808, atol=1e-4).any()


def test_overflow_is_real():
    _, _, plain, naive, shifted = table("softmax", "overflow").T
    assert np.isinf(plain.astype(float)).all()
    assert np.isnan(naive.astype(float)).all()
    np.testing.assert_allclose(shifted.astype(float), [0.6652, 0.2447, 0.0900], atol=1e-4)


def test_masks_before_and_after():
    (pair,) = parts(trace("topic masks"), Pair)
    np.testing.assert_allclose(pair.right.totals, [1, 1])
    np.testing.assert_allclose(pair.other.totals, [0.3302, 1], atol=1e-4)
    assert table("masks", "offset").tolist() == [[0, 1, 2], [2, 3, 4]]


def test_cost_grows_as_it_must():
    found = table("cost", "table", tokens=100, d=8, heads=2)
    assert found[0].tolist() == [100, 2 * 100 * 100 * 16, 2 * 2 * 100 * 100 * 4, (2 * 2 * 100 + 100 * 100) * 4, 12800]
    values = filled("cost", "doubling", "why")
    assert (values["arithmetic"], values["naive"], values["cache"]) == (4, 4, 2)


def test_the_cost_of_a_size_is_counted():
    found = cost(Size(queries=3, keys=5, d_k=2, d_v=4, heads=2, kv_heads=1, itemsize=4, tile_keys=2))
    assert (found.for_scores, found.for_output) == (60, 120)
    assert (found.naive, found.streaming, found.cache) == (2 * 2 * 15 * 4, (2 * 6 + 6) * 4, 5 * 6 * 4)


def test_heads_share_in_order_and_shrink_the_cache():
    assert table("heads", "sharing")[:, 2].tolist() == [1, 1, 2, 2]
    rows = parts(trace("topic heads"), Table, "kinds")[0].rows
    expected = [cache_bytes(4096, 64, 64, heads=(groups,)) for groups in (8, 2, 1)]
    assert [row[2] for row in rows] == [Bytes(count) for count in expected]


def test_rotations_see_differences_only():
    m, n, apart, product = table("positions", "rope").T
    np.testing.assert_array_equal(m - n, apart)
    for distance in set(apart):
        assert np.ptp(product[apart == distance]) < 1e-9
    assert np.ptp(product) > 0.1


def test_sinusoids_and_slopes():
    (matrix,) = parts(trace("topic positions"), Matrix)
    np.testing.assert_allclose(matrix.values[1], [0.841471, 0.540302, 0.01, 0.99995], atol=1e-5)
    assert table("positions", "alibi")[0].tolist() == [1, 0.5, -0.5, -1.5]
    assert table("positions", "alibi", heads=6)[:, 1].tolist() == [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]


def test_decoding_is_prefill():
    found = table("kv-cache", "steps")
    assert found[:, 2].tolist() == [64, 128, 192, 256, 320]
    assert found[:, 3].max() < 1e-12


FAMILY = {
    "additive": [1.727483, 2.727483],
    "dot": [2.462117, 3.462117],
    "scaled": [2.339523, 3.339523],
}


@pytest.mark.parametrize(("name", "output"), FAMILY.items(), ids=FAMILY)
def test_relatives_give_their_right_values(name, output):
    (facts,) = parts(trace("topic family"), Facts, name)
    assert [item.value for item in facts.items[1][1].items] == pytest.approx(output, abs=1e-6)


def test_a_needle_is_diluted():
    tokens, weight, rest = table("long-context", "dilution").T
    np.testing.assert_allclose(weight, np.exp(4) / (np.exp(4) + tokens - 1))
    np.testing.assert_allclose(weight + rest, 1)
    lead = filled("long-context", "dilution", "reading")["lead"]
    assert 1 / (1 + 65535 / math.exp(lead)) == pytest.approx(0.5)


def test_the_course_s_counterexample():
    (worked,) = parts(trace("topic weights-are-not-explanations"), Worked, "counterexample")
    np.testing.assert_allclose(sides(worked.maths)[-1], [0.1, 0])
    assert filled("weights-are-not-explanations", "counterexample", "reading")["output"] == pytest.approx(0.1)


def test_the_lightest_key_may_matter_most():
    _, key, _, _, by_weight = table("weights-are-not-explanations", "leave-one-out").T
    assert key[0].index == 2
    assert by_weight.tolist() == [3, 1, 2]


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.parametrize("option", ["tokens", "d", "heads", "seed"])
def test_an_option_is_heard_or_refused(name, option):
    options = TopicOptions(**{option: 3})
    if option in OPTIONS.get(name, ()):
        assert explain_topic(name, options).steps
        return
    with pytest.raises(InputError) as error:
        explain_topic(name, options)
    assert error.value.problems[0].message == f"--{option}: {name} has nothing of it to vary"


def test_a_number_too_large_to_compute_with_is_refused():
    with pytest.raises(InputError) as error:
        explain_topic("positions", TopicOptions(tokens=LARGEST + 1, d=10**12))
    assert [problem.message for problem in error.value.problems] == [
        "--tokens 513: positions computes with it",
        "--d 1000000000000: positions computes with it",
    ]
    assert explain_topic("cost", TopicOptions(tokens=10**12)).steps
