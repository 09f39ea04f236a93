"""Bombs: whatever a small file unfolds to, reading it stays within its budgets of events and memory."""

import tracemalloc

import pytest

from sdpa_cli.cases import cursor, kinds, load_cases
from sdpa_cli.errors import InputError

KV = "K: [[1, 0]]\nV: [[1, 0]]\n"


def laughs(width, depth):
    """Each level repeats the one before `width` times."""
    levels = [f"&a0 [{', '.join('1' * width)}]"]
    levels += [f"&a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, depth)]
    return "Q:\n" + "".join(f"- {level}\n" for level in levels) + KV


BOMBS = {
    "aliases": laughs(10, 9),
    "wide aliases": f"Q:\n- &row [{', '.join(['1'] * 100)}]\n" + "- *row\n" * 5000 + KV,
    "brackets": "[" * 100_000,
    "brackets in a field": f"Q: {'[' * 100_000}",
    "braces": "{" * 100_000,
    "dashes": "- " * 100_000,
    "question marks": "? " * 100_000,
    "closed brackets": f"Q: {'[' * 900}{']' * 900}\n{KV}",
    "anchors": f"Q: [[{', '.join(f'&a{i} 1' for i in range(30_000))}]]\n{KV}",
    "deep anchors": "Q: " + "".join(f"&a{i} [" for i in range(60)) + "1" + "]" * 60 + f"\n{KV}",
    "keys": "".join(f"key{i}: 1\n" for i in range(50_000)),
    "one key": "key: 1\n" * 50_000,
    "words": f"Q: [[{'x, ' * 50_000}x]]\n{KV}",
    "ragged rows": f"Q: [{'[1], [1, 2], ' * 5_000}[1]]\n{KV}",
    "a long word": f"Q: [[{'1' * 1_000_000}]]\n{KV}",
    "a long line of problems": f"Q: [[{'1, ' * 50_000}x, y, z]]\n{KV}",
    "labels": f"tokens: [{'a, ' * 30_000}a]\n",
}


@pytest.fixture(autouse=True)
def tight_budgets(monkeypatch):
    """A tenth of the real budgets and less, so that running into them takes no time."""
    monkeypatch.setattr(cursor, "MAX_ANCHORED", 25_000)
    monkeypatch.setattr(cursor, "MAX_REPLAYED", 100_000)
    monkeypatch.setattr(cursor, "MAX_EVENTS", 100_000)
    monkeypatch.setattr(kinds, "MAX_ITEMS", 20_000)


@pytest.fixture
def counted(monkeypatch):
    """Counts the events that are read."""
    count = [0]

    class Counting(cursor.PARSER):
        def get_event(self):
            count[0] += 1
            return super().get_event()

    monkeypatch.setattr(cursor, "PARSER", Counting)
    return count


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_within_bounds(here, counted, bomb):
    (here / "case.yaml").write_text(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            load_cases(["case.yaml"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(caught.value.problems) <= 21
    assert counted[0] <= 200_000
    assert peak < 64 * 2**20


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wide aliases", "aliases repeat more than 100000 values"),
        ("anchors", "more than 25000 values stand under anchors"),
        ("dashes", "lists and mappings are nested more than 64 deep"),
        ("labels", "tokens holds more than 20000 items"),
        ("closed brackets", "Q has more than 4 axes"),
    ],
)
def test_a_bomb_is_named(here, name, message):
    (here / "case.yaml").write_text(BOMBS[name])
    with pytest.raises(InputError) as caught:
        load_cases(["case.yaml"])
    assert message in [problem.message for problem in caught.value.problems]


def test_too_many_values_are_refused(here):
    (here / "case.yaml").write_text(f"Q: [[{'1, ' * 100_000}1]]\n{KV}")
    with pytest.raises(InputError, match="there are more than 100000 values here"):
        load_cases(["case.yaml"])


def test_a_long_row_is_read_in_little_memory(here):
    (here / "case.yaml").write_text(f"Q: [[{'1, ' * 90_000}1]]\nK: [[1]]\nV: [[1]]\n")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="K has d_k = 1, Q has d_k = 90001"):
            load_cases(["case.yaml"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * 2**20
