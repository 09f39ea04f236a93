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


def test_a_score_that_is_not_finite_is_told_at_its_row(case_of):
    text = told(case_of(QKV.replace("[0, 1]]\nK", "[nan, 1]]\nK")), NonFiniteScoreError)
    assert text.splitlines()[:3] == [
        "case.yaml:1:13: error: score S[2, 1] is nan, and its key is allowed (counting from 1)",
        "    Q: [[1, 0], [nan, 1]]",
        "                ^",
    ]


def test_the_errors_attributes_stay_0_based(case_of):
    case = case_of(QKV + "mask: [[0, 0], [1, 1]]")
    with pytest.raises(EmptyRowsError) as caught:
        case.attend()
    assert caught.value.rows == [(1,)]


def test_a_case_changed_in_python_is_told_at_its_place(case_of):
    case = dataclasses.replace(case_of(QKV + "scale: 1"), scale=float("inf"))
    assert told(case, InputError).splitlines()[0] == "case.yaml:4:8: error: scale is inf"
