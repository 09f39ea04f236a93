"""Rotary positions of queries and keys that a case gives itself: they stand where the mask says they stand."""

import json

import numpy as np
import pytest

from sdpa_cli.attention import rotate

SEQUENCE = np.round(np.random.default_rng(1).normal(size=(3, 6, 4)), 2)
"""Queries, keys and values of six tokens."""


def written(**fields):
    """A case file of these fields."""
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in fields.items()}
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in plain.items())


@pytest.fixture
def whole(case_of):
    """All six tokens at once."""
    q, k, v = SEQUENCE
    return case_of(written(Q=q, K=k, V=v, rope="half", mask="causal")).attend().weights()


@pytest.mark.parametrize("first", range(6))
def test_the_last_queries_alone(case_of, whole, first):
    q, k, v = SEQUENCE
    mask = {"causal": True, "query_offset": first}
    alone = case_of(written(Q=q[first:], K=k, V=v, rope="half", mask=mask)).attend()
    np.testing.assert_allclose(alone.weights(), whole[first:], atol=1e-14)


def test_the_last_queries_alone_after_padding(case_of, whole):
    """Padding on the left moves queries and keys alike."""
    q, k, v = SEQUENCE
    filler = np.full((3, 4), 9.0)
    mask = {"causal": True, "query_offset": 3 + 4, "key_lengths": 6, "padding_side": "left"}
    fields = {"Q": q[4:], "K": np.concatenate([filler, k]), "V": np.concatenate([filler, v])}
    padded = case_of(written(**fields, rope="half", mask=mask)).attend()
    np.testing.assert_allclose(padded.weights()[:, 3:], whole[4:], atol=1e-14)


@pytest.mark.parametrize("first", [2, 4], ids=["all-new-tokens", "the-last-two"])
def test_after_a_past(case_of, whole, first):
    """The case's own keys stand after the cached ones, which are turned already."""
    q, k, v = SEQUENCE
    past = {"K": rotate(k, rope=case_of(written(Q=q, K=k, V=v, rope="half")).placement.rope)[:2].tolist()}
    fields = {"Q": q[first:], "K": k[2:], "V": v[2:], "past": past | {"V": v[:2].tolist()}}
    after = case_of(written(**fields, rope="half", mask={"causal": True, "query_offset": first})).attend()
    np.testing.assert_allclose(after.weights(), whole[first:], atol=1e-14)


def test_as_many_queries_as_keys_that_stand_elsewhere(case_of):
    """Query 1 at position 3, key 1 at position 0: both are turned by what the mask says, not by their index."""
    q, k, v = SEQUENCE
    moved = case_of(written(Q=q[3:], K=k[:3], V=v[:3], rope="interleaved", mask={"query_offset": 3})).attend()
    every = case_of(written(Q=q, K=k, V=v, rope="interleaved")).attend()
    np.testing.assert_allclose(moved.scores(), every.scores()[3:, :3], atol=1e-14)
