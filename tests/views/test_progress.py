import io
import threading
import time

import pytest

from sdpa_cli.views import progress
from sdpa_cli.views.progress import waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def stderr(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)

    def become(stream):
        monkeypatch.setattr("sys.stderr", stream)
        return stream

    return become


def until(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_long_work_shows_a_sign_of_life_and_leaves_no_trace(stderr):
    terminal = stderr(Terminal())
    with waiting("computing [1]"):
        until(lambda: "computing [1]" in terminal.getvalue())
    assert "computing [1]" in terminal.getvalue()
    # The line is erased and the cursor shown again.
    assert terminal.getvalue().endswith("\x1b[2K")
    assert "\x1b[?25h" in terminal.getvalue()


def test_it_shows_how_far_the_work_is(stderr):
    terminal = stderr(Terminal())
    with waiting("computing") as tell:
        until(lambda: "computing" in terminal.getvalue())
        assert "%" not in terminal.getvalue(), "which is not known at first"
        tell(3, 4)
        until(lambda: "75%" in terminal.getvalue())
    assert "75%" in terminal.getvalue()


def test_short_work_shows_nothing(stderr, monkeypatch):
    terminal = stderr(Terminal())
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 60)
    with waiting("computing"):
        pass
    assert terminal.getvalue() == ""


def test_nothing_is_shown_but_on_a_terminal(stderr):
    pipe = stderr(io.StringIO())
    before = threading.active_count()
    with waiting("computing") as tell:
        tell(1, 2)
        assert threading.active_count() == before
    assert pipe.getvalue() == ""


def test_an_interruption_ends_it(stderr):
    stderr(Terminal())
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt), waiting("computing"):
        raise KeyboardInterrupt
    assert threading.active_count() == before
