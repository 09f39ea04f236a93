"""What a case file says, read: every field, every way of writing it."""

import numpy as np
import pytest

from sdpa_cli.attention import Window
from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import Overrides, load_case, load_cases
from sdpa_cli.errors import InputError, render

Q, K, V = [[1, 0], [0, 1]], [[1, 1], [2, 0]], [[1, 0, 0], [0, 1, 0]]
QKV = f"Q: {Q}\nK: {K}\nV: {V}\n"


def compute(name, overrides):
    for case in load_cases([name], overrides):
        case.attend()


def test_three_fields_suffice(case_of):
    case = case_of(QKV)
    assert (case.q.tolist(), case.k.tolist(), case.v.tolist()) == (Q, K, V)
    assert {array.dtype for array in (case.q, case.k, case.v)} == {np.dtype(np.float64)}
    assert (case.title, case.query_labels, case.bias, case.scale, case.expect) == (None,) * 5
    assert (case.dtype, case.empty_rows, case.nonfinite) == ("float64", "error", "error")


def test_every_field_is_read(case_of):
    case = case_of(
        QKV
        + """
title: 'All of it: #1'
queries: [off, 1.50]
keys: ["null", no]
mask: {causal: true, window: {left: 2}, key_lengths: 2, query_offset: -1, forbidden: [[0, 1], [true, false]]}
bias: [[0.5, -1e-3], [-.5, +.5]]
scale: -0.25
softcap: 30
dtype: float32
block_size: 16
empty_rows: zero
nonfinite: propagate
expect:
  scores: [[1, -inf], [-.inf, 2]]
  weights: [[1, 0], [0, 1]]
  output: [[1, 0, 0], [0, 1, 0]]
  atol: 0
  rtol: 1e-3
"""
    )
    assert case.title == "All of it: #1"
    assert (case.query_labels, case.key_labels) == (("off", "1.50"), ("null", "no"))
    assert (case.mask.causal, case.mask.query_offset, case.mask.key_lengths) == (True, -1, 2)
    assert case.mask.window == Window(left=2, right=None)
    assert case.mask.forbidden.tolist() == [[False, True], [True, False]]
    assert case.bias.tolist() == [[0.5, -0.001], [-0.5, 0.5]]
    assert (case.scale, case.softcap, case.block_size) == (-0.25, 30.0, 16)
    assert (case.dtype, case.q.dtype, case.empty_rows, case.nonfinite) == ("float32", np.float32, "zero", "propagate")
    assert case.expect.scores.tolist() == [[1, -np.inf], [-np.inf, 2]]
    assert (case.expect.weights.tolist(), case.expect.output.tolist()) == ([[1, 0], [0, 1]], V)
    assert case.expect.tolerance == Tolerance(atol=0, rtol=1e-3)


@pytest.mark.parametrize(
    ("written", "forbidden"),
    [
        ("mask: [[0, 1], [0, 0]]", [[False, True], [False, False]]),
        ("mask: [[false, true], [False, FALSE]]", [[False, True], [False, False]]),
        ("mask: [[1, 0], [1, 1]]\nmask_means: allowed", [[False, True], [False, False]]),
        ("mask: {allowed: [[1, 0], [1, 1]]}", [[False, True], [False, False]]),
        ("mask:\n  forbidden:\n  - [0, 1]\n  - [0, 0]", [[False, True], [False, False]]),
        ("mask: [[0, 1], [0, 0]]\nmask_means: forbidden", [[False, True], [False, False]]),
        ("mask: causal\nmask_means: forbidden", None),
        ("mask: none", None),
        ("mask: {}", None),
    ],
)
def test_every_way_to_give_a_mask(case_of, written, forbidden):
    mask = case_of(QKV + written).mask
    assert (None if mask.forbidden is None else mask.forbidden.tolist()) == forbidden
    assert mask.causal is ("causal" in written)


SAME = {
    "flow": "Q: [[1, 2], [3, 4]]",
    "flow over lines": "Q: [[1, 2],\n    [3, 4],\n   ]",
    "rows of flow": "Q:\n- [1, 2]\n- [3, 4]",
    "indented rows": "Q:\n    - [1, 2]\n    - [3, 4]",
    "block": "Q:\n- - 1\n  - 2\n- - 3\n  - 4",
    "other notations": "Q: [[1.0, +2], [3e0, .4e1]]",
    "comments": "Q: [[1, 2], # first\n    # between\n    [3, 4]]",
    "quoted key": '"Q": [[1,2],[3,4]]',
    "explicit key": "? Q\n: [[1, 2], [3, 4]]",
    "tab in a list": "Q: [[1,\t2],\t[3, 4]]",
    "anchor": "Q: &here [[1, 2], [3, 4]]",
    "aliased row": "Q: [&row [1, 2], [3, 4]]\nbias: [*row]",
}


@pytest.mark.parametrize("written", SAME.values(), ids=SAME)
def test_every_way_to_write_a_matrix(case_of, written):
    case = case_of(f"{written}\nK: [[1, 1]]\nV: [[5]]\n".replace("bias: [*row]", "bias: [[1], [2]]"))
    assert case.q.tolist() == [[1, 2], [3, 4]]
    assert not case.q.flags.writeable


def test_an_alias_repeats_what_its_anchor_names(case_of):
    case = case_of("Q: &x [[1, 2], &row [3, 4]]\nK: *x\nV: [*row, *row]\n")
    assert case.k.tolist() == [[1, 2], [3, 4]]
    assert case.v.tolist() == [[3, 4], [3, 4]]


def test_an_alias_of_an_alias(case_of):
    case = case_of("Q: [&one [&cell 1, *cell], *one]\nK: [*one]\nV: [[*cell]]\n")
    assert (case.q.tolist(), case.k.tolist(), case.v.tolist()) == ([[1, 1], [1, 1]], [[1, 1]], [[1]])


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (2, 4, 2, 3), (0, 3)])
def test_any_rank_from_two_to_four(case_of, shape):
    q = np.arange(np.prod(shape), dtype=float).reshape(shape)
    keys = np.ones((*shape[:-2], 5, 3))
    written = q.tolist() if q.size else "{random: normal, shape: [0, 3], seed: 1}"
    case = case_of(f"Q: {written}\nK: {keys.tolist()}\nV: {keys.tolist()}\n")
    assert case.q.shape == shape
    if q.size:
        np.testing.assert_array_equal(case.q, q)


def test_a_json_file_is_a_case_file(case_of):
    assert case_of('{"Q": [[1, 0]], "K": [[1, 1]], "V": [[2, 3]], "mask": "none", "tokens": ["a"]}').v.tolist() == [
        [2, 3]
    ]


def test_a_long_row_is_read_whole(case_of):
    values = [i / 8 for i in range(5000)]
    case = case_of(f"Q: [{values}]\nK: [{values}]\nV: [[1]]\n")
    assert case.q[0].tolist() == values


@pytest.mark.parametrize(("name", "draw"), [("normal", "standard_normal"), ("uniform", "random")])
def test_random_numbers_are_numpys_own(case_of, name, draw):
    given = f"{{random: {name}, shape: [2, 3], seed: 7}}"
    case = case_of(f"Q: {given}\nK: {given}\nV: [[1], [2]]\nbias: {{random: {name}, shape: [2, 2], seed: 8}}\n")
    np.testing.assert_array_equal(case.q, getattr(np.random.default_rng(7), draw)((2, 3)))
    np.testing.assert_array_equal(case.bias, getattr(np.random.default_rng(8), draw)((2, 2)))


def test_documents_are_cases(here):
    text = "# first\n%YAML 1.2\n---\ntitle: one\n" + QKV + "...\n--- # second\ntitle: two\n" + QKV
    (here / "two.yaml").write_text(text)
    cases = load_cases(["two.yaml", "two.yaml"])
    assert [case.title for case in cases] == ["one", "two", "one", "two"]
    assert [(case.source.document, case.source.first_line) for case in cases[:2]] == [(1, 1), (2, 9)]
    assert str(cases[1].source.locate(("Q", 1, 0))) == "two.yaml:11:14"


def test_a_document_without_a_marker_may_come_first(here):
    (here / "two.yaml").write_text(f"title: one\n{QKV}---\ntitle: two\n{QKV}")
    assert [case.title for case in load_cases(["two.yaml"])] == ["one", "two"]


def test_only_one_case_where_one_is_asked_for(here):
    (here / "two.yaml").write_text(f"{QKV}---\n{QKV}")
    with pytest.raises(InputError, match=r"^two\.yaml holds 2 cases, expected one case \(use load_cases\)$"):
        load_case("two.yaml")


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        (("Q",), "4:4"),
        (("Q", 1), "4:13"),
        (("Q", 1, 1), "4:17"),
        (("Q", 2), "4:4"),
        (("K", 1, 0), "2:14"),
        (("mask", "window", "left"), "7:11"),
        (("mask", "window", "right"), "7:5"),
        (("mask", "forbidden", 3), "6:3"),
        (("tokens", "x"), "8:9"),
        (("nothing",), "2:1"),
        ((), "2:1"),
    ],
)
def test_the_place_of_anything_in_a_case(case_of, steps, place):
    case = case_of(
        """# a comment
K: [[1, 0], [3, 4]]
V: [[1, 0], [3, 4]]
Q: [[1, 2], [3, 4]]
mask:
  window:
    left: 1
tokens: [a, b]
"""
    )
    assert str(case.source.locate(steps)) == f"case.yaml:{place}"


def test_the_place_of_an_alias_is_where_its_value_is_written(case_of):
    case = case_of("K: &k [[1, 0], [3, 4]]\nV: *k\nQ: *k\n")
    assert str(case.source.locate(("V", 1, 1))) == "case.yaml:1:20"


def test_overrides_replace_what_the_file_says(here):
    (here / "case.yaml").write_text(f"{QKV}mask: [[1, 0], [1, 1]]\nmask_means: allowed\ndtype: float64\n")
    overrides = Overrides(dtype="float32", block_size=1, mask="{causal: true, window: {left: 0}}")
    (case,) = load_cases(["case.yaml"], overrides)
    assert (case.dtype, case.q.dtype, case.block_size) == ("float32", np.float32, 1)
    assert (case.mask.causal, case.mask.window, case.mask.forbidden) == (True, Window(0), None)


def test_an_override_mask_matrix_is_read_as_the_file_says(here):
    (here / "case.yaml").write_text(f"{QKV}mask_means: allowed\n")
    (case,) = load_cases(["case.yaml"], Overrides(mask="[[1, 0], [1, 1]]"))
    assert case.mask.forbidden.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (
            Overrides(mask="{window: {left: x}}"),
            "--mask:1:17: error: mask.window.left: 'x' is not a number\n    {window: {left: x}}\n"
            "                    ^\n  expected: a decimal number such as 1.5, -2e-3 or inf",
        ),
        (
            Overrides(mask="[[0, 1]]"),
            "--mask:1:1: error: mask has shape (1, 2)\n    [[0, 1]]\n    ^\n  expected: (Tq, Tk) = (2, 2)",
        ),
        (
            Overrides(mask="causal\n---\nnone"),
            "--mask:2:1: error: --mask holds a second document\n    ---\n    ^\n  hint: remove the line ---",
        ),
        (
            Overrides(mask="[[0"),
            "--mask:1:2: error: this list is not closed\n    [[0\n     ^\n  hint: a ] or a comma is missing after it",
        ),
        (
            Overrides(mask=""),
            "error: --mask is empty\n  expected: none or causal, or matrix of truth values, or "
            "{causal: true, key_lengths: [3, 4]}",
        ),
        (
            Overrides(block_size=0),
            "--block-size:1:1: error: block_size: '0' is out of range\n    0\n    ^\n  expected: a whole number ≥ 1",
        ),
        (
            Overrides(dtype="float16"),
            "--dtype:1:1: error: dtype is 'float16'\n    float16\n    ^\n  expected: float64 or float32\n"
            "  hint: did you mean float64?",
        ),
        (
            Overrides(mask="[[1, 1], [0, 0]]"),
            "--mask:1:1: error: row 1 has no key to look at: every key is forbidden (counting from 1)\n"
            "    [[1, 1], [0, 0]]\n    ^\n  expected: at least one allowed key in every row\n"
            "  hint: allow a key there, or set empty_rows to 'zero' for a row of zeros; "
            "1 forbids here: if yours means allowed, write mask_means: allowed",
        ),
    ],
)
def test_a_wrong_override_is_told_at_its_own_place(here, overrides, told):
    (here / "case.yaml").write_text(QKV)
    with pytest.raises(InputError) as caught:
        compute("case.yaml", overrides)
    assert "\n".join(map(render, caught.value.problems)) == told


def test_errors_of_several_files_are_told_together(here):
    (here / "one.yaml").write_text(f"{QKV}scale: x\n")
    (here / "two.yaml").write_text(f"{QKV}---\nQ: 1\n")
    with pytest.raises(InputError) as caught:
        load_cases(["one.yaml", "none.yaml", "two.yaml"])
    assert [(str(one.place or ""), one.message) for one in caught.value.problems] == [
        ("one.yaml:4:8", "scale: 'x' is not a number"),
        ("", "'none.yaml' does not exist"),
        ("two.yaml:5:1", "K and V are missing"),
        ("two.yaml:5:4", "Q is '1'"),
    ]


SQUARE = "[[1,0],[0,1]]"
WIDE = "a comma separates values: if 1,0 is one number, write 1.0"
COMMAS = {
    "columns of Q": (f"Q: {SQUARE}\nK: [[1], [2]]\nV: {SQUARE}", True),
    "columns of K": (f"Q: [[1], [2]]\nK: {SQUARE}\nV: {SQUARE}", True),
    "the other one's columns": (f"Q: {SQUARE}\nK: [[1, 0, 1], [0, 1, 1]]\nV: {SQUARE}", False),
    "rows of V": (f"Q: {SQUARE}\nK: [[1,0],[0,1],[1,1]]\nV: {SQUARE}", False),
    "axes of K": (f"Q: [{SQUARE}, {SQUARE}]\nK: [{SQUARE}]\nV: [{SQUARE}]", False),
    "columns of bias": (f"Q: [[1], [2]]\nK: [[1]]\nV: [[1]]\nbias: {SQUARE}", True),
    "columns of bias, keys cached": (
        f"Q: [[1]]\nK: [[1]]\nV: [[1]]\npast: {{K: [[1]], V: [[1]]}}\nmask: {{query_offset: 1}}\nbias: {SQUARE}",
        False,
    ),
    "rows of bias": (f"Q: {SQUARE}\nK: {SQUARE}\nV: {SQUARE}\nbias: [[1,0],[0,1],[1,1]]", False),
    "columns of X": (f"X: {SQUARE}\nW_Q: [[1]]\nW_K: [[1]]\nW_V: [[1]]", True),
    "positions": (f"Q: {SQUARE}\nK: {SQUARE}\nV: {SQUARE}\nrope: half\nposition_ids: [1,0,1]", False),
}


@pytest.mark.parametrize(("text", "explained"), COMMAS.values(), ids=COMMAS)
def test_a_decimal_comma_is_suspected_where_it_may_have_made_a_column(case_of, text, explained):
    with pytest.raises(InputError) as caught:
        case_of(text)
    assert {problem.code for problem in caught.value.problems} == {"shape-mismatch"}
    assert any(WIDE in (problem.hint or "") for problem in caught.value.problems) == explained
