"""Whoever asks is told how far a long computation is."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest

from sdpa_cli.attention import Mask, attend

Q, K, V = np.random.default_rng(0).standard_normal((3, 8, 512, 16))
WAYS = {
    "one thread": {"threads": 1},
    "two threads": {"threads": 2},
    "causal": {"mask": Mask(causal=True)},
    "keys in blocks": {"block_size": 7},
}


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_each_part_is_told_of(settings):
    told = []
    attend(Q, K, V, progress=lambda *parts: told.append(parts), **settings)
    total = told[0][1]
    assert total > 1
    assert sorted(told) == [(done, total) for done in range(1, total + 1)]


def test_parts_of_an_executor_are_told_of_in_order():
    q = np.ones((9000, 2))
    told = []
    with ThreadPoolExecutor(2) as executor:
        attend(q, q[:4], q[:4], executor=executor, progress=lambda *parts: told.append(parts))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_it_changes_no_bit():
    watched = attend(Q, K, V, progress=lambda *_: None)
    np.testing.assert_array_equal(watched.output, attend(Q, K, V).output)


@pytest.mark.parametrize("executor", [nullcontext, lambda: ThreadPoolExecutor(2)], ids=["threads", "executor"])
def test_what_it_raises_ends_the_computation(executor):
    told, queries = [], np.ones((600_000, 2))

    def enough(done, total):
        told.append(done)
        raise StopIteration("enough")

    with executor() as used, pytest.raises(StopIteration, match="enough"):
        attend(queries, queries[:4], queries[:4], threads=1, executor=used, progress=enough)
    assert told == [1]
