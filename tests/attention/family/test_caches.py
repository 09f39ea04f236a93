"""Decoding through a cache equals computing all queries at once, whatever the heads, positions and window."""

from dataclasses import replace

import numpy as np
import pytest
from attention.oracles import normal
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import (
    KVCache,
    Linear,
    Mask,
    Placement,
    Projections,
    Rope,
    Window,
    attend,
    cache_bytes,
    decode,
    multi_head,
)
from sdpa_cli.errors import InputError

quick = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)
HEADS = {"multi-head": 4, "grouped": 2, "multi-query": 1}


def layer(seed, kv_heads):
    return Projections(
        *normal(seed, (6, 8), (6, 2 * kv_heads), (6, 3 * kv_heads), (12, 6)), num_heads=4, num_kv_heads=kv_heads
    )


@pytest.mark.parametrize("window", [None, Window(left=2)], ids=["all", "rolling"])
@pytest.mark.parametrize("rope", [None, Rope(), Rope("half", dim=2)], ids=["unplaced", "rope", "rope-half"])
@pytest.mark.parametrize("kv_heads", HEADS.values(), ids=HEADS)
def test_a_layer_fed_token_by_token(kv_heads, rope, window):
    p, (x,) = layer(1, kv_heads), normal(2, (2, 9, 6))
    placement, mask = Placement(rope=rope), Mask(causal=True, window=window)
    whole = multi_head(x, p, placement=placement, mask=mask)
    empty = np.zeros((2, kv_heads, 0, 2)), np.zeros((2, kv_heads, 0, 3))
    cache = KVCache(*empty, reach=None if window is None else window.left)
    for t in range(9):
        step = multi_head(x[:, t : t + 1], p, placement=placement, mask=mask, past=cache)
        cache = step.cache
        np.testing.assert_allclose(step.output, whole.output[:, t : t + 1], atol=1e-13)
    assert cache.seen == 9
    assert cache.length == (9 if window is None else 3)


@pytest.mark.parametrize("placement", [Placement(rope=Rope()), Placement("sinusoidal")], ids=["rope", "sinusoidal"])
def test_left_padding_that_a_rolling_cache_has_let_go(placement):
    """While some padding is still held, positions are known; after that somebody has to say them."""
    p, (x,) = layer(1, 2), normal(2, (9, 6))
    window, padding = Window(left=2), 3

    def mask(real, left=window):
        return Mask(causal=True, window=left, key_lengths=real, padding_side="left")

    whole = multi_head(x, p, placement=placement, mask=mask(6), empty_rows="zero")
    cache = KVCache(np.zeros((2, 0, 2)), np.zeros((2, 0, 3)), reach=2)
    for t in range(9):
        settings = {"past": cache, "mask": mask(min(max(t + 1 - padding, 0), 3)), "empty_rows": "zero"}
        here = placement
        if t >= padding + 2:
            with pytest.raises(InputError) as caught:
                multi_head(x[t : t + 1], p, placement=placement, **settings)
            (problem,) = caught.value.problems
            message = f"the cache has let go of {t - 2} keys, and nothing says how many of them were padding"
            assert (problem.message, problem.path) == (message, ("position_ids",))
            here = replace(placement, ids=[t - padding])
        step = multi_head(x[t : t + 1], p, placement=here, **settings)
        np.testing.assert_allclose(step.output, whole.output[t : t + 1], atol=1e-13)
        cache = step.cache


@given(seeds, st.integers(1, 4), st.sampled_from([None, 0, 1, 3]))
@quick
def test_chunks_of_any_size(seed, size, left):
    """Prefilling in chunks is what lies between decoding and all at once."""
    p, (x,) = layer(seed, 2), normal(seed, (8, 6))
    mask = Mask(causal=True, window=None if left is None else Window(left=left))
    whole = multi_head(x, p, placement=Placement(rope=Rope()), mask=mask)
    cache = KVCache(np.zeros((2, 0, 2)), np.zeros((2, 0, 3)), reach=left)
    for t in range(0, 8, size):
        step = multi_head(x[t : t + size], p, placement=Placement(rope=Rope()), mask=mask, past=cache)
        cache = step.cache
        np.testing.assert_allclose(step.output, whole.output[t : t + size], atol=1e-12)


SETTINGS = {
    "causal": ({}, Mask(causal=True, query_offset=3)),
    "window": ({}, Mask(causal=True, query_offset=3, window=Window(left=2))),
    "padded": ({}, Mask(causal=True, query_offset=3, key_lengths=[6, 7], padding_side="left")),
    "documents": ({}, Mask(causal=True, query_offset=3, segments=[0, 0, 1, 1, 1, 1, 2, 2])),
    "strided": ({}, Mask(causal=True, query_offset=3, stride=3)),
    "sparse": ({}, Mask(causal=True, query_offset=3, window=Window(1, 0), global_tokens=[0, 4])),
    "given": ({}, Mask(causal=True, query_offset=3, forbidden=np.eye(5, 8, dtype=bool))),
    "alibi": ({"alibi": True}, Mask(causal=True, query_offset=3, window=Window(left=4))),
    "softcap": ({"softcap": 1.5}, Mask(causal=True, query_offset=3)),
    "linear": ({"score": Linear()}, Mask(causal=True, query_offset=3)),
}


@pytest.mark.parametrize("kv_heads", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize(("options", "mask"), SETTINGS.values(), ids=SETTINGS)
def test_decoding_equals_prefill(options, mask, kv_heads):
    q, k, v = normal(3, (2, 4, 5, 3), (2, kv_heads, 8, 3), (2, kv_heads, 8, 2))
    bias = normal(4, (2, 4, 5, 8))[0] if options else None
    whole = attend(q, k, v, mask=mask, bias=bias, **options)
    decoded = decode(q, k, v, mask=mask, bias=bias, **options)
    np.testing.assert_allclose(decoded.attention.output, whole.output, atol=1e-13)
    np.testing.assert_allclose(decoded.attention.lse, whole.lse, atol=1e-13)
    np.testing.assert_allclose(decoded.attention.weights(), whole.weights(), atol=1e-13)
    np.testing.assert_allclose(decoded.attention.at(1, 3).row_sums(), 1, atol=1e-13)


def test_a_rolling_cache_keeps_what_the_window_reaches():
    q, k, v = normal(5, (4, 3), (6, 3), (6, 2))
    mask = Mask(causal=True, query_offset=2, window=Window(left=2))
    decoded = decode(q, k, v, mask=mask)
    assert decoded.kept == (3, 3, 3, 3)
    assert (decoded.cache.first, decoded.cache.seen) == (3, 6)
    np.testing.assert_array_equal(decoded.cache.k[0, 0], k[3:])


def test_caches_are_never_written_to():
    cache = KVCache(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)))
    longer = cache.append(np.ones((1, 1, 3)), np.ones((1, 1, 3)))
    assert (cache.length, longer.length, longer.nbytes) == (2, 3, 2 * 9 * 8)
    assert not cache.k.any()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"heads": (32,)}, 2 * 1024 * 128 * 32 * 2, id="multi-head"),
        pytest.param({"heads": (8,)}, 2 * 1024 * 128 * 8 * 2, id="grouped"),
        pytest.param({"heads": (1,)}, 2 * 1024 * 128 * 2, id="multi-query"),
        pytest.param({"heads": (2, 3, 8), "dtype": "float32"}, 2 * 1024 * 128 * 48 * 4, id="layers-and-batch"),
    ],
)
def test_bytes(arguments, expected):
    assert cache_bytes(1024, 128, 128, **arguments) == expected


def test_bytes_are_those_of_the_cache():
    cache = KVCache(np.zeros((2, 4, 7, 3)), np.zeros((2, 4, 7, 5)))
    assert cache.nbytes == cache_bytes(7, 3, 5, heads=(2, 4), dtype="float64")


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (None, "decoding needs a causal mask: a token cannot look at tokens that are yet to come"),
        (
            Mask(causal=True, query_offset=0),
            "decoding adds one key per query, but Tq = 2, Tk = 3 and query_offset is 0",
        ),
    ],
    ids=["not-causal", "offset"],
)
def test_refusals(mask, message):
    q, k = np.ones((2, 1)), np.ones((3, 1))
    with pytest.raises(InputError) as caught:
        decode(q, k, k, mask=mask)
    assert message in [p.message for p in caught.value.problems]
