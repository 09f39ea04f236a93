"""Score functions: right values, and that each goes through the one engine with all it can do."""

import numpy as np
import pytest
from attention.oracles import normal, random_mask
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import (
    Additive,
    Dot,
    General,
    Linear,
    LinearState,
    Mask,
    attend,
    elu_plus_one,
    linear_recurrence,
)
from sdpa_cli.errors import InputError

quick = settings(deadline=None, max_examples=30)
seeds = st.integers(0, 2**32 - 1)
Q, K, V = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        pytest.param(Additive(v=1), [[1.727483, 2.727483], [2.272517, 3.272517]], id="additive"),
        pytest.param(Dot(), [[2.462117, 3.462117], [1.537883, 2.537883]], id="dot"),
        pytest.param(General(np.eye(2)), [[2.462117, 3.462117], [1.537883, 2.537883]], id="general-of-identity"),
        pytest.param(
            Additive([1, 1], np.eye(2), np.eye(2)), [[1.727483, 2.727483], [2.272517, 3.272517]], id="spelt-out"
        ),
    ],
)
def test_right_values(score, expected):
    np.testing.assert_allclose(attend(Q, K, V, score=score).output, expected, atol=5e-7)


def reference(score, q, k):
    """Scores pair by pair, from their formulas."""
    rows = []
    for query in q:
        if isinstance(score, Dot):
            rows.append([query @ key for key in k])
        elif isinstance(score, General):
            rows.append([query @ score.W @ key for key in k])
        elif isinstance(score, Additive):
            rows.append([score.v @ np.tanh(query @ score.W_q + key @ score.W_k) for key in k])
        else:
            phi = lambda x: np.array([c + 1 if c > 0 else np.exp(c) for c in x])  # noqa: E731
            rows.append([np.log(phi(query) @ phi(key)) for key in k])
    return np.array(rows)


def some(kind, seed):
    w, u, v = normal(seed, (3, 4), (4, 4), (4,))
    return {
        "dot": (Dot(), 3),
        "general": (General(w), 4),
        "additive": (Additive(v, w, u), 4),
        "linear": (Linear(), 3),
    }[kind]


kinds = pytest.mark.parametrize("kind", ["dot", "general", "additive", "linear"])


@kinds
@pytest.mark.parametrize("block_size", [1, 2, 4, None])
def test_scores_weights_and_output_pair_by_pair(kind, block_size):
    score, d_k = some(kind, 1)
    q, k, v = normal(2, (5, 3), (7, d_k), (7, 2))
    mask = random_mask(3, (5, 7))
    found = attend(q, k, v, score=score, mask=mask, block_size=block_size)
    s = np.where(mask, -np.inf, reference(score, q, k))
    weights = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
    np.testing.assert_allclose(found.scores(), s, atol=1e-13)
    np.testing.assert_allclose(found.weights(), weights, atol=1e-14)
    np.testing.assert_allclose(found.output, weights @ v, atol=1e-13)
    np.testing.assert_allclose(found.row_sums(), 1, atol=1e-14)


@kinds
def test_heads_share_the_score_function(kind):
    score, d_k = some(kind, 4)
    q, k, v = normal(5, (2, 4, 3, 3), (2, 2, 5, d_k), (2, 2, 5, 2))
    found = attend(q, k, v, score=score)
    for b, h in np.ndindex(2, 4):
        alone = attend(q[b, h], k[b, h // 2], v[b, h // 2], score=score)
        np.testing.assert_allclose(found.output[b, h], alone.output, atol=1e-14)


@kinds
def test_float32_stays_float32(kind):
    score, d_k = some(kind, 6)
    if isinstance(score, General):
        score = General(score.W.astype(np.float32))
    elif isinstance(score, Additive):
        score = Additive(score.v, score.W_q.astype(np.float32), score.W_k.astype(np.float32))
    q, k, v = normal(7, (5, 3), (7, d_k), (7, 2), dtype=np.float32)
    found = attend(q, k, v, score=score)
    assert found.output.dtype == np.float32
    np.testing.assert_allclose(
        found.output, attend(*(x.astype(float) for x in (q, k, v)), score=score).output, atol=1e-5
    )


@given(seeds, st.integers(1, 8))
@quick
def test_general_is_a_dot_product_of_projected_queries(seed, block_size):
    (w, q, k, v) = normal(seed, (3, 4), (5, 3), (7, 4), (7, 2))
    projected = attend(q @ w, k, v, score=Dot(), block_size=block_size)
    np.testing.assert_allclose(attend(q, k, v, score=General(w)).output, projected.output, atol=1e-12)


def test_the_feature_map_does_not_round_to_0():
    np.testing.assert_allclose(elu_plus_one([-8.0, -40.0, 0.0, 3.0]), [0.00033546, 4.248354e-18, 1, 4], rtol=1e-5)


@given(seeds)
@quick
def test_linear_prefill_equals_the_recurrence(seed):
    q, k, v = normal(seed, (2, 6, 3), (2, 6, 3), (2, 6, 4))
    step_by_step, state = linear_recurrence(q, k, v)
    whole = attend(q, k, v, score=Linear(), mask=Mask(causal=True))
    np.testing.assert_allclose(step_by_step, whole.output, atol=1e-13)
    np.testing.assert_allclose(state.read(q[:, -1:]), whole.output[:, -1:], atol=1e-13)


@given(seeds, st.integers(0, 6))
@quick
def test_linear_states_merge(seed, cut):
    q, k, v = normal(seed, (2, 3), (6, 3), (6, 4))
    merged = LinearState.of(k[:cut], v[:cut]).merge(LinearState.of(k[cut:], v[cut:]))
    np.testing.assert_allclose(merged.read(q), attend(q, k, v, score=Linear()).output, atol=1e-13)


def test_linear_is_another_attention_than_softmax():
    q, k, v = normal(8, (4, 3), (6, 3), (6, 2))
    assert np.abs(attend(q, k, v, score=Linear()).output - attend(q, k, v).output).max() > 0.01


def test_softcap_bias_and_scale_go_with_the_products():
    (w, q, k, v, bias) = normal(9, (3, 4), (5, 3), (7, 4), (7, 2), (5, 7))
    found = attend(q, k, v, score=General(w), scale=0.5, softcap=2.0, bias=bias)
    np.testing.assert_allclose(found.scores(), 2 * np.tanh(0.5 * q @ w @ k.T / 2) + bias, atol=1e-14)


A = np.ones


@pytest.mark.parametrize(
    ("settings", "message", "path"),
    [
        ({"score": General(A((2, 2)))}, "general has shape (2, 2)", ("score", "general")),
        ({"score": Additive(1, A((3, 2)))}, "queries become 2 hidden units, keys 4", ("score",)),
        (
            {"score": Additive(A(3), A((3, 2)), A((4, 2)))},
            "v has shape (3,), there are d_a = 2 hidden units",
            ("score", "v"),
        ),
        ({"score": Additive(1, A((2, 2)), A((4, 2)))}, "W_q has shape (2, 2)", ("score", "W_q")),
        ({"score": Additive(1, A((3, 2)), A((4, 2))), "scale": 2}, "additive attention has no scale", ("scale",)),
        ({"score": Linear(), "softcap": 2}, "linear attention has no softcap", ("softcap",)),
        ({"score": "dot"}, "score is 'dot'", ("score",)),
        ({"score": Dot()}, "K has d_k = 4, Q has d_k = 3", ("K",)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refusals(settings, message, path):
    with pytest.raises(InputError) as caught:
        attend(A((5, 3)), A((7, 4)), A((7, 2)), **settings)
    assert (message, path) in [(p.message, p.path) for p in caught.value.problems]
