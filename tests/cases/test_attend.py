"""Computing a case: the right numbers, and late problems at their places."""

import dataclasses

import numpy as np
import pytest

from sdpa_cli.attention import EmptyRowsError, NonFiniteScoreError
from sdpa_cli.errors import InputError, render

QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
ASYMMETRIC = "Q: [[1, 0], [0, 1]]\nK: [[1, 0], [0, 1]]\nV: [[1, 2], [3, 4]]\n"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (QKV, [[0.3302, 0.6698, 0], [0.6698, 0.3302, 0]]),
        (QKV + "mask: causal", [[1, 0, 0], [0.6698, 0.3302, 0]]),
        (ASYMMETRIC, [[1.660477, 2.660477], [2.339523, 3.339523]]),
        (ASYMMETRIC + "mask: causal", [[1, 2], [2.339523, 3.339523]]),
        (ASYMMETRIC + "mask: [[1, 0], [1, 1]]\nmask_means: allowed", [[1, 2], [2.339523, 3.339523]]),
        (ASYMMETRIC + "mask: {key_lengths: 1}", [[1, 2], [1, 2]]),
        (ASYMMETRIC + "mask: {window: {left: 0, right: 0}}", [[1, 2], [3, 4]]),
        (ASYMMETRIC + "scale: 0", [[2, 3], [2, 3]]),
        (ASYMMETRIC + "bias: [[0, -1e3], [0, -1e3]]", [[1, 2], [1, 2]]),
        (ASYMMETRIC + "mask: [[1, 1], [0, 1]]\nempty_rows: zero", [[0, 0], [1, 2]]),
        (
            ASYMMETRIC + "scale: 2\nsoftcap: 1\nblock_size: 1\ndtype: float32",
            [[1.552145, 2.552145], [2.447855, 3.447855]],
        ),
    ],
)
def test_every_setting_reaches_the_engine(case_of, text, output):
    np.testing.assert_allclose(case_of(text).attend().output, output, atol=5e-5)


def test_propagate_reaches_the_engine(case_of):
    assert np.isnan(case_of(ASYMMETRIC.replace("1, 0", "nan, 0") + "nonfinite: propagate").attend().output).any()


def told(case, kind):
    with pytest.raises(kind) as caught:
        case.attend()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return "\n".join(map(render, caught.value.problems))


def test_rows_without_a_key_are_told_counting_from_one(case_of):
    text = told(case_of(QKV + "mask: {forbidden: [[0, 0], [1, 1]]}"), EmptyRowsError)
    assert text.splitlines()[:3] == [
        "case.yaml:4:7: error: row 2 has no key to look at: every key is forbidden (counting from 1)",
        "    mask: {forbidden: [[0, 0], [1, 1]]}",
        "          ^",
    ]


TURNED = "1 forbids here: if yours means allowed, write mask_means: allowed"


@pytest.mark.parametrize(
    ("mask", "turned"),
    [
        ("mask: [[1, 0], [1, 1]]", True),
        ("mask: [[1, 1], [0, 0]]", True),
        ("mask: [[1, 0], [0, 0]]\nmask_means: allowed", False),
        ("mask: [[1, 0], [1, 1]]\nmask_means: forbidden", False),
        ("mask: {forbidden: [[1, 0], [1, 1]]}", False),
        ("mask: {allowed: [[0, 0], [1, 1]]}", False),
        ("mask: {key_lengths: 0}", False),
    ],
)
def test_a_mask_that_may_be_meant_the_other_way_is_told_how_to_say_so(case_of, mask, turned):
    assert (TURNED in told(case_of(QKV + mask), EmptyRowsError)) == turned


def test_turning_a_mask_is_not_advised_where_it_empties_more_rows(case_of):
    three = "Q: [[1], [2], [3]]\nK: [[1], [2]]\nV: [[1], [2]]\nmask: [[0, 0], [0, 0], [1, 1]]"
    assert TURNED not in told(case_of(three), EmptyRowsError)


THREE_HEADS = (
    "Q: {random: normal, shape: [1, 4, 2, 2], seed: 1}\nV: {random: normal, shape: [1, 2, 2, 3], seed: 1}\n"
    "K: [[[[1, 2], [3, 4]],\n     [[5, 6], [7, nan]]]]\n"
)
LAYER = "X: [[1, 2], [3, 4]]\nW_Q: [[1, 0], [0, 1]]\nW_K: [[1, 0], [0, 1]]\nW_V: [[1], [1]]\n"
GROUPED = (
    "X: [[1, 2], [3, 4]]\nnum_heads: 4\nnum_kv_heads: 2\nW_Q: [[1, 0, 1, 0], [0, 1, 0, 1]]\n"
    "W_K: [[1, 0], [0, 1]]\nW_V: [[1, 0], [0, 1]]\n"
)
BLAMED = {
    "query": (
        QKV.replace("[0, 1]]\nK", "[0, -inf]]\nK"),
        "case.yaml:1:17: error: score S[2,1] is -inf, and its key is allowed: there is -inf in Q[2,2]",
    ),
    "key": (
        QKV.replace("[2, 0]", "[2, nan]"),
        "case.yaml:2:17: error: score S[1,2] is nan, and its key is allowed: there is nan in K[2,2]",
    ),
    "key of a group": (
        THREE_HEADS,
        "case.yaml:4:19: error: score S[1,3,1,2] is nan, and its key is allowed: there is nan in K[1,2,2,2]",
    ),
    "bias": (
        QKV + "bias: [[0, 0], [0, -inf]]",
        "case.yaml:4:20: error: score S[2,2] is -inf, and its key is allowed: there is -inf in bias[2,2]",
    ),
    "bias of a batch": (
        THREE_HEADS.replace("nan", "8") + "bias: [[[[0, 0], [0, -inf]]]]",
        "case.yaml:5:22: error: score S[1,1,2,2] is -inf, and its key is allowed: there is -inf in bias[1,1,2,2]",
    ),
    "embedding": (
        LAYER.replace("[3, 4]", "[3, inf]"),
        "case.yaml:1:17: error: score S[1,2] is nan, and its key is allowed: there is inf in X[2,2]",
    ),
    "projection": (
        LAYER.replace("W_K: [[1, 0]", "W_K: [[1, nan]"),
        "case.yaml:3:11: error: score S[1,1] is nan, and its key is allowed: there is nan in W_K[1,2]",
    ),
    "score function": (
        QKV + "score: {general: [[1, 0], [inf, 1]]}",
        "case.yaml:4:28: error: score S[1,1] is nan, and its key is allowed: there is inf in score.general[2,1]",
    ),
    "score network": (
        QKV + "score: {additive: {v: [1, 1], W_q: [[1, nan], [0, 1]]}}",
        "case.yaml:4:41: error: score S[1,1] is nan, and its key is allowed: there is nan in score.additive.W_q[1,2]",
    ),
    "turned": (
        QKV.replace("[0, 1]]\nK", "[0, inf]]\nK") + "rope: interleaved",
        "case.yaml:1:13: error: score S[2,1] is nan, and its key is allowed: there is -inf in Q[2]",
    ),
    "cached": (
        QKV + "past: {K: [[1, inf]], V: [[1, 1, 1]]}\nmask: {causal: true, query_offset: 1}",
        "case.yaml:4:16: error: score S[1,1] is nan, and its key is allowed: there is inf in past.K[1,2]",
    ),
    "cached key of a group": (
        GROUPED + "past: {K: [[[1]], [[inf]]], V: [[[1]], [[1]]]}\nmask: {query_offset: 1}",
        "case.yaml:7:21: error: score S[3,1,1] is inf, and its key is allowed: there is inf in past.K[2,1,1]",
    ),
    "product": (
        QKV.replace("[0, 1]]\nK", "[0, 1e200]]\nK").replace("[1, 1]", "[1, 1e200]"),
        "case.yaml:1:13: error: score S[2,1] is inf, and its key is allowed: "
        "what is computed of finite numbers is too large for float64",
    ),
}


@pytest.mark.parametrize(("text", "message"), BLAMED.values(), ids=BLAMED)
def test_a_score_that_is_not_finite_is_told_at_the_number_that_spoils_it(case_of, text, message):
    assert told(case_of(text), NonFiniteScoreError).splitlines()[0] == message


def test_the_errors_attributes_stay_0_based(case_of):
    case = case_of(QKV + "mask: [[0, 0], [1, 1]]")
    with pytest.raises(EmptyRowsError) as caught:
        case.attend()
    assert caught.value.rows == [(1,)]


def test_a_case_changed_in_python_is_told_at_its_place(case_of):
    case = dataclasses.replace(case_of(QKV + "scale: 1"), scale=float("inf"))
    assert told(case, InputError).splitlines()[0] == "case.yaml:4:8: error: scale is inf"
