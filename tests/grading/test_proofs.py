"""Proofs by blocks: any topological order is right, and nothing wrong is worth more than something missing."""

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.grading.proofs import Proof, score, smallest_cover, standing

F1 = Proof(
    {
        "a1": (),
        "a2": (),
        "a3": (),
        "p1": ("a1", "a2", "a3"),
        "p2": ("a1", "a3"),
        "p3": ("p1", "p2"),
        "x1": (),
        "c1": ("p3", "x1"),
    },
    ("a4", "c2", "p4"),
)
RIGHT = ["a1", "a2", "a3", "p1", "p2", "p3", "x1", "c1"]


@st.composite
def proofs(draw):
    """A graph of up to seven blocks, each resting on earlier ones, and an order in which all rest on earlier ones."""
    count = draw(st.integers(1, 7))
    blocks = [f"b{i}" for i in range(count)]
    needs = {b: tuple(draw(st.sets(st.sampled_from(blocks[:i]))) if i else ()) for i, b in enumerate(blocks)}
    return Proof(needs, ("x", "y")), blocks


@given(proofs(), st.randoms())
@settings(deadline=None, max_examples=60)
def test_every_topological_order_is_full_marks(made, random):
    proof, blocks = made
    order = []
    left = list(blocks)
    while left:
        ready = [block for block in left if set(proof.needs[block]) <= set(order)]
        order.append(random.choice(ready))
        left.remove(order[-1])
    assert score(proof, order) == 1
    assert standing(proof, order) == len(order)


@given(proofs(), st.data())
@settings(deadline=None, max_examples=60)
def test_only_topological_orders_are_full_marks(made, data):
    proof, blocks = made
    order = data.draw(st.permutations([*blocks, "x", "y"]).map(lambda p: p[: data.draw(st.integers(0, len(p)))]))
    right = set(order) == set(blocks) and standing(proof, order) == len(blocks)
    assert (score(proof, order) == 1) == right


@given(proofs(), st.data())
@settings(deadline=None, max_examples=60)
def test_a_distractor_costs_more_than_a_missing_block(made, data):
    proof, blocks = made
    order = data.draw(st.permutations(blocks))
    place = data.draw(st.integers(0, len(order)))
    with_distractor = score(proof, [*order[:place], "x", *order[place:]])
    assert with_distractor <= score(proof, order)
    right_without_one = score(proof, blocks[:-1])
    assert score(proof, [*blocks, "x"]) < right_without_one or right_without_one == 0


def brute_force_cover(pairs):
    blocks = sorted({block for pair in pairs for block in pair})
    sizes = range(len(blocks) + 1)
    return next(n for n in sizes for chosen in combinations(blocks, n) if all(set(chosen) & set(p) for p in pairs))


@given(
    st.sets(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")).filter(lambda p: p[0] < p[1]), max_size=12
    )
)
@settings(deadline=None, max_examples=100)
def test_the_cover_is_the_smallest(pairs):
    assert smallest_cover(pairs) == brute_force_cover(pairs)


def test_the_cover_of_fifteen_blocks_in_reverse_is_found_at_once():
    blocks = [f"b{i:02}" for i in range(15)]
    assert smallest_cover(combinations(blocks, 2)) == 14


@pytest.mark.parametrize(
    ("order", "worth", "stands"),
    [
        (RIGHT, 1, 8),
        (["x1", *RIGHT[:6], "c1"], 1, 8),
        ([], 0, 0),
        (RIGHT[:-1], 7 / 8, 7),
        ([*RIGHT, "a4"], 6 / 8, 8),
        ([*RIGHT, "a4", "c2", "p4"], 2 / 8, 8),
        (["a4", "c2", "p4"], 0, 0),
        # c1 first: it goes out and comes back in at its place.
        (["c1", *RIGHT[:-1]], 6 / 8, 0),
        (["a1", "p1", "a2", "a3", "p2", "p3", "x1", "c1"], 6 / 8, 1),
        (RIGHT[::-1], 0, 0),
    ],
    ids=[
        "right",
        "x1 first",
        "empty",
        "one missing",
        "one false",
        "all false",
        "only false",
        "end first",
        "one early",
        "reversed",
    ],
)
def test_scores_by_hand(order, worth, stands):
    assert score(F1, order) == pytest.approx(worth)
    assert standing(F1, order) == stands


def test_no_order_of_a_small_proof_beats_the_right_one():
    proof = Proof({"a": (), "b": ("a",), "c": ("b",)})
    assert [order for order in permutations("abc") if score(proof, order) == 1] == [("a", "b", "c")]


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"a": ("a",)}, "a rests on itself"),
        ({"a": ("b",)}, "a rests on b"),
        ({"a": ("b",), "b": ("a",)}, "rests on itself"),
    ],
    ids=["itself", "unknown", "circle"],
)
def test_a_graph_that_is_no_proof_is_refused(needs, message):
    with pytest.raises(ValueError, match=message):
        Proof(needs).ancestors()
