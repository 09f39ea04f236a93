"""The fast path and its fallback: which one is taken, and that nobody can tell from the result."""

import numpy as np
import pytest
from attention.oracles import longdouble_attention, normal, random_mask

from sdpa_cli.attention import Mask, Window, attend, solving, unshifted
from sdpa_cli.attention.unshifted import calm_heads, power

EPS32 = float(np.finfo(np.float32).eps)
HOT = 40.0  # as a factor on Q and K it puts exponents far beyond what the fast path is proved for


@pytest.fixture
def taken(monkeypatch):
    """The names of the paths that regions took, in order."""
    names = []
    for name in ("fold", "fold_unshifted"):
        path = getattr(solving, name)

        def spy(*args, _path=path, _name=name):
            names.append(_name)
            return _path(*args)

        monkeypatch.setattr(solving, name, spy)
    return names


def online_only(monkeypatch):
    monkeypatch.setattr(solving, "calm_heads", lambda inputs: np.zeros(inputs.heads[:2], bool))


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
    q, k, v = normal(3, (2, 600, 8), (2, 300, 8), (2, 300, 4), dtype=dtype)
    heads = [array[:1] for array in (q, k, v)]
    spoil(*heads)
    result = attend(q, k, v)
    assert set(taken) == {"fold", "fold_unshifted"}, "one head is spoilt, the other is calm"
    exact = longdouble_attention(q, k, v)
    scores = np.abs(result.scores()).max(initial=1)
    error = np.abs(result.output - exact).max(axis=(1, 2)) / np.abs(v).max(axis=(1, 2))
    assert (error <= 8 * np.finfo(dtype).eps * np.maximum(1, scores)).all()


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf], ids=str)
@pytest.mark.parametrize("victim", ["keys", "values"])
@pytest.mark.parametrize(
    "mask",
    [
        pytest.param(Mask(key_lengths=250), id="padding"),
        pytest.param(np.broadcast_to(np.arange(300) >= 250, (200, 300)), id="given"),
        pytest.param(Mask(causal=True, query_offset=50), id="causal"),
    ],
)
def test_forbidden_poison_falls_back_and_changes_nothing(mask, victim, poison, taken, monkeypatch):
    q, k, v = normal(4, (200, 8), (300, 8), (300, 4))
    with monkeypatch.context() as patch:
        online_only(patch)
        clean = attend(q, k, v, mask=mask)
    taken.clear()
    (k if victim == "keys" else v)[250:] = poison
    poisoned = attend(q, k, v, mask=mask)
    assert set(taken) == {"fold"}
    np.testing.assert_array_equal(poisoned.output, clean.output)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"bias": np.zeros((200, 300))}, id="bias"),
        pytest.param({"softcap": 3.0}, id="softcap"),
        pytest.param({"scale": 1e3}, id="large-scale"),
    ],
)
def test_what_is_no_plain_small_product_takes_the_online_softmax(settings, taken):
    q, k, v = normal(5, (200, 8), (300, 8), (300, 4))
    attend(q, k, v, **settings)
    assert set(taken) == {"fold"}


def test_negative_and_zero_scales_are_calm(taken):
    q, k, v = normal(6, (200, 8), (300, 8), (300, 4))
    flipped = attend(-q, k, v, scale=-0.5)
    np.testing.assert_allclose(flipped.output, attend(q, k, v, scale=0.5).output, atol=1e-15)
    np.testing.assert_allclose(attend(q, k, v, scale=0).output, np.tile(v.mean(0), (200, 1)), atol=1e-14)
    assert set(taken) == {"fold_unshifted"}


def test_the_proof_looks_at_every_part_of_long_inputs(monkeypatch):
    monkeypatch.setattr(unshifted, "_ROWS", 16)
    q, k, v = normal(7, (2, 200, 8), (2, 300, 8), (2, 300, 4))
    calm = attend(q, k, v)
    np.testing.assert_array_equal(calm_heads(calm.inputs), [[True, True]])
    for spoilt, at in ((q, (0, 17)), (k, (0, 299)), (v, (0, 160))):
        kept = spoilt[at].copy()
        spoilt[at] = 1e300
        np.testing.assert_array_equal(calm_heads(calm.inputs), [[False, True]])
        spoilt[at] = kept


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


def test_plain_exp_gives_the_same_result(monkeypatch):
    q, k, v = normal(8, (200, 8), (300, 8), (300, 4))
    usual = attend(q, k, v).output
    monkeypatch.setattr(unshifted, "power", lambda dtype: (np.exp, 1.0))
    np.testing.assert_allclose(attend(q, k, v).output, usual, atol=1e-15)


def test_float64_error_of_the_fast_path_is_no_worse_than_naive_code(taken):
    ours, naive = [], []
    for seed in range(10):
        q, k, v = normal(seed, (1, 150, 64), (1, 500, 64), (1, 500, 8))
        exact = longdouble_attention(q, k, v)
        ours.append(np.abs(attend(q, k, v).output - exact).max())
        s = q @ k.swapaxes(-1, -2) / 8
        p = np.exp(s - s.max(-1, keepdims=True))
        naive.append(np.abs(p / p.sum(-1, keepdims=True) @ v - exact).max())
    assert set(taken) == {"fold_unshifted"}
    assert max(ours) <= 1.5 * max(naive)
