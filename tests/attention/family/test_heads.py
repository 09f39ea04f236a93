"""From X to heads and back: the laws of projections, and everything that cannot fit."""

import numpy as np
import pytest
from attention.oracles import normal
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import (
    KVCache,
    Mask,
    Placement,
    Projections,
    Rope,
    attend,
    merge_heads,
    multi_head,
    rotate,
    sinusoidal,
    split_heads,
)
from sdpa_cli.attention.dense import dense
from sdpa_cli.errors import InputError

quick = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def layer(seed, heads=4, kv_heads=None, d_model=6, d_k=2, d_v=3):
    kv_heads = kv_heads or heads
    w_q, w_k, w_v, w_o, b_q, b_o = normal(
        seed,
        (d_model, heads * d_k),
        (d_model, kv_heads * d_k),
        (d_model, kv_heads * d_v),
        (heads * d_v, d_model),
        (heads * d_k,),
        (d_model,),
    )
    return Projections(w_q, w_k, w_v, w_o, b_Q=b_q, b_O=b_o, num_heads=heads, num_kv_heads=kv_heads)


@given(seeds, st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1)]), st.booleans())
@quick
def test_a_layer_is_the_textbook_formula(seed, heads, batched):
    """Head by head with the dense oracle, the heads side by side, one product: no code of the layer in it."""
    h, kv = heads
    p = layer(seed, h, kv)
    (x,) = normal(seed + 1, (2, 5, 6) if batched else (5, 6))
    outputs = []
    for head in range(h):
        shared = head // (h // kv)
        q = x @ p.W_Q[:, 2 * head : 2 * head + 2] + p.b_Q[2 * head : 2 * head + 2]
        k, v = x @ p.W_K[:, 2 * shared : 2 * shared + 2], x @ p.W_V[:, 3 * shared : 3 * shared + 3]
        outputs.append(dense(q, k, v)[2])
    result = multi_head(x, p)
    np.testing.assert_allclose(result.concatenated, np.concatenate(outputs, axis=-1), atol=1e-12)
    np.testing.assert_allclose(result.output, np.concatenate(outputs, axis=-1) @ p.W_O + p.b_O, atol=1e-11)
    assert result.attention.weights().shape == (*x.shape[:-2], h, 5, 5)


@given(seeds)
@quick
def test_merged_heads_are_a_block_matrix(seed):
    """Concatenating and multiplying with W_O adds up what each head's own rows of W_O make of it."""
    p = layer(seed)
    (x,) = normal(seed + 1, (5, 6))
    result = multi_head(x, p)
    blocks = p.W_O.reshape(4, 3, 6)
    summed = sum(result.attention.output[h] @ blocks[h] for h in range(4)) + p.b_O
    np.testing.assert_allclose(result.output, summed, atol=1e-12)


@given(seeds, st.sampled_from([1, 2]))
@quick
def test_grouped_queries_are_repeated_multi_head(seed, kv_heads):
    p = layer(seed, 4, kv_heads)
    (x,) = normal(seed + 1, (5, 6))
    w_k, w_v = (np.repeat(split_heads(w, kv_heads), 4 // kv_heads, axis=0) for w in (p.W_K, p.W_V))
    repeated = Projections(p.W_Q, w_k, w_v, p.W_O, b_Q=p.b_Q, b_O=p.b_O, num_heads=4)
    np.testing.assert_allclose(multi_head(x, p).output, multi_head(x, repeated).output, atol=1e-13)


@given(seeds)
@quick
def test_packed_and_per_head_weights_agree(seed):
    p = layer(seed, 4, 2)
    (x,) = normal(seed + 1, (5, 6))
    per_head = Projections(
        split_heads(p.W_Q, 4),
        split_heads(p.W_K, 2),
        split_heads(p.W_V, 2),
        p.W_O.reshape(4, 3, 6),
        b_Q=p.b_Q.reshape(4, 2),
        b_O=p.b_O,
    )
    np.testing.assert_array_equal(multi_head(x, per_head).output, multi_head(x, p).output)


def test_the_second_head_owns_the_second_run_of_columns():
    assert split_heads([[1, 2, 3, 4]], 2).tolist() == [[[1, 2]], [[3, 4]]]
    np.testing.assert_array_equal(merge_heads(split_heads(np.arange(24).reshape(3, 8), 4)), np.arange(24).reshape(3, 8))


def test_query_heads_read_their_groups_values():
    """Four query heads, two key/value heads with constant values 1 and 2."""
    q, k = np.zeros((1, 4, 3, 2)), np.zeros((1, 2, 5, 2))
    v = np.broadcast_to([[[[1.0]], [[2.0]]]], (1, 2, 5, 1))
    np.testing.assert_array_equal(attend(q, k, v).output[0, :, 0, 0], [1, 1, 2, 2])


def test_a_single_head_without_an_axis_may_come_as_a_list_of_one():
    p = layer(1)
    single = {name: np.asarray(getattr(p, name))[..., :2] for name in ("W_Q", "W_K", "W_V")}
    (x, w_o) = normal(3, (5, 6), (2, 3))
    plain = multi_head(x, Projections(**single, W_O=w_o, b_Q=[1, 2]))
    listed = multi_head(x, Projections(**single, W_O=w_o[None], b_Q=[[1, 2]]))
    np.testing.assert_array_equal(listed.output, plain.output)
    assert listed.attention.shapes["S"] == (5, 5)


@given(seeds)
@quick
def test_permutation_equivariance_and_its_loss(seed):
    p = layer(seed)
    (x,) = normal(seed + 1, (5, 6))
    order = np.roll(np.arange(5), 2)
    np.testing.assert_allclose(multi_head(x[order], p).output, multi_head(x, p).output[order], atol=1e-12)
    for placement in (Placement("sinusoidal"), Placement(rope=Rope()), Placement(added=10 * x)):
        placed = multi_head(x, p, placement=placement).output
        assert np.abs(multi_head(x[order], p, placement=placement).output - placed[order]).max() > 1e-6


@pytest.mark.parametrize("batched", [False, True], ids=["single", "batched"])
@pytest.mark.parametrize(
    "placement",
    [Placement(), Placement("sinusoidal"), Placement(rope=Rope()), Placement(added=np.arange(36.0).reshape(6, 6) / 9)],
    ids=["unplaced", "sinusoidal", "rope", "learned"],
)
def test_left_and_right_padding_agree(placement, batched):
    p, (x, filler) = layer(5), normal(6, (4, 6), (2, 6))
    right, left = np.concatenate([x, filler]), np.concatenate([filler, x])
    if batched:
        right, left = np.stack([right] * 2), np.stack([left] * 2)
    lengths = [4, 4] if batched else 4
    settings = {"placement": placement, "empty_rows": "zero"}
    on_right = multi_head(right, p, mask=Mask(causal=True, key_lengths=lengths), **settings)
    on_left = multi_head(left, p, mask=Mask(causal=True, key_lengths=lengths, padding_side="left"), **settings)
    np.testing.assert_allclose(on_left.output[..., 2:, :], on_right.output[..., :4, :], atol=1e-12)
    unpadded = multi_head(x, p, placement=placement, mask=Mask(causal=True)).output
    np.testing.assert_allclose(
        on_left.output[..., 2:, :], np.broadcast_to(unpadded, (*left.shape[:-2], 4, 6)), atol=1e-12
    )


def test_positions_are_added_before_the_projection():
    p, (x,) = layer(7), normal(8, (4, 6))
    placed = multi_head(x, p, placement=Placement("sinusoidal", ids=[3, 1, 0, 2]))
    np.testing.assert_array_equal(placed.output, multi_head(x + sinusoidal([3, 1, 0, 2], 6), p).output)


def test_the_tokens_of_a_memory_stand_at_their_own_positions():
    """In cross-attention padding and positions of X say nothing of the memory: its first token stands at 0."""
    p = Projections(*normal(9, (6, 4), (5, 4), (5, 3)))
    x, memory = normal(10, (3, 6), (7, 5))
    placed = multi_head(x, p, memory=memory, placement=Placement(rope=Rope("half"), ids=[4, 2, 9]))
    q, k = rotate(x @ p.W_Q, [4, 2, 9], Rope("half")), rotate(memory @ p.W_K, range(7), Rope("half"))
    np.testing.assert_allclose(placed.attention.output, attend(q, k, memory @ p.W_V).output, atol=1e-12)


def test_cross_attention_reads_the_memory():
    p = Projections(*normal(9, (6, 4), (5, 4), (5, 2)), num_heads=2)
    x, memory = normal(10, (2, 3, 6), (2, 7, 5))
    result = multi_head(x, p, memory=memory)
    assert result.attention.weights().shape == (2, 2, 3, 7)
    q, k, v = x @ p.W_Q, memory @ p.W_K, memory @ p.W_V
    expected = np.concatenate(
        [dense(q[..., :2], k[..., :2], v[..., :1])[2], dense(q[..., 2:], k[..., 2:], v[..., 1:])[2]], -1
    )
    np.testing.assert_allclose(result.output, expected, atol=1e-12)


def test_one_head_without_an_axis():
    p = Projections(*normal(11, (3, 2), (3, 2), (3, 5)))
    (x,) = normal(12, (4, 3))
    result = multi_head(x, p)
    np.testing.assert_array_equal(result.output, attend(x @ p.W_Q, x @ p.W_K, x @ p.W_V).output)
    assert result.attention.shapes["S"] == (4, 4)


def test_a_mask_and_a_bias_per_head_without_a_batch():
    p, (x, bias) = layer(13), normal(14, (3, 6), (4, 3, 3))
    mask = np.zeros((4, 3, 3), bool)
    mask[1, :, 0] = True
    result = multi_head(x, p, mask=mask, bias=bias)
    np.testing.assert_array_equal(result.attention.forbidden(), mask)
    np.testing.assert_array_equal(result.attention.weights()[1, :, 0], 0)


def test_an_empty_row_is_named_by_head_and_query():
    p, (x,) = layer(15), normal(16, (2, 6))
    mask = np.zeros((4, 2, 2), bool)
    mask[2, 1] = True
    with pytest.raises(InputError, match=r"row \[2, 1\] has no key to look at"):
        multi_head(x, p, mask=mask)


ONES = np.ones
GOOD = {"W_Q": ONES((3, 4)), "W_K": ONES((3, 4)), "W_V": ONES((3, 6)), "num_heads": 2}


@pytest.mark.parametrize(
    ("changes", "message", "expected", "path"),
    [
        ({"num_heads": 3}, "W_Q has 4 columns, which H = 3 heads cannot share evenly", "a multiple of 3", ("W_Q",)),
        ({"W_Q": ONES((2, 4))}, "W_Q has 2 rows, X has d_model = 3", "3 rows", ("W_Q",)),
        ({"W_K": ONES((3, 6))}, "W_K has 6 columns, H_kv · d_k = 2 · 2 = 4", "4 columns", ("W_K",)),
        (
            {"W_V": ONES((3, 5))},
            "W_V has 5 columns, which H_kv = 2 heads cannot share evenly",
            "a multiple of 2",
            ("W_V",),
        ),
        ({"W_O": ONES((4, 3))}, "W_O has 4 rows, H · d_v = 2 · 3 = 6", "6 rows", ("W_O",)),
        ({"b_Q": ONES(3)}, "b_Q has 3 numbers, W_Q has 4 columns", "4 numbers", ("b_Q",)),
        ({"b_O": ONES(4)}, "b_O has 4 numbers, the concatenation has 6 columns", "6 numbers", ("b_O",)),
        (
            {"num_heads": 4, "num_kv_heads": 3},
            "H = 4 query heads cannot share H_kv = 3 key/value heads evenly",
            "H_kv one of: 1, 2, 4",
            ("num_kv_heads",),
        ),
        ({"num_heads": 0}, "num_heads is 0", "an integer of at least 1", ("num_heads",)),
        (
            {"num_heads": None, "num_kv_heads": 2},
            "key/value heads are 2, but nothing says how many query heads there are",
            "num_heads beside it",
            ("num_kv_heads",),
        ),
        ({"W_Q": ONES((3, 3, 2))}, "W_Q has 3 heads, H = 2", "one for each of 2", ("W_Q",)),
        ({"W_Q": ONES(3)}, "W_Q has rank 1, shape (3,)", "(d_model, H · d), or one matrix per head", ("W_Q",)),
        ({"W_K": [[1, 2], [3]]}, "W_K is ragged: its rows differ in length", "rows of one length", ("W_K",)),
        ({"W_Q": ONES((3, 4)) > 0}, "W_Q has dtype bool", "float16, float32, float64 or integers", ("W_Q",)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refused_projections(changes, message, expected, path):
    with pytest.raises(InputError) as caught:
        multi_head(ONES((5, 3)), Projections(**{**GOOD, **changes}))
    found = caught.value.problems[0]
    assert (found.message, found.expected, found.path) == (message, expected, path)


@pytest.mark.parametrize(
    ("x", "settings", "message", "path"),
    [
        (ONES(3), {}, "X has rank 1, shape (3,)", ("X",)),
        (ONES((2, 5, 3)), {"memory": ONES((4, 5, 3))}, "X has leading axes (2,), memory has (4,)", ("memory",)),
        (
            ONES((5, 3)),
            {"placement": Placement(added=ONES((4, 3)))},
            "positions has 4 vectors, and a token stands at position 4 (counting from 0)",
            ("positions",),
        ),
        (
            ONES((5, 3)),
            {"placement": Placement(added=ONES((5, 2)))},
            "positions has shape (5, 2), X has d_model = 3",
            ("positions",),
        ),
        (ONES((5, 3)), {"placement": Placement(rope=Rope(dim=1))}, "rotary dimension 1 is odd", ("rope", "dim")),
        (
            ONES((5, 3)),
            {"placement": Placement(ids=[0, 1])},
            "position_ids has shape (2,)",
            ("position_ids",),
        ),
        (
            ONES((5, 3)),
            {"past": KVCache(ONES((2, 4, 3)), ONES((2, 4, 3)))},
            "K has shape (2, 5, 2), the cached K has (2, 4, 3)",
            ("past", "K"),
        ),
        (
            ONES((5, 3)),
            {"past": KVCache(ONES((2, 4, 2)), ONES((2, 4, 3))), "memory": ONES((5, 3))},
            "past and memory exclude each other",
            ("past",),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refused_embeddings(x, settings, message, path):
    with pytest.raises(InputError) as caught:
        multi_head(x, Projections(**GOOD), **settings)
    found = caught.value.problems[0]
    assert (found.message, found.path) == (message, path)


def test_all_problems_at_once():
    bad = Projections(ONES((2, 4)), ONES((3, 6)), ONES((3, 6)), ONES((4, 3)), num_heads=2)
    with pytest.raises(InputError) as caught:
        multi_head(ONES((5, 3)), bad)
    assert [p.path for p in caught.value.problems] == [("W_Q",), ("W_K",), ("W_O",)]
