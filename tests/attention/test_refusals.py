"""Every refusal, word for word: what is wrong, where, what was expected, what to do."""

import pickle

import numpy as np
import pytest

from sdpa_cli.attention import EmptyRowsError, Mask, NonFiniteScoreError, Window, attend
from sdpa_cli.errors import InputError

X = np.ones((2, 3))


def refusal(q=X, k=X, v=X, **settings):
    with pytest.raises(InputError) as caught:
        attend(q, k, v, **settings)
    return caught.value


def told(error):
    return [(p.path, p.message, p.expected, p.hint) for p in error.problems]


ARRAYS = [
    pytest.param(
        {"k": np.ones((2, 4))},
        (("K",), "K has d_k = 4, Q has d_k = 3", "d_k = 3", "Q and K meet in dot products of length d_k"),
        id="d_k",
    ),
    pytest.param(
        {"k": np.ones((3, 4)), "v": np.ones((3, 2))},
        (
            ("K",),
            "K has d_k = 4, Q has d_k = 3",
            "d_k = 3",
            "Q and K meet in dot products of length d_k; K looks transposed: its rows are the keys",
        ),
        id="transposed-keys",
    ),
    pytest.param(
        {"v": np.ones((5, 3))},
        (("V",), "K and V disagree on Tk: K has 2 rows, V has 5", "2 rows", "every key has one value row"),
        id="Tk",
    ),
    pytest.param(
        {"k": np.ones((1, 3)), "v": np.ones((2, 3))},
        (("V",), "K and V disagree on Tk: K has 1 row, V has 2", "1 row", "every key has one value row"),
        id="Tk-of-one",
    ),
    pytest.param(
        {"q": np.ones((2, 0)), "k": np.ones((2, 0))},
        (("Q",), "d_k = 0: queries and keys without a component have no score", "d_k of at least 1", None),
        id="no-components",
    ),
    pytest.param(
        {"k": np.ones((0, 3)), "v": np.ones((0, 3))},
        (("K",), "Tk = 0: without keys there is nothing to average", "at least one key", None),
        id="no-keys",
    ),
    pytest.param(
        {"q": [1.0, 2.0, 3.0]},
        (
            ("Q",),
            "Q has rank 1, shape (3,)",
            "(Tq, d_k), (N, Tq, d_k) or (B, H, Tq, d_k)",
            "one token still needs two axes: shape (1, d_k)",
        ),
        id="rank-1",
    ),
    pytest.param(
        {"v": np.ones((1, 1, 1, 2, 3))},
        (("V",), "V has rank 5, shape (1, 1, 1, 2, 3)", "(Tk, d_v), (N, Tk, d_v) or (B, H, Tk, d_v)", None),
        id="rank-5",
    ),
    pytest.param(
        {"q": np.ones((1, 2, 3))},
        (
            ("Q",),
            "Q, K and V have ranks 3, 2 and 2",
            "the same number of axes",
            "give all three the same leading axes",
        ),
        id="ranks-differ",
    ),
    pytest.param(
        {"q": np.ones((4, 2, 3)), "k": np.ones((1, 2, 3)), "v": np.ones((1, 2, 3))},
        (("K",), "Q has leading axes (4,), K has (1,)", "(4,)", "leading axes do not broadcast"),
        id="leading-axes",
    ),
    pytest.param(
        {"q": np.ones((1, 6, 2, 3)), "k": np.ones((1, 4, 2, 3)), "v": np.ones((1, 4, 2, 3))},
        (
            ("K",),
            "Q has H = 6 heads, K has 4",
            "H divisible by K's heads: 1, 2, 3, 6",
            "in grouped-query attention each key/value head serves the same number of query heads",
        ),
        id="head-count",
    ),
    pytest.param(
        {"q": np.ones((1, 4, 2, 3)), "k": np.ones((1, 4, 2, 3)), "v": np.ones((1, 2, 2, 3))},
        (("V",), "K has leading axes (1, 4), V has (1, 2)", "(1, 4)", "keys and values come in pairs"),
        id="value-heads",
    ),
    pytest.param(
        {"q": [[1.0], [1.0, 2.0]]},
        (("Q",), "Q is ragged: its rows differ in length", "rows of one length", "count the entries of each row"),
        id="ragged",
    ),
    pytest.param(
        {"q": X.astype(complex)},
        (
            ("Q",),
            "Q has dtype complex128",
            "float16, float32, float64 or integers",
            "attention is defined on real numbers: take the real part, or the absolute value, if that is meant",
        ),
        id="complex",
    ),
    pytest.param(
        {"k": X.astype(object)},
        (
            ("K",),
            "K has dtype object",
            "float16, float32, float64 or integers",
            "the array mixes types or holds Python objects: convert it with astype(float)",
        ),
        id="object",
    ),
    pytest.param(
        {"v": X.astype(bool)},
        (
            ("V",),
            "V has dtype bool",
            "float16, float32, float64 or integers",
            "numbers are expected here; write 0 and 1, or convert with astype(float)",
        ),
        id="bool",
    ),
    pytest.param(
        {"v": X.astype(str)},
        (
            ("V",),
            "V has dtype <U32",
            "float16, float32, float64 or integers",
            "numbers given as text: convert them with astype(float)",
        ),
        id="text",
    ),
    pytest.param(
        {"v": np.ma.masked_equal(X, 0)},
        (
            ("V",),
            "V is a NumPy masked array",
            "a plain array",
            "give the plain array, and say which keys are forbidden with the mask",
        ),
        id="masked-array",
    ),
]

Q23, K43 = np.ones((2, 3)), np.ones((4, 3))
OFFSET_HINT = "query_offset 0 aligns the first query with the first key, 2 the last with the last"
MASKS = [
    pytest.param(
        np.array([False, True, False, False]),
        (
            ("mask",),
            "mask has shape (4,)",
            "(Tq, Tk) = (2, 4)",
            "one entry per key does not say for which queries: repeat it with np.tile(mask, (Tq, 1))",
        ),
        id="one-per-key",
    ),
    pytest.param(
        np.zeros((4, 2), bool),
        (
            ("mask",),
            "mask has shape (4, 2)",
            "(Tq, Tk) = (2, 4)",
            "mask looks transposed: its rows are the queries, its columns the keys",
        ),
        id="transposed",
    ),
    pytest.param(
        np.zeros((2, 1), bool),
        (("mask",), "mask has shape (2, 1)", "(Tq, Tk) = (2, 4)", None),
        id="short-last-axis",
    ),
    pytest.param(
        np.zeros((2, 4), int),
        (
            ("mask",),
            "mask has dtype int64",
            "bool",
            "True means forbidden; a 0/1 array becomes boolean with astype(bool)",
        ),
        id="integers",
    ),
    pytest.param(
        np.zeros((2, 4)),
        (
            ("mask",),
            "mask has dtype float64",
            "bool",
            "True means forbidden; a 0/1 array becomes boolean with astype(bool); an additive mask of 0 and -inf "
            "becomes one with mask == -np.inf",
        ),
        id="additive",
    ),
    pytest.param(
        [[True], [True, False]],
        (("mask",), "mask is ragged: its rows differ in length", "rows of one length", "count the entries of each row"),
        id="ragged",
    ),
    pytest.param(
        Mask(forbidden=np.zeros((2, 3), bool)),
        (("mask", "forbidden"), "mask has shape (2, 3)", "(Tq, Tk) = (2, 4)", None),
        id="forbidden-shape",
    ),
    pytest.param(
        Mask(causal=True),
        (
            ("mask", "query_offset"),
            "a causal mask with Tq = 2 and Tk = 4 does not say where the queries stand among the keys",
            "query_offset 0 or Tk − Tq = 2",
            OFFSET_HINT,
        ),
        id="causal-rectangle",
    ),
    pytest.param(
        Mask(window=Window(1, 1)),
        (
            ("mask", "query_offset"),
            "a window mask with Tq = 2 and Tk = 4 does not say where the queries stand among the keys",
            "query_offset 0 or Tk − Tq = 2",
            OFFSET_HINT,
        ),
        id="window-rectangle",
    ),
    pytest.param(
        Mask(causal=True, query_offset=1.5),
        (("mask", "query_offset"), "query_offset is 1.5", "an integer", None),
        id="offset-type",
    ),
    pytest.param(
        Mask(causal="yes", query_offset=0),
        (("mask", "causal"), "causal is 'yes'", "true or false", None),
        id="causal-type",
    ),
    pytest.param(
        Mask(window=2, query_offset=0),
        (
            ("mask", "window"),
            "window is 2",
            "Window(left, right)",
            "a bare number means two different things in public code: say how far to the left and to the right",
        ),
        id="bare-window",
    ),
    pytest.param(
        Mask(window=Window(-1, 0), query_offset=0),
        (("mask", "window", "left"), "window left is -1", "an integer of at least 0, or none", None),
        id="negative-window",
    ),
    pytest.param(
        Mask(key_lengths=5),
        (("mask", "key_lengths"), "key length 5 is outside 0 … Tk = 4", "0 to 4", None),
        id="length-beyond",
    ),
    pytest.param(
        Mask(key_lengths=[1, 2]),
        (("mask", "key_lengths"), "key_lengths has shape (2,)", "one integer", None),
        id="lengths-shape",
    ),
    pytest.param(
        Mask(key_lengths=2.5), (("mask", "key_lengths"), "key_lengths is 2.5", "integers", None), id="lengths-type"
    ),
]

SETTINGS = [
    pytest.param(
        {"scale": np.inf},
        (("scale",), "scale is inf", "a finite number; 0 and negative are legal", "leave it out for 1/sqrt(d_k)"),
        id="scale",
    ),
    pytest.param(
        {"softcap": 0},
        (("softcap",), "softcap is 0", "a finite number above 0", "leave it out for no cap"),
        id="softcap",
    ),
    pytest.param(
        {"block_size": True},
        (
            ("block_size",),
            "block_size is True",
            "an integer of at least 1",
            "it is the number of keys per tile; leave it out for the fastest",
        ),
        id="block-size-bool",
    ),
    pytest.param(
        {"block_size": 0},
        (
            ("block_size",),
            "block_size is 0",
            "an integer of at least 1",
            "it is the number of keys per tile; leave it out for the fastest",
        ),
        id="block-size-zero",
    ),
    pytest.param(
        {"empty_rows": "zeros"}, (("empty_rows",), "empty_rows is 'zeros'", "'error' or 'zero'", None), id="empty-rows"
    ),
    pytest.param(
        {"nonfinite": "nan"},
        (("nonfinite",), "nonfinite is 'nan'", "'error' or 'propagate'", None),
        id="nonfinite",
    ),
    pytest.param(
        {"bias": np.zeros((3, 2))},
        (("bias",), "bias has shape (3, 2)", "(Tq, Tk) = (2, 2)", None),
        id="bias-shape",
    ),
    pytest.param(
        {"bias": np.zeros((2, 2), bool)},
        (
            ("bias",),
            "bias has dtype bool",
            "float16, float32, float64 or integers",
            "numbers are expected here; write 0 and 1, or convert with astype(float)",
        ),
        id="bias-dtype",
    ),
]


@pytest.mark.parametrize(("arrays", "problem"), ARRAYS)
def test_arrays(arrays, problem):
    assert told(refusal(**arrays)) == [problem]


@pytest.mark.parametrize(("mask", "problem"), MASKS)
def test_masks(mask, problem):
    assert told(refusal(Q23, K43, K43, mask=mask)) == [problem]


@pytest.mark.parametrize(("settings", "problem"), SETTINGS)
def test_settings(settings, problem):
    assert told(refusal(**settings)) == [problem]


@pytest.mark.parametrize(
    ("shape", "expected", "hint"),
    [
        pytest.param(
            (2, 4, 5),
            "(Tq, Tk) = (4, 5), or (2, 3, 4, 5) with any leading axis 1",
            "say which axis the first one is: mask[:, None] for the batch, mask[None] for the heads",
            id="one-axis",
        ),
        pytest.param(
            (3, 2, 4, 5), "(Tq, Tk) = (4, 5), or (2, 3, 4, 5) with any leading axis 1", None, id="swapped-axes"
        ),
    ],
)
def test_leading_axes_of_a_mask(shape, expected, hint):
    q, k = np.ones((2, 3, 4, 2)), np.ones((2, 3, 5, 2))
    error = refusal(q, k, k, mask=np.zeros(shape, bool))
    assert told(error) == [(("mask",), f"mask has shape {shape}", expected, hint)]


def test_all_problems_are_told_at_once():
    error = refusal(
        X.astype(complex), np.ones((2, 4)), np.ones((5, 3)), mask=np.zeros((1, 1)), scale=np.nan, softcap=-1
    )
    assert [problem.path for problem in error.problems] == [("Q",), ("K",), ("V",), ("mask",), ("scale",), ("softcap",)]
    assert str(error).count("\n") == 5


@pytest.mark.parametrize(
    ("forbidden", "message", "counted_from_one", "rows"),
    [
        pytest.param(
            [[1, 1], [0, 1], [1, 1]],
            "rows 0, 2 have no key to look at: every key is forbidden (counting from 0)",
            "rows 1, 3 have no key to look at: every key is forbidden (counting from 1)",
            [(0,), (2,)],
            id="two",
        ),
        pytest.param(
            [[[0, 0], [1, 1], [0, 1]]],
            "row [0, 1] has no key to look at: every key is forbidden (counting from 0)",
            "row [1, 2] has no key to look at: every key is forbidden (counting from 1)",
            [(0, 1)],
            id="with-leading-axis",
        ),
        pytest.param(
            [[1, 1]] * 7,
            "rows 0, 1, 2, 3, 4 and 2 more have no key to look at: every key is forbidden (counting from 0)",
            "rows 1, 2, 3, 4, 5 and 2 more have no key to look at: every key is forbidden (counting from 1)",
            [(i,) for i in range(7)],
            id="many",
        ),
    ],
)
def test_empty_rows(forbidden, message, counted_from_one, rows):
    mask = np.array(forbidden, bool)
    q, k = np.ones((*mask.shape[:-1], 2)), np.ones((*mask.shape[:-2], 2, 2))
    error = refusal(q, k, k, mask=mask)
    assert isinstance(error, EmptyRowsError)
    assert error.rows == rows
    (problem,) = error.problems
    assert problem.message == message
    assert error.counted_from(1).problems[0].message == counted_from_one
    assert problem.path == ("mask",)
    assert problem.hint == "allow a key there, or set empty_rows to 'zero' for a row of zeros"


@pytest.mark.parametrize(
    "mask",
    [
        pytest.param(np.array([[1, 1, 1], [0, 1, 0], [1, 1, 1]], bool), id="given"),
        pytest.param(Mask(causal=True, query_offset=-2), id="causal"),
        pytest.param(Mask(window=Window(0, 0), query_offset=3), id="window"),
        pytest.param(Mask(key_lengths=0), id="padding"),
        pytest.param(
            Mask(causal=True, forbidden=np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0]], bool)), id="only-together"
        ),
    ],
)
@pytest.mark.parametrize("block_size", [1, 2, 3])
def test_empty_rows_may_be_zero(mask, block_size):
    x = np.arange(9.0).reshape(3, 3)
    result = attend(x, x, x + 1, mask=mask, empty_rows="zero", block_size=block_size)
    empty = result.forbidden().all(axis=-1)
    assert empty.any()
    assert (result.output[empty] == 0).all()
    assert (result.lse[empty] == -np.inf).all()
    assert (result.weights()[empty] == 0).all()
    assert (result.row_sums()[empty] == 0).all()
    assert np.isfinite(result.output).all()
    assert (result.row_sums()[~empty] > 0.999).all()


NAN, INF = np.nan, np.inf
WILD = [
    pytest.param({"q": [[1.0], [NAN]]}, (1, 0), "nan", id="nan-query"),
    pytest.param({"k": [[1.0], [INF]]}, (0, 1), "inf", id="infinite-key"),
    pytest.param({"k": [[1.0], [-INF]]}, (0, 1), "-inf", id="negative-infinite-key"),
    pytest.param({"q": [[1e200], [1.0]], "k": [[1.0], [-1e200]], "scale": 1}, (0, 1), "-inf", id="overflow"),
    pytest.param({"bias": [[0.0, 0.0], [0.0, -INF]]}, (1, 1), "-inf", id="forbidding-by-bias"),
    pytest.param({"q": [[1.0], [NAN]], "mask": [[False, False], [True, False]]}, (1, 1), "nan", id="at-allowed-key"),
]


@pytest.mark.parametrize("block_size", [1, 2])
@pytest.mark.parametrize(("settings", "index", "value"), WILD)
def test_scores_must_be_finite(settings, index, value, block_size):
    settings = {"q": [[1.0], [2.0]], "k": [[1.0], [2.0]], "v": [[1.0], [2.0]]} | settings
    error = refusal(**settings, block_size=block_size)
    assert isinstance(error, NonFiniteScoreError)
    assert error.index == index
    assert error.problems[0].message == f"score S{list(index)} is {value}, and its key is allowed (counting from 0)"
    one_based = [i + 1 for i in index]
    counted = error.counted_from(1).problems[0].message
    assert counted == f"score S{one_based} is {value}, and its key is allowed (counting from 1)"
    (problem,) = error.problems
    assert problem.path == ("Q", *index[:-1])


def test_the_first_wild_score_is_named_in_the_caller_s_axes():
    q, k = np.ones((2, 4, 3, 2)), np.ones((2, 2, 5, 2))
    q[1, 3, 2, 0] = q[1, 3, 1, 0] = NAN
    assert refusal(q, k, k).index == (1, 3, 1, 0)


def test_wild_scores_may_propagate():
    result = attend([[1.0], [NAN]], [[1.0], [2.0]], [[1.0], [2.0]], nonfinite="propagate")
    assert np.isfinite(result.output[0]).all()
    assert np.isnan(result.output[1]).all()
    dead_end = attend([[1.0]], [[-INF], [0.0]], [[1.0], [2.0]], nonfinite="propagate")
    np.testing.assert_array_equal(dead_end.output, [[2.0]])


@pytest.mark.parametrize("error", [EmptyRowsError([(1, 2)]), NonFiniteScoreError((1, 2), NAN)], ids=["empty", "score"])
def test_refusals_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.problems) == (type(error), str(error), error.problems)
