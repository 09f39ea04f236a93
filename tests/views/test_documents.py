"""JSON and YAML hold what the API gives, to the last bit."""

import json
import math
import re

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.attention import Attention
from sdpa_cli.views import documents
from sdpa_cli.views.documents import YAML, json_pieces, yaml_pieces
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.windows import selection

CAUSAL = "title: two\nQ: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\nmask: causal\n"
PADDED = (
    "Q: {random: normal, shape: [2, 4, 3, 2], seed: 1}\nK: {random: normal, shape: [2, 2, 5, 2], seed: 2}\n"
    "V: {random: normal, shape: [2, 2, 5, 3], seed: 3}\nmask: {key_lengths: [5, 3]}\n"
)
CASES = {"rank 2": CAUSAL, "rank 4": PADDED, "float32": PADDED + "dtype: float32\n", "two": f"{CAUSAL}---\n{PADDED}"}
ALL = Shown()
KEYS = ["title", "shapes", "mask", "scores", "weights", "output", "lse", "expect"]


def head_by_head(attention: Attention, name):
    """A matrix as the API gives it for each head; read all at once, it may differ in the last bit."""
    values = np.empty(attention.shapes["S"] if name in ("scores", "weights") else getattr(attention, name).shape)
    for leading in np.ndindex(attention.shapes["O"][:-2]):
        one = attention.at(*leading)
        values[leading] = one.lse if name == "lse" else one.output if name == "output" else getattr(one, name)()
    return values


def parsed_json(results, shown=ALL):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads("".join(json_pieces(results, shown)), parse_constant=refuse)


def parsed_yaml(results, shown=ALL):
    return yaml.safe_load("".join(yaml_pieces(results, shown)))


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
@pytest.mark.parametrize("parsed", [parsed_json, parsed_yaml])
def test_every_number_is_the_api_s(computed, text, parsed):
    results = computed(text)
    document = parsed(results)
    assert list(document) == ["schema_version", "cases"]
    assert document["schema_version"] == 1
    for result, case in zip(results, document["cases"], strict=True):
        attention: Attention = result.attention
        assert list(case) == KEYS
        assert case["title"] == result.case.title
        assert case["shapes"] == {name: list(shape) for name, shape in attention.shapes.items()}
        for name in ("scores", "weights", "output", "lse"):
            found = np.array(case[name], object).astype(np.float64)
            np.testing.assert_array_equal(found, head_by_head(attention, name))
        np.testing.assert_array_equal(np.array(case["mask"]), attention.forbidden())


def test_numbers_come_back_to_the_last_bit(computed):
    (result,) = computed(CAUSAL)
    for parsed in (parsed_json, parsed_yaml):
        (case,) = parsed([result])["cases"]
        assert case["output"] == result.attention.output.tolist()
        assert case["lse"] == result.attention.lse.tolist()


def test_rows_are_written_a_few_at_a_time(computed, monkeypatch):
    (result,) = computed(PADDED)
    whole = "".join(json_pieces([result], Shown()))
    monkeypatch.setattr("sdpa_cli.computing.results.BLOCK_CELLS", 7)
    pieces = list(json_pieces([result], Shown()))
    assert json.loads("".join(pieces)).keys() == json.loads(whole).keys()
    assert max(map(len, pieces)) < len(whole) / 4


JSON = """\
{"schema_version": 1, "cases": [
{"title": "two",
 "shapes": {"Q": [2, 2], "K": [2, 2], "V": [2, 3], "S": [2, 2], "O": [2, 3]},
 "mask": [[false, true],
   [false, false]],
 "scores": [[0.7071067811865475, "-inf"],
   [0.7071067811865475, 0.0]],
 "weights": [[1.0, 0.0],
   [0.6697615493266569, 0.3302384506733431]],
 "output": [[1.0, 0.0, 0.0],
   [0.6697615493266569, 0.3302384506733431, 0.0]],
 "lse": [0.7071067811865475, 1.1079403076572498],
 "expect": null}
]}
"""


def test_json_as_it_stands(computed):
    text = "".join(json_pieces(computed(CAUSAL), Shown()))
    digits = r"\d\.\d+"
    assert re.sub(digits, "#", text) == re.sub(digits, "#", JSON)


def test_non_finite_numbers_are_text_in_json_and_numbers_in_yaml(computed):
    results = computed("Q: [[1e308]]\nK: [[1e308]]\nV: [[inf]]\nnonfinite: propagate\n")
    (case,) = parsed_json(results)["cases"]
    assert (case["scores"], case["weights"], case["output"]) == ([["inf"]], [["nan"]], [["nan"]])
    (case,) = parsed_yaml(results)["cases"]
    assert case["scores"] == [[math.inf]]
    assert math.isnan(case["weights"][0][0])


def test_nothing_forbidden_is_no_mask(computed):
    (case,) = parsed_json(computed(CAUSAL.replace("causal", "none")))["cases"]
    assert case["mask"] is None


def test_show_rows_and_cols_restrict_and_say_so(computed):
    shown = Shown(("weights",), selection("2"), selection("1"))
    (case,) = parsed_json(computed(CAUSAL), shown)["cases"]
    assert list(case) == ["title", "shapes", "window", "mask", "weights", "lse", "expect"]
    assert case["window"] == {"weights": {"rows": [1], "cols": [0]}}
    assert case["mask"] == [[False]]
    assert case["weights"] == [[pytest.approx(0.66976155)]]
    assert case["lse"] == [pytest.approx(1.10794031)]
    (case,) = parsed_json(computed(CAUSAL), Shown(("output",)))["cases"]
    assert list(case) == ["title", "shapes", "output", "lse", "expect"]


def test_expectations_are_told_in_full(computed):
    text = (
        CAUSAL + "expect: {weights: [[1, 0], [0.6698, 0.3302]], output: [[1, 0, 0], [1, 0, 0]], atol: 1e-3, rtol: 0}\n"
    )
    results = computed(text)
    (case,) = parsed_json(results)["cases"]
    assert case["expect"] == parsed_yaml(results)["cases"][0]["expect"]
    assert case["expect"] == {
        "holds": False,
        "atol": 0.001,
        "rtol": 0.0,
        "weights": {"holds": True, "largest_error": pytest.approx(3.845e-5, rel=1e-3), "worst": None},
        "output": {
            "holds": False,
            "largest_error": pytest.approx(0.33023845),
            "worst": {
                "index": [1, 0],
                "expected": 1.0,
                "actual": pytest.approx(0.66976155),
                "error": pytest.approx(0.33023845),
                "limit": 0.001,
                "count": 2,
                "total": 6,
            },
        },
    }


def test_a_result_without_rows_is_an_empty_list(computed):
    text = "Q: {random: normal, shape: [0, 2], seed: 1}\nK: [[1, 1]]\nV: [[1]]\n"
    (case,) = parsed_json(computed(text))["cases"]
    assert (case["scores"], case["output"], case["lse"]) == ([], [], [])


@given(st.floats())
def test_yaml_numbers_stay_numbers(value):
    read = yaml.safe_load(YAML.number(value))
    assert type(read) is float
    assert read == value or (math.isnan(read) and math.isnan(value))


@given(st.text())
def test_yaml_text_stays_text(text):
    written = YAML.text(text)
    assert written.isascii()
    assert yaml.safe_load(written) == text


def test_the_schema_version_is_written_once():
    assert documents.SCHEMA_VERSION == 1
