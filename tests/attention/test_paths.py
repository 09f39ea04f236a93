"""The fast path and its fallback: which one is taken, and that nobody can tell from the result."""

import numpy as np
import pytest
from attention.oracles import longdouble_attention, normal, random_mask

from sdpa_cli.attention import Mask, NonFiniteScoreError, Window, at_once, attend, solving, unshifted
from sdpa_cli.attention.unshifted import power

EPS32 = float(np.finfo(np.float32).eps)
HOT = 40.0  # as a factor on Q and K it puts exponents far beyond what the fast path is proved for


@pytest.fixture
def taken(monkeypatch):
    """The names of the paths that gave regions their state, in order."""
    names = []
    slow, fast, at_once = solving.fold, solving.fold_unshifted, solving.see_at_once

    def spy_slow(*args):
        names.append("fold")
        slow(*args)

    def spy_fast(*args):
        proved = fast(*args)
        names.extend(["fold_unshifted"] * proved)
        return proved

    def spy_at_once(*args):
        state = at_once(*args)
        names.extend(["see_at_once"] * (state is not None))
        return state

    monkeypatch.setattr(solving, "fold", spy_slow)
    monkeypatch.setattr(solving, "fold_unshifted", spy_fast)
    monkeypatch.setattr(solving, "see_at_once", spy_at_once)
    return names


@pytest.fixture(params=["see_at_once", "fold_unshifted"])
def fast_path(request, monkeypatch):
    """The fast path that a small problem takes, and the one it would take were it large."""
    if request.param == "fold_unshifted":
        monkeypatch.setattr(solving, "SMALL", 0)
    return request.param


def online_only(monkeypatch):
    monkeypatch.setattr(solving, "fold_unshifted", lambda *_: False)
    monkeypatch.setattr(solving, "see_at_once", lambda *_: None)


MASKS = [
    pytest.param(lambda: None, id="full"),
    pytest.param(lambda: Mask(causal=True, query_offset=0), id="causal"),
    pytest.param(lambda: Mask(causal=True, query_offset=57), id="causal-offset"),
    pytest.param(lambda: Mask(window=Window(100, 20), query_offset=0), id="window"),
    pytest.param(lambda: Mask(window=Window(None, 3), query_offset=10), id="half-open-window"),
    pytest.param(lambda: Mask(key_lengths=[300, 501, 64, 700]), id="padding"),
    pytest.param(lambda: random_mask(1, (643, 700)), id="given"),
    pytest.param(lambda: random_mask(1, (4, 643, 700)), id="given-per-head"),
    pytest.param(lambda: random_mask(1, (643, 700)) | (np.arange(700) < 600), id="forbidden-first-tiles"),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mask", MASKS)
def test_both_paths_agree_with_extended_precision(mask, dtype, taken, monkeypatch):
    q, k, v = normal(2, (4, 643, 24), (4, 700, 24), (4, 700, 10), dtype=dtype)
    fast = attend(q, k, v, mask=mask())
    assert set(taken) == {"fold_unshifted"}
    online_only(monkeypatch)
    taken.clear()
    slow = attend(q, k, v, mask=mask())
    assert set(taken) == {"fold"}
    exact = longdouble_attention(q, k, v, forbidden=fast.forbidden())
    bound = 8 * np.finfo(dtype).eps * np.abs(v).max()
    assert np.abs(fast.output - exact).max() <= bound
    assert np.abs(slow.output - exact).max() <= bound
    np.testing.assert_allclose(fast.lse, slow.lse, atol=40 * np.finfo(dtype).eps)
    rows = np.array([0, 64, 642])
    np.testing.assert_allclose(fast.row_sums(rows), 1, atol=100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(slow.row_sums(rows), 1, atol=100 * np.finfo(dtype).eps)


def late_maximum(q, k, v):
    k[:, -1] = 100 * q[:, 0]


def one_wild_row(q, k, v):
    q[:, 7] *= 1e4


def huge_logits(q, k, v):
    q *= HOT
    k *= HOT


def huge_values(q, k, v):
    v *= np.finfo(v.dtype).max / 8


def tiny_values(q, k, v):
    v *= np.finfo(v.dtype).tiny


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spoil", [late_maximum, one_wild_row, huge_logits, huge_values, tiny_values])
def test_what_is_not_calm_falls_back(spoil, dtype, taken):
    q, k, v = normal(3, (2, 1000, 8), (2, 300, 8), (2, 300, 4), dtype=dtype)
    heads = [array[:1] for array in (q, k, v)]
    spoil(*heads)
    result = attend(q, k, v)
    assert set(taken) == {"fold", "fold_unshifted"}, "one head is spoilt, the other is calm"
    exact = longdouble_attention(q, k, v)
    scores = np.abs(result.scores()).max(initial=1)
    error = np.abs(result.output - exact).max(axis=(1, 2)) / np.abs(v).max(axis=(1, 2))
    assert (error <= 8 * np.finfo(dtype).eps * np.maximum(1, scores)).all()


FORBIDDING = [
    pytest.param(Mask(key_lengths=250), id="padding"),
    pytest.param(Mask(key_lengths=[300, 250]), id="padding-of-one-head"),
    pytest.param(np.broadcast_to(np.arange(300) >= 250, (200, 300)), id="given"),
    pytest.param(Mask(causal=True, query_offset=50), id="causal"),
    pytest.param(Mask(window=Window(400, 10), query_offset=39), id="window"),
]


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 1e308, 1e10], ids=str)
@pytest.mark.parametrize("victim", ["keys", "values", "both"])
@pytest.mark.parametrize("mask", FORBIDDING)
def test_forbidden_poison_changes_no_bit_on_any_path(mask, victim, poison, taken, fast_path, monkeypatch):
    q, k, v = normal(4, (2, 1, 200, 8), (2, 1, 300, 8), (2, 1, 300, 4))
    forbidden = attend(q, k, v, mask=mask).forbidden().all(axis=(1, 2))
    bad_k, bad_v = k.copy(), v.copy()
    if victim != "values":
        bad_k[:, 0][forbidden] = poison
    if victim != "keys":
        bad_v[:, 0][forbidden] = poison
    for path in (fast_path, "fold"):
        with monkeypatch.context() as patch:
            if path == "fold":
                online_only(patch)
            taken.clear()
            clean, poisoned = attend(q, k, v, mask=mask), attend(q, bad_k, bad_v, mask=mask)
            assert set(taken) == {path}
            np.testing.assert_array_equal(poisoned.output, clean.output)
            np.testing.assert_array_equal(poisoned.lse, clean.lse)


@pytest.mark.parametrize("heads", [(1, 1), (2, 2), (3, 1), (4, 2)], ids=str)
@pytest.mark.parametrize("length", [64, 127, 128, 150])
def test_what_is_seen_at_once_is_right_for_any_heads(length, heads, taken):
    """Several times, for results of before may lie in the memory where the next ones are written."""
    for seed in range(5):
        q, k, v = normal(seed, (1, heads[0], length, 8), (1, heads[1], length, 8), (1, heads[1], length, 5))
        result = attend(q, k, v, mask=Mask(causal=True))
        k, v = (np.repeat(x, heads[0] // heads[1], axis=1) for x in (k, v))
        exact = longdouble_attention(q, k, v, forbidden=result.forbidden())
        assert np.abs(result.output - exact).max() <= 1e-14
    assert set(taken) == {"see_at_once"}


LAYOUTS = {
    "in order": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "rows backwards": lambda v: np.ascontiguousarray(v[::-1])[::-1],
    "columns backwards": lambda v: np.ascontiguousarray(v[:, ::-1])[:, ::-1],
    "every second column": lambda v: np.repeat(v, 2, axis=1)[:, ::2],
    "every second row": lambda v: np.repeat(v, 2, axis=0)[::2],
    "some columns": lambda v: np.concatenate([v, v], axis=1)[:, : v.shape[1]],
    "some columns, by columns": lambda v: np.asfortranarray(np.concatenate([v, v], axis=1))[:, : v.shape[1]],
}


@pytest.mark.parametrize("shape", [(1, 64, 3, 8), (1, 2000, 8, 8), (128, 64, 16, 1), (128, 7, 8, 1), (1, 1500, 3, 1)])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_forbidden_values_change_no_bit_however_they_lie_in_memory(layout, shape, fast_path):
    rows, keys, depth, d_v = shape
    for seed in range(5):
        q, k, v = normal(seed, (rows, depth), (keys, depth), (keys, d_v))
        forbidden = np.zeros((rows, keys), bool)
        forbidden[:, 3] = True
        poisoned = v.copy()
        poisoned[3] = np.nan
        clean = attend(q, k, layout(v), mask=forbidden).output
        np.testing.assert_array_equal(attend(q, k, layout(poisoned), mask=forbidden).output, clean)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("at", [0, 130, 299])
@pytest.mark.parametrize(
    "mask", [None, Mask(causal=True, query_offset=100), np.arange(60000).reshape(200, 300) % 7 == 1]
)
def test_live_poison_is_refused_wherever_it_is(mask, at, poison, fast_path):
    q, k, v = map(np.abs, normal(4, (200, 8), (300, 8), (300, 4)))  # of one sign: −inf makes nothing but −inf
    k[at] = poison
    with pytest.raises(NonFiniteScoreError) as caught:
        attend(q, k, v, mask=mask)
    assert caught.value.index[1] == at


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"bias": np.zeros((200, 300))}, id="bias"),
        pytest.param({"softcap": 3.0}, id="softcap"),
        pytest.param({"scale": 1e3}, id="large-scale"),
    ],
)
def test_what_is_no_plain_small_product_takes_the_online_softmax(settings, taken, fast_path):
    q, k, v = normal(5, (200, 8), (300, 8), (300, 4))
    attend(q, k, v, **settings)
    assert set(taken) == {"fold"}


def test_negative_and_zero_scales_are_calm(taken, fast_path):
    q, k, v = normal(6, (200, 8), (300, 8), (300, 4))
    flipped = attend(-q, k, v, scale=-0.5)
    np.testing.assert_allclose(flipped.output, attend(q, k, v, scale=0.5).output, atol=1e-15)
    np.testing.assert_allclose(attend(q, k, v, scale=0).output, np.tile(v.mean(0), (200, 1)), atol=1e-14)
    assert set(taken) == {fast_path}


@pytest.mark.parametrize(
    ("name", "at", "spoilt"),
    [("q", (0, 17), 1e200), ("k", (0, 0), 1e200), ("k", (0, 299), 1e200), ("v", (0, 160), 1.7e308)],
    ids=["query", "first-key", "last-key", "value"],
)
def test_the_proof_sees_every_part_of_long_inputs(name, at, spoilt, taken, monkeypatch):
    monkeypatch.setattr(unshifted, "_KEYS", 16)
    arrays = dict(zip("qkv", normal(7, (2, 1000, 8), (2, 300, 8), (2, 300, 4)), strict=True))
    attend(**arrays)
    assert set(taken) == {"fold_unshifted"}
    taken.clear()
    arrays[name][at] = spoilt
    attend(**arrays)
    assert sorted(set(taken)) == ["fold", "fold_unshifted"], "one head is spoilt, the other is not"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("strength", [20, 27, 29, 90, 120, 250, 800])
def test_a_row_of_equally_large_scores_is_right_on_whatever_path(strength, sign, dtype, fast_path):
    """Around the edges of the range where sums are trusted, where powers leave the numbers, and far beyond."""
    q, k, v = normal(9, (100, 2), (600, 2), (600, 3), dtype=dtype)
    q[7] = (sign * strength * np.sqrt(2), 0)
    k[:, 0] = 1
    result = attend(q, k, v)
    exact = longdouble_attention(q, k, v)
    bound = 8 * np.finfo(dtype).eps * np.abs(v).max() * max(1, strength)
    assert np.abs(result.output - exact).max() <= bound


@pytest.mark.parametrize("size", [2.0**-120, 2.0**-100, 2.0**-60, 2.0**-40, 1.0, 2.0**40, 2.0**60, 2.0**120])
def test_values_of_any_size_keep_their_accuracy(size, fast_path):
    q, k, v = normal(10, (100, 8), (300, 8), (300, 4), dtype=np.float32)
    q[3] *= 8
    v *= np.float32(size)
    exact = longdouble_attention(q, k, v)
    error = np.abs(attend(q, k, v).output - exact).max()
    assert error <= 64 * EPS32 * np.abs(v).max() + np.finfo(np.float32).smallest_subnormal


def test_what_can_be_followed_by_hand_is_shifted_as_it_is_taught(taken, fast_path):
    q, k, v = normal(11, (32, 8), (32, 8), (32, 4))
    attend(q, k, v)
    assert taken == ["fold"]


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        pytest.param("X86_V4", (np.exp2, 1 / np.log(2)), id="vector-kernel"),
        pytest.param("baseline(X86_V2)", (np.exp, 1.0), id="libm"),
        pytest.param(None, (np.exp, 1.0), id="unknown"),
    ],
)
def test_exp2_is_used_only_where_it_is_vectorised(kernel, expected, monkeypatch):
    report = {} if kernel is None else {"exp2": {"dd": {"current": kernel, "available": ""}}}
    monkeypatch.setattr(np.lib.introspect, "opt_func_info", lambda *_: report)
    function, factor = power.__wrapped__(np.dtype(np.float64))
    assert (function, factor) == (expected[0], pytest.approx(expected[1]))


def test_plain_exp_gives_the_same_result(fast_path, taken, monkeypatch):
    q, k, v = normal(8, (200, 8), (300, 8), (300, 4))
    usual = attend(q, k, v).output
    calls = []
    calm = unshifted.most_calm.__wrapped__  # which remembers the base of the powers else
    for module in (unshifted, at_once):
        monkeypatch.setattr(module, "power", lambda dtype: calls.append(dtype) or (np.exp, 1.0))
        monkeypatch.setattr(module, "most_calm", calm)
    np.testing.assert_allclose(attend(q, k, v).output, usual, atol=1e-15)
    assert calls
    assert set(taken) == {fast_path}


def test_float64_error_of_the_fast_path_is_no_worse_than_naive_code(taken, fast_path):
    ours, naive = [], []
    for seed in range(10):
        q, k, v = normal(seed, (1, 150, 64), (1, 500, 64), (1, 500, 8))
        exact = longdouble_attention(q, k, v)
        ours.append(np.abs(attend(q, k, v).output - exact).max())
        s = q @ k.swapaxes(-1, -2) / 8
        p = np.exp(s - s.max(-1, keepdims=True))
        naive.append(np.abs(p / p.sum(-1, keepdims=True) @ v - exact).max())
    assert set(taken) == {fast_path}
    assert max(ours) <= 1.5 * max(naive)


@pytest.mark.parametrize(
    ("score", "shapes", "mask", "small", "dtype"),
    [
        pytest.param(-50, ((64, 4), (64, 4), (64, 1)), None, np.s_[:], np.float64, id="all-of-them"),
        pytest.param(-26, ((2, 64, 4), (2, 64, 4), (2, 64, 1)), None, np.s_[1], np.float32, id="one-head"),
        pytest.param(-26, ((64, 4), (64, 4), (64, 2)), None, np.s_[:, 1], np.float32, id="one-column"),
        pytest.param(-26, ((64, 4), (64, 4), (64, 1)), Mask(causal=True), np.s_[:32], np.float32, id="first-keys"),
        pytest.param(-5, ((64, 4), (64, 4), (64, 1)), Mask(causal=True), np.s_[:32], np.float32, id="calm-scores"),
    ],
)
def test_small_values_beside_large_ones_are_not_lost(score, shapes, mask, small, dtype, fast_path):
    """Scores all far below 0, and values near the smallest number: their products must not vanish."""
    q, k, v = (np.ones(shape, dtype) for shape in shapes)
    k *= dtype(score / 2)  # d_k = 4
    v[small] = np.finfo(dtype).tiny * 4
    result = attend(q, k, v, mask=mask).output
    exact = longdouble_attention(q, k, v, forbidden=attend(q, k, v, mask=mask).forbidden())
    np.testing.assert_allclose(result, exact.astype(dtype), rtol=64 * np.finfo(dtype).eps)


@pytest.mark.parametrize("exponent", [-126, -130, -135, -140, -148])
@pytest.mark.parametrize("share", [0.4, 1.0, 3.0], ids="powers sum to {} per key".format)
def test_values_near_the_smallest_number_are_averaged_to_it(share, exponent, fast_path):
    """As many powers as small as they can be for a sum that promises nothing to be lost."""
    keys = 1024
    q, k = np.ones((8, 1), np.float32), np.full((keys, 1), np.log(share), np.float32)
    k += np.float32(1e-3) - np.float32(np.log(keys) if share == 1 else 0)
    v = (np.random.default_rng(0).uniform(1, 2, (keys, 3)) * 2.0**exponent).astype(np.float32)
    exact = longdouble_attention(q, k, v)
    smallest = np.finfo(np.float32).smallest_subnormal
    assert np.abs(attend(q, k, v).output - exact).max() <= 16 * EPS32 * np.abs(v).max() + 1.5 * smallest
