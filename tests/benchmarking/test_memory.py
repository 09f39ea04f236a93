"""What the operating system says of memory."""

import sys

import numpy as np
import pytest

from sdpa_cli.benchmarking import memory

MIB = 1 << 20
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux_only
def test_a_peak_is_seen_though_it_is_gone_when_the_call_returns():
    def call():
        np.ones(64 * MIB, np.uint8)
        return "done"

    result, peak, method = memory.measured(call)
    assert result == "done"
    assert 63 * MIB <= peak <= 80 * MIB
    assert method == "resident high-water mark, reset before the call"


@linux_only
def test_what_was_there_before_does_not_count():
    held = np.ones(64 * MIB, np.uint8)
    _, peak, _ = memory.measured(lambda: None)
    assert held[-1] == 1
    assert peak < 8 * MIB


def test_where_the_mark_cannot_be_reset_its_growth_is_told(monkeypatch, tmp_path):
    pytest.importorskip("resource")
    monkeypatch.setattr(memory, "_CLEAR", tmp_path / "nowhere" / "clear_refs")
    _, peak, method = memory.measured(lambda: None)
    assert peak >= 0
    assert method == "growth of the process's resident high-water mark, which cannot be reset here"


@pytest.mark.parametrize(
    ("most", "used", "free"),
    [("1000000", "400000", 600000), ("max", "400000", 3 << 20), ("99999999999", "0", 3 << 20)],
    ids=["container's limit", "no limit", "limit above the machine's memory"],
)
def test_the_tighter_limit_counts(monkeypatch, tmp_path, most, used, free):
    (tmp_path / "memory.max").write_text(f"{most}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    (tmp_path / "meminfo").write_text("MemTotal:  4096 kB\nMemAvailable:  3072 kB\n")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    assert memory.available() == free
    assert memory.total() == 4 << 20


def test_unknown_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    assert memory.available() is None
    assert memory.total() is None
