"""Usual calls are prepared once: whoever calls again must not be able to tell, not even by a mistake."""

import gc
import weakref
from dataclasses import FrozenInstanceError, fields, replace
from unittest.mock import ANY

import numpy as np
import pytest
from attention.oracles import longdouble_attention, normal

from sdpa_cli.attention import EmptyRowsError, Mask, NonFiniteScoreError, Window, attend, remembering
from sdpa_cli.attention.inputs import prepare
from sdpa_cli.attention.options import Options
from sdpa_cli.errors import InputError


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    known = {}
    monkeypatch.setattr(remembering, "_known", known)
    return known


def arrays(seed=1, dtype=np.float32):
    return normal(seed, (2, 4, 20, 8), (2, 2, 20, 8), (2, 2, 20, 5), dtype=dtype)


@pytest.mark.parametrize("mask", [None, Mask(), Mask(causal=True)], ids=["none", "empty", "causal"])
def test_the_second_call_of_a_kind_is_as_the_first(mask, nothing_known):
    first, second = arrays(1), arrays(2)
    attend(*first, mask=mask)
    assert len(nothing_known) == 1
    result = attend(*second, mask=mask)
    assert len(nothing_known) == 1
    fresh = prepare(dict(zip("QKV", second, strict=True)), mask, None, Options())
    for name, value in vars(fresh).items():
        again = getattr(result.inputs, name)
        if isinstance(value, np.ndarray):
            assert np.shares_memory(again, value)
            assert again.shape == value.shape
        elif name not in ("rule", "options"):
            assert again == value, name
    assert vars(result.inputs.rule) == vars(fresh.rule)
    assert vars(result.inputs.options) == vars(fresh.options)
    exact = longdouble_attention(*(np.repeat(x, 4 // x.shape[1], axis=1) for x in second), forbidden=result.forbidden())
    np.testing.assert_allclose(result.output, exact, atol=1e-5)


def test_whatever_else_decides_is_a_kind_of_its_own(nothing_known):
    q, k, v = arrays()
    calls = [
        ((q, k, v), {}),
        ((q, k, v), {"threads": 1}),
        ((q, k, v), {"mask": Mask(causal=True)}),
        ((q.astype(np.float64), k, v), {}),
        ((q, k, v.astype(np.float16)), {}),
        ((q, k[:, :1], v[:, :1]), {}),
        ((q[:, :, :7], k, v), {}),
        ((q[0], k[0, [0, 0, 1, 1]], v[0, [0, 0, 1, 1]]), {}),
    ]
    for number, (given, settings) in enumerate(calls, 1):
        for _ in range(2):
            result = attend(*given, **settings)
            assert result.output.shape == (*given[0].shape[:-1], 5)
            assert len(nothing_known) == number
    assert attend(q.astype(np.float64), k, v).dtype == np.float64


@pytest.mark.parametrize(
    "settings",
    [
        {"mask": np.zeros((20, 20), bool)},
        {"mask": Mask(window=Window(3, 3))},
        {"mask": Mask(key_lengths=[20, 3])},
        {"mask": Mask(causal=True, query_offset=0)},
        {"mask": Mask(segments=[0] * 10 + [1] * 10)},
        {"mask": Mask(stride=2)},
        {"mask": Mask(global_tokens=[0], window=Window(1, 1))},
        {"mask": Mask(forbidden=np.zeros((20, 20), bool))},
        {"bias": np.zeros((20, 20))},
        {"scale": 1.0},
        {"softcap": 2.0},
        {"alibi": True},
        {"block_size": 4},
        {"empty_rows": "zero"},
        {"nonfinite": "propagate"},
    ],
    ids=str,
)
def test_what_is_not_usual_is_neither_kept_nor_taken_for_it(settings, nothing_known):
    usual = attend(*arrays())
    assert len(nothing_known) == 1
    given = attend(*arrays(), **settings)
    assert len(nothing_known) == 1
    np.testing.assert_array_equal(attend(*arrays()).output, usual.output)
    name, value = next(iter(settings.items()))
    assert name in ("mask", "bias") or getattr(given.inputs.options, name) == value


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": True},
        {"threads": 0},
        {"block_size": True},
        {"mask": Mask(causal=1)},
        {"mask": Mask(padding_side="left")},
        {"mask": Mask(padding_side=ANY)},
        {"mask": Mask(padding_side=np.array(["right", "left"]))},
        {"empty_rows": np.array(["error", "zero"])},
        {"mask": [[True]]},
        {"empty_rows": "none"},
        {"scale": "1"},
    ],
    ids=str,
)
def test_a_mistake_is_refused_after_a_call_that_it_resembles(settings, nothing_known):
    for threads in (None, 1):
        for mask in (None, Mask(), Mask(causal=True)):
            attend(*arrays(), threads=threads, mask=mask)
    before = len(nothing_known)
    for _ in range(2):
        with pytest.raises(InputError):
            attend(*arrays(), **settings)
    assert len(nothing_known) == before


def test_numbers_are_looked_at_every_time():
    q, k, v = arrays()
    attend(q, k, v)
    k[1, 0, 3] = np.nan
    with pytest.raises(NonFiniteScoreError):
        attend(q, k, v)


def test_empty_rows_are_refused_every_time():
    q, k, v = normal(1, (4, 3), (4, 3), (4, 2))
    for _ in range(2):
        with pytest.raises(EmptyRowsError):
            attend(q, k, v, mask=np.ones((4, 4), bool))


def test_masked_arrays_and_matrices_are_not_taken_for_plain_ones(nothing_known):
    q, k, v = normal(1, (4, 3), (4, 3), (4, 2))
    attend(q, k, v)
    with pytest.raises(InputError, match="masked"):
        attend(np.ma.array(q), k, v)
    assert len(nothing_known) == 1


def test_arrays_that_lie_otherwise_in_memory_are_as_good(nothing_known):
    q, k, v = arrays()
    usual = attend(q, k, v).output
    turned = [np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) for x in (q, k, v)]
    np.testing.assert_allclose(attend(*turned).output, usual, atol=1e-6)
    assert len(nothing_known) == 1


def test_nothing_of_the_caller_is_kept():
    q, k, v = arrays()
    gone = [weakref.ref(x) for x in (q, k, v)]
    attend(q, k, v)
    del q, k, v
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_only_so_many_kinds_are_kept(nothing_known, monkeypatch):
    monkeypatch.setattr(remembering, "_MOST", 5)
    for length in range(1, 20):
        attend(*normal(1, (length, 3), (length, 3), (length, 2)))
        assert 1 <= len(nothing_known) <= 5


@pytest.mark.parametrize("name", [field.name for field in fields(Mask)])
def test_a_mask_is_usual_only_if_each_part_is_known_to_be(name):
    """Whatever comes to be part of a mask."""
    q, k, v = arrays()
    assert remembering._kind(q, k, v, replace(Mask(), **{name: object()}), Options()) is None


@pytest.mark.parametrize("name", [field.name for field in fields(Options)])
def test_a_call_is_usual_only_if_each_setting_is_known_to_be(name):
    q, k, v = arrays()
    assert remembering._kind(q, k, v, None, replace(Options(), **{name: object()})) is None


def test_what_becomes_of_one_result_is_nothing_to_the_next_call():
    usual = attend(*arrays())
    usual.inputs.options.nonfinite = "propagate"
    with pytest.raises(FrozenInstanceError):
        usual.inputs.rule.causal = True
    with pytest.raises(FrozenInstanceError):
        usual.inputs.scale = 2.0
    again = attend(*arrays())
    assert again.inputs.options.nonfinite == "error"
    np.testing.assert_array_equal(again.output, usual.output)
