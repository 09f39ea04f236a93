"""Own threads: the same bits for any number, BLAS given back, and no call in the way of another."""

import _thread
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from attention.oracles import normal, random_mask
from threadpoolctl import threadpool_info, threadpool_limits

from sdpa_cli.attention import Mask, NonFiniteScoreError, Window, attend, threads
from sdpa_cli.attention.blas import one_blas_thread
from sdpa_cli.attention.threads import share
from sdpa_cli.cpus import usable_cpus

PROBLEMS = [
    pytest.param(((8, 300, 16), (8, 300, 16), (8, 300, 8)), Mask(causal=True), id="causal"),
    pytest.param(((2, 700, 16), (2, 900, 16), (2, 900, 8)), random_mask(1, (700, 900)), id="given"),
    pytest.param(((1, 900, 16), (1, 900, 16), (1, 900, 8)), Mask(window=Window(50, 50)), id="window"),
    pytest.param(((1, 3, 16), (1, 200_000, 16), (1, 200_000, 8)), None, id="few-queries-many-keys"),
    pytest.param(((2, 8, 1, 16), (2, 2, 40_000, 16), (2, 2, 40_000, 8)), None, id="grouped-decoding"),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shapes", "mask"), PROBLEMS)
def test_the_number_of_threads_changes_no_bit(shapes, mask, dtype):
    arrays = normal(1, *shapes, dtype=dtype)
    one = attend(*arrays, mask=mask, threads=1)
    for number in (2, 3, 7, None):
        many = attend(*arrays, mask=mask, threads=number)
        np.testing.assert_array_equal(many.output, one.output)
        np.testing.assert_array_equal(many.lse, one.lse)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_blas_is_held_at_one_thread_and_given_back():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread(), one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_blas_is_given_back_after_a_failure():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="score S"):
            attend(np.full((400, 4), np.nan), np.ones((400, 4)), np.ones((400, 4)))
        assert blas_threads() == before


def test_concurrent_calls_do_not_disturb_each_other():
    arrays = [normal(seed, (4, 200, 8), (4, 200, 8), (4, 200, 8)) for seed in range(6)]
    alone = [attend(*a).output for a in arrays]
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(6) as pool:
        before = blas_threads()
        together = list(pool.map(lambda a: attend(*a, threads=2).output, arrays * 3))
        assert blas_threads() == before
    for one, other in zip(alone * 3, together, strict=True):
        np.testing.assert_array_equal(other, one)


def test_as_many_threads_as_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 6}, raising=False)
    assert usable_cpus() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cpus() == 1


def test_every_task_is_done_once_in_order_of_taking():
    done = []
    share(range(20), done.append, 1)
    assert done == list(range(20))
    done.clear()
    share(range(200), done.append, 4)
    assert sorted(done) == list(range(200))


def test_the_first_failing_task_is_told_whoever_met_one_first():
    late = threading.Event()

    def do(task):
        if task == 0:
            late.wait(5)
            raise ValueError("first")
        late.set()
        raise ValueError("second")

    with pytest.raises(ValueError, match="first"):
        share(range(2), do, 2)


def test_after_a_failure_no_task_is_taken():
    taken = []

    def do(task):
        taken.append(task)
        raise ValueError(task)

    with pytest.raises(ValueError, match="0"):
        share(range(1000), do, 1)
    assert taken == [0]


def test_an_interrupt_ends_the_work_of_all_threads():
    begun, ended = [], []

    def do(task):
        begun.append(task)
        if threading.current_thread() is threading.main_thread():
            _thread.interrupt_main()
        ended.append(task)

    with pytest.raises(KeyboardInterrupt):
        share(range(10**6), do, 3)
    number = len(begun)
    assert number < 10**6
    share([0], lambda _: None, 1)
    assert len(begun) == number, "a thread went on"
    assert len(ended) >= number - 1, "a thread was not waited for"


def test_threads_and_their_memory_are_kept_between_calls():
    arrays = normal(3, (8, 300, 16), (8, 300, 16), (8, 300, 8))
    attend(*arrays, threads=3)
    before = set(threading.enumerate())
    for _ in range(5):
        attend(*arrays, threads=3)
    assert set(threading.enumerate()) <= before


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
@pytest.mark.parametrize("fails", [False, True], ids=["done", "failed"])
def test_each_thread_has_a_cpu_of_its_own_where_there_is_one_for_each(fails):
    cpus = os.sched_getaffinity(0)
    both, seen = threading.Barrier(len(cpus)), []

    def do(task):
        both.wait(5)
        seen.append(frozenset(os.sched_getaffinity(0)))
        if fails:
            raise ValueError(task)

    with pytest.raises(ValueError, match="0") if fails else nullcontext():
        share(range(len(cpus)), do, len(cpus))
    assert len(seen) == len(cpus)
    assert set(seen) == {frozenset({cpu}) for cpu in cpus}
    assert os.sched_getaffinity(0) == cpus, "the caller has its own back"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_where_there_are_more_threads_or_more_cpus_the_system_places_them():
    cpus, seen = os.sched_getaffinity(0), []
    for tasks, number in ((20, len(cpus) + 1), (len(cpus) + 1, 10**3), (1, len(cpus) + 1)):
        share(range(tasks), lambda _: seen.append(os.sched_getaffinity(0)), number)
    assert all(found == cpus for found in seen)


def test_where_the_system_forbids_it_threads_stay_where_they_are(monkeypatch):
    def forbidden(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden, raising=False)
    done = []
    share(range(50), done.append, usable_cpus())
    assert sorted(done) == list(range(50))


def test_calls_within_calls_each_find_a_helper():
    done = []

    def outer(task):
        share(range(3), lambda inner: done.append((task, inner)), 4)

    share(range(4), outer, 2)
    assert sorted(done) == [(task, inner) for task in range(4) for inner in range(3)]


def helpers():
    return [thread for thread in threading.enumerate() if thread.name == "attention"]


def meet(number):
    """So many tasks that each wait for all others."""
    barrier = threading.Barrier(number, timeout=10)
    return lambda _: barrier.wait()


def test_helpers_are_used_again():
    share(range(3), meet(3), 3)
    before = helpers()
    for _ in range(50):
        share(range(3), meet(3), 3)
    assert set(helpers()) <= set(before)


def test_no_more_helpers_are_kept_than_are_agreed(monkeypatch):
    share(range(5), meet(5), 5)
    idle = list(threads._waiting)
    monkeypatch.setattr(threads, "_MOST_WAITING", 1)
    share(range(5), meet(5), 5)
    gone = [helper for helper in idle if helper not in threads._waiting]
    for helper in gone:
        helper.join(timeout=10)
    assert len(gone) >= 3
    assert not any(helper.is_alive() for helper in gone)


def test_a_helper_that_does_not_come_is_not_waited_for_and_is_asked_again(monkeypatch):
    """On a busy machine it may not get a CPU before all is done."""
    held, asleep = threading.Lock(), threads._Helper.run
    monkeypatch.setattr(threads._Helper, "run", lambda helper: (held.acquire(), held.release(), asleep(helper)))
    monkeypatch.setattr(threads, "_waiting", [])
    with held:
        for _ in range(5):
            done = []
            share(range(20), done.append, 3)
            assert done == list(range(20))
        late = list(threads._waiting)
        assert len(late) == 2
    share(range(3), meet(3), 3)
    assert set(threads._waiting) == set(late), "and do what is asked of them then, and nothing of before"


@pytest.mark.parametrize("lost", [False, True], ids=["waiting", "lost to an interrupt"])
def test_a_helper_with_nothing_to_do_ends(lost, monkeypatch):
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.02)
    monkeypatch.setattr(threads, "_waiting", [])
    share(range(3), meet(3), 3)
    idle = list(threads._waiting)
    if lost:
        threads._waiting.clear()
    for helper in idle:
        helper.join(timeout=10)
    assert not any(helper.is_alive() for helper in idle)
    assert threads._waiting == []
    share(range(3), meet(3), 3)


def test_a_helper_that_has_ended_is_not_asked(monkeypatch):
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.02)
    monkeypatch.setattr(threads, "_waiting", [])
    share(range(2), meet(2), 2)
    ended = list(threads._waiting)
    for helper in ended:
        helper.join(timeout=10)
    threads._waiting.extend(ended)
    share(range(3), meet(3), 3)


def test_where_no_thread_can_be_started_the_caller_does_it_all(monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_waiting", [])
    monkeypatch.setattr(threads._Helper, "start", refused)
    done = []
    share(range(20), done.append, 3)
    assert done == list(range(20))


def test_a_waiting_helper_keeps_nothing_alive():
    array = np.ones(1000)
    gone = weakref.ref(array)
    wait = meet(2)
    share([array, array], lambda task: (wait(None), task.sum()), 2)
    del array
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("length", [40, 700], ids=["small", "large"])
def test_a_refusal_that_is_forgotten_keeps_nothing_alive(length):
    q, k, v = normal(2, (2, length, 8), (2, length, 8), (2, length, 8))
    k[1, -1] = np.nan
    gone = [weakref.ref(array) for array in (q, k, v)]
    gc.disable()
    try:
        with suppress(NonFiniteScoreError):
            attend(q, k, v, threads=2)
        del q, k, v
        assert [ref() for ref in gone] == [None] * 3
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "shape",
    [(1, 16384, 1, 1), (1, 16000, 3, 2), (1, 12000, 8, 1), (1, 128, 1000, 1), (1, 128, 1, 1000), (100, 1300, 1, 1),
     (1300, 100, 1, 1), (16, 16, 64, 64), (64, 64, 64, 64)],
    ids=str,
)  # fmt: skip
def test_the_number_of_blas_threads_changes_no_bit_of_a_small_problem(shape):
    rows, keys, depth, d_v = shape
    q, k, v = normal(4, (8, rows, depth), (8, keys, depth), (8, keys, d_v))
    results = []
    for number in (1, 2, 4):
        with threadpool_limits(number, user_api="blas"):
            results += [attend(q[:1], k[:1], v[:1]), attend(q, k, v)]
    for result in results[2:]:
        first = results[len(result.output) > 1]
        np.testing.assert_array_equal(result.output, first.output)
        np.testing.assert_array_equal(result.lse, first.lse)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_computes_and_has_its_blas_back():
    q, k, v = normal(2, (8, 200, 8), (8, 200, 8), (8, 200, 8))
    expected = attend(q, k, v, threads=2).output
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            child = os.fork()
            if child == 0:
                same = blas_threads() == before and np.array_equal(attend(q, k, v, threads=2).output, expected)
                os._exit(0 if same else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
