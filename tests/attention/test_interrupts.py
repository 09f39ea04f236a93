"""An interrupt wherever Python looks for one: whatever was taken for a while is given back."""

import dis
import itertools
import os
import sys
import threading
from functools import cache

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sdpa_cli import cpus
from sdpa_cli.attention import blas
from sdpa_cli.attention.blas import one_blas_thread
from sdpa_cli.cpus import kept_to


@cache
def looks(code):
    """Where Python looks whether it is interrupted: as a function begins, after a call, and on its way back."""
    instructions = list(dis.get_instructions(code))
    called = [after.offset for before, after in itertools.pairwise(instructions) if before.opname.startswith("CALL")]
    return {*called, *(step.offset for step in instructions if step.opname in ("RESUME", "JUMP_BACKWARD"))}


def interrupted(call, step, then=lambda: None):
    """Whether the call came so far that it could be interrupted, at that look of its own or of what it holds by."""
    files, steps = {blas.__file__, cpus.__file__, __file__}, itertools.count()

    def trace(frame, event, _):
        if frame.f_code.co_filename not in files or frame.f_code is interrupted.__code__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in looks(frame.f_code) and next(steps) == step:
            raise KeyboardInterrupt  # which ends the tracing
        return trace

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        call()
    except KeyboardInterrupt:
        then()
        return True
    finally:
        sys.settrace(before)
    return False


def interruptions(call, then=lambda: None):
    """Interrupt a call everywhere it can be, one place after the other, and do something before that is forgotten."""
    for step in itertools.count():
        happened = interrupted(call, step, then)
        yield step
        if not happened:
            assert step > 5, "there is more to interrupt than that"
            return


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def held():
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert set(blas_threads_at_once()) == {1}


def blas_threads_at_once():
    return [library.get_num_threads() for library in blas._blas().lib_controllers]


def test_blas_has_its_threads_back():
    blas_threads_at_once()
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        for step in interruptions(held):
            assert blas_threads() == before, step
            assert not one_blas_thread._open, step
            assert not one_blas_thread._taken, step
            assert not one_blas_thread._lock._is_owned(), step
        held()
        assert blas_threads() == before


def test_blas_is_held_while_an_earlier_interrupt_is_remembered():
    """As the interactive interpreter remembers the last one."""
    blas_threads_at_once()
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        for step in interruptions(held, then=held):
            assert blas_threads() == before, step


def test_what_others_hold_is_not_given_back_by_an_interrupt():
    blas_threads_at_once()
    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            for step in interruptions(held):
                assert set(blas_threads_at_once()) == {1}, step
        assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_a_thread_has_its_cpus_back():
    before = os.sched_getaffinity(0)
    one = {min(before)}

    def kept():
        with kept_to(one):
            assert os.sched_getaffinity(0) == one

    for step in interruptions(kept):
        assert os.sched_getaffinity(0) == before, step
        assert not kept_to._open, step


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_a_thread_has_its_cpus_back_by_whoever_lets_go():
    before, seen = os.sched_getaffinity(0), []
    one = {min(before)}
    holder = [kept_to(one)]
    holder[0].__enter__()
    thread = threading.Thread(target=lambda: (holder.clear(), seen.append(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    assert seen == [one], "as it was begun"
    assert os.sched_getaffinity(0) == before
