"""Parts of a problem through any executor: travelling small, merged to the local result."""

import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from attention.oracles import normal, random_mask

from sdpa_cli.attention import EmptyRowsError, Mask, NonFiniteScoreError, Window, attend, tiles
from sdpa_cli.attention.shipping import MappedArray, opened, packed


class Postman(Executor):
    """Runs everything at once, but only after a trip through pickle, and notes what the trip weighs."""

    def __init__(self):
        self.weights = []

    def submit(self, function, /, *args, **kwargs):
        letter = pickle.dumps((function, args, kwargs))
        self.weights.append(len(letter))
        function, args, kwargs = pickle.loads(letter)
        future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(function(*args, **kwargs))))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future


@pytest.fixture
def small_parts(monkeypatch):
    """So that small problems are cut along queries, keys and heads."""
    monkeypatch.setattr(tiles, "PART_ROWS", 64)
    monkeypatch.setattr(tiles, "PART_KEYS", 48)
    monkeypatch.setattr(tiles, "PART_SCORES", 1 << 13)


SHAPES = ((2, 4, 150, 8), (2, 2, 130, 8), (2, 2, 130, 5))
SETTINGS = [
    pytest.param({}, id="full"),
    pytest.param({"mask": Mask(causal=True, query_offset=0)}, id="causal"),
    pytest.param({"mask": Mask(window=Window(20, 3), query_offset=-10), "empty_rows": "zero"}, id="window-empty-rows"),
    pytest.param({"mask": Mask(key_lengths=[33, 130])}, id="padding"),
    pytest.param({"mask": random_mask(1, (1, 4, 150, 130))}, id="given"),
    pytest.param({"bias": normal(1, (150, 130))[0], "softcap": 2.0}, id="bias-and-cap"),
    pytest.param({"scale": 50.0}, id="hot"),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_parts_give_the_local_result(settings, small_parts):
    arrays = normal(2, *SHAPES)
    local, postman = attend(*arrays, **settings), Postman()
    apart = attend(*arrays, **settings, executor=postman)
    assert len(postman.weights) > 12
    np.testing.assert_allclose(apart.output, local.output, atol=1e-13)
    np.testing.assert_allclose(apart.lse, local.lse, atol=1e-13)
    np.testing.assert_allclose(apart.weights(), local.weights(), atol=1e-13)


def test_any_executor_gives_the_same_bits(small_parts):
    arrays = normal(3, *SHAPES)
    posted = attend(*arrays, executor=Postman())
    with ThreadPoolExecutor(3) as threads:
        threaded = attend(*arrays, executor=threads, threads=2)
    np.testing.assert_array_equal(threaded.output, posted.output)


def test_processes_and_mapped_files(tmp_path):
    q, k, v = normal(4, (1, 64, 8), (1, 40_000, 8), (1, 40_000, 4), dtype=np.float32)
    mapped = []
    for name, array in {"q": q, "k": k, "v": v}.items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    postman = Postman()
    posted = attend(*mapped, executor=postman)
    assert max(postman.weights) < 4000, "paths travel, not data"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        apart = attend(*mapped, executor=processes)
    np.testing.assert_array_equal(apart.output, posted.output)
    np.testing.assert_allclose(apart.output, attend(q, k, v).output, atol=1e-6)


def test_a_wild_score_is_named_in_the_whole(small_parts):
    q, k, v = normal(5, *SHAPES)
    q[1, 3, 140, 0] = np.inf
    k[1, 1, 120, 0] = np.nan
    with pytest.raises(NonFiniteScoreError) as caught:
        attend(q, k, v, executor=Postman())
    assert caught.value.index == (1, 2, 0, 120)


def test_empty_rows_are_known_before_anything_is_sent():
    postman = Postman()
    with pytest.raises(EmptyRowsError):
        attend(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), mask=Mask(key_lengths=0), executor=postman)
    assert postman.weights == []


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda a: a, id="whole"),
        pytest.param(lambda a: a[3:9, 2:5], id="slice"),
        pytest.param(lambda a: a[::2, ::-1], id="strided"),
        pytest.param(lambda a: a.T, id="transposed"),
        pytest.param(lambda a: np.broadcast_to(a[None], (4, 10, 6)), id="repeated"),
        pytest.param(lambda a: np.asarray(a).reshape(2, 5, 6)[1], id="plain-view"),
    ],
)
def test_mapped_views_travel_by_path(view, tmp_path):
    np.save(tmp_path / "a.npy", np.arange(60.0).reshape(10, 6))
    array = view(np.load(tmp_path / "a.npy", mmap_mode="r"))
    copy = pickle.loads(pickle.dumps(packed(array)))
    sent = getattr(copy, "array", copy)
    assert isinstance(sent, MappedArray)
    np.testing.assert_array_equal(opened(copy), array)


def test_private_copies_of_a_file_travel_by_value(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4))
    changed = np.load(tmp_path / "a.npy", mmap_mode="c")
    changed[0] = 1
    np.testing.assert_array_equal(opened(packed(changed)), [1, 0, 0, 0])


def test_a_repeated_mask_is_sent_once():
    mask = np.zeros((100, 100), bool)
    letter = pickle.dumps(packed(np.broadcast_to(mask, (8, 4, 16, 100, 100))))
    assert len(letter) < 2 * mask.size
