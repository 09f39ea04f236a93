"""How often an attempt asks again: a submission that ends its process is asked twice, and then no more."""

from contextlib import closing

import pytest

from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.handed_in import HandedIn
from sdpa_cli.sandbox import Kind, Outcome


class Box:
    """A sandbox in which calls end as they are told to, one after another."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.opened = 0

    def open(self, files, *, limits):
        self.opened += 1
        return self

    load = Outcome(Kind.RETURNED)

    def call(self, name, positional, named):
        return Outcome(self.ends.pop(0))

    def close(self):
        pass


@pytest.fixture
def asked(exercise):
    """Ask for four cases; gives how each call ended, and how many processes there were."""
    cases = [case for check in exercise("F3").checks for case in getattr(check.rule, "cases", ())]
    four = list({id(case): case for case in cases}.values())[:4]

    def run(*ends, hurried=False):
        box = Box(*ends)
        with closing(Attempt(exercise("F3"), HandedIn({"attention.py": b""}), box, hurried=hurried)) as attempt:
            found = [attempt.call(case).kind for case in four]
        assert not box.ends
        return found, box.opened

    return run


@pytest.mark.parametrize("kind", [Kind.EXITED, Kind.CRASHED, Kind.FLOODED, Kind.TOO_BIG, Kind.GARBLED])
def test_after_two_ends_of_its_process_nothing_more_is_asked(asked, kind):
    assert asked(kind, kind) == ([kind, kind, Kind.GONE, Kind.GONE], 2)


@pytest.mark.parametrize("kind", [Kind.RETURNED, Kind.RAISED, Kind.MISSING])
def test_what_ends_no_process_is_asked_on(asked, kind):
    assert asked(*[kind] * 4) == ([kind] * 4, 1)


TIMEOUTS = {
    "a busy machine": ((Kind.TIMEOUT, *[Kind.RETURNED] * 4), [Kind.RETURNED] * 4, 2),
    "twice": ((Kind.TIMEOUT, Kind.TIMEOUT), [Kind.TIMEOUT, Kind.GONE, Kind.GONE, Kind.GONE], 2),
    "after another end": ((Kind.EXITED, Kind.TIMEOUT), [Kind.EXITED, Kind.TIMEOUT, Kind.GONE, Kind.GONE], 2),
}


@pytest.mark.parametrize(("ends", "found", "processes"), TIMEOUTS.values(), ids=TIMEOUTS)
def test_a_first_timeout_is_tried_once_more(asked, ends, found, processes):
    assert asked(*ends) == (found, processes)


def test_in_a_hurry_a_timeout_is_the_end(asked):
    assert asked(Kind.TIMEOUT, hurried=True) == ([Kind.TIMEOUT, *[Kind.GONE] * 3], 1)
