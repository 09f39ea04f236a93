"""The mask rule agrees with itself: cells, reasons, counts, ranges and the verdict on a tile."""

import numpy as np
import pytest
from attention.oracles import normal
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.attention.liveness import has_live_key
from sdpa_cli.attention.regions import Verdict
from sdpa_cli.attention.rule import MaskRule
from sdpa_cli.attention.tiles import tiles

reach = st.none() | st.integers(0, 6)
rules = st.builds(
    MaskRule,
    keys=st.just(7),
    offset=st.integers(-4, 8),
    causal=st.booleans(),
    window=st.none() | st.builds(Window, reach, reach),
    lengths=st.none() | st.integers(0, 7).map(lambda n: np.full((1, 1, 1), n)),
    given=st.none()
    | st.lists(st.booleans(), min_size=35, max_size=35).map(lambda cells: np.reshape(cells, (1, 1, 1, 5, 7))),
)


def cell_by_cell(rule):
    """The mask's definition, one cell at a time."""
    cells = np.zeros((5, 7), bool)
    for i, j in np.ndindex(cells.shape):
        position = rule.offset + i
        left = rule.window.left if rule.window else None
        right = rule.window.right if rule.window else None
        cells[i, j] = (
            (rule.causal and j > position)
            or (left is not None and j < position - left)
            or (right is not None and j > position + right)
            or (rule.lengths is not None and j >= rule.lengths[0, 0, 0])
            or (rule.given is not None and rule.given[0, 0, 0, i, j])
        )
    return cells


@given(rules)
@settings(deadline=None, max_examples=200)
def test_one_rule(rule):
    cells = cell_by_cell(rule)
    rows, cols = np.arange(5), np.arange(7)
    full = np.broadcast_to(rule.forbidden(rows, cols), (1, 1, 1, 5, 7))[0, 0, 0]
    np.testing.assert_array_equal(full, cells)
    some, others = np.array([4, 0]), np.array([6, 2, 2])
    np.testing.assert_array_equal(
        np.broadcast_to(rule.forbidden(some, others), (1, 1, 1, 2, 3))[0, 0, 0], cells[np.ix_(some, others)]
    )
    np.testing.assert_array_equal(np.broadcast_to(rule.live_counts(rows), (1, 1, 1, 5))[0, 0, 0], (~cells).sum(-1))
    alive = np.broadcast_to(has_live_key(rule, 5), (1, 1, 1, 5))[0, 0, 0]
    np.testing.assert_array_equal(alive, ~cells.all(-1))
    np.testing.assert_array_equal(rule.forbidden(slice(1, 4), slice(2, 7)), rule.forbidden(rows[1:4], cols[2:7]))


@given(rules, st.integers(1, 7), st.integers(0, 4), st.integers(1, 5))
@settings(deadline=None, max_examples=300)
def test_tiles_tell_the_truth(rule, keys, first, count):
    cells = cell_by_cell(rule)
    rows = slice(first, min(5, first + count))
    seen = []
    for tile in tiles(rule, rows, keys):
        seen += range(tile.cols.start, tile.cols.stop)
        assert rows.start <= tile.rows.start <= tile.rows.stop <= rows.stop
        assert tile.rows.start <= tile.mixed.start <= tile.mixed.stop <= tile.rows.stop or tile.mixed == slice(0, 0)
        beyond = [i for i in range(rows.start, rows.stop) if not tile.rows.start <= i < tile.rows.stop]
        assert cells[beyond, tile.cols].all()
        calm = [i for i in range(tile.rows.start, tile.rows.stop) if not tile.mixed.start <= i < tile.mixed.stop]
        assert tile.verdict is Verdict.FORBIDDEN or not cells[calm, tile.cols].any()
        assert tile.verdict is not Verdict.FORBIDDEN or cells[rows, tile.cols].all()
        assert tile.verdict is not Verdict.ALLOWED or not cells[tile.rows, tile.cols].any()
    assert seen == list(range(7))


FORBIDDEN, MIXED, ALLOWED = Verdict.FORBIDDEN, Verdict.MIXED, Verdict.ALLOWED


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        pytest.param(Mask(causal=True), [(0, 2, ALLOWED), (2, 4, MIXED), (4, 8, FORBIDDEN)], id="causal"),
        pytest.param(Mask(window=Window(2, 0)), [(0, 2, MIXED), (2, 4, MIXED), (4, 8, FORBIDDEN)], id="window"),
        pytest.param(Mask(window=Window(0, 0)), [(0, 2, FORBIDDEN), (2, 4, MIXED), (4, 8, FORBIDDEN)], id="diagonal"),
        pytest.param(
            Mask(key_lengths=5), [(0, 2, ALLOWED), (2, 4, ALLOWED), (4, 5, ALLOWED), (5, 8, FORBIDDEN)], id="padding"
        ),
        pytest.param(
            np.arange(8) >= np.full((8, 1), 4),
            [(0, 2, ALLOWED), (2, 4, ALLOWED), (4, 6, FORBIDDEN), (6, 8, FORBIDDEN)],
            id="given",
        ),
    ],
)
def test_forbidden_tiles_are_known_as_such(mask, expected):
    """Queries 2 and 3 of 8, two keys per tile."""
    x = np.ones((8, 1))
    found = tiles(attend(x, x, x, mask=mask).inputs.rule, slice(2, 4), 2)
    assert [(tile.cols.start, tile.cols.stop, tile.verdict) for tile in found] == expected


@pytest.mark.parametrize(
    ("offset", "live"), [pytest.param(0, [1, 2], id="top-left"), pytest.param(2, [3, 4], id="bottom-right")]
)
def test_causal_rectangles(offset, live):
    q, k = np.ones((2, 1)), np.ones((4, 1))
    forbidden = attend(q, k, k, mask=Mask(causal=True, query_offset=offset)).forbidden()
    np.testing.assert_array_equal((~forbidden).sum(-1), live)


def test_reasons_name_the_rules():
    q, k, v = normal(1, (3, 2), (3, 2), (3, 2))
    given_cells = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 1]], bool)
    mask = Mask(causal=True, window=Window(left=1), key_lengths=2, forbidden=given_cells)
    reasons = attend(q, k, v, mask=mask).reasons()
    assert {name: cells.astype(int).tolist() for name, cells in reasons.items()} == {
        "causal": [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
        "window": [[0, 0, 0], [0, 0, 0], [1, 0, 0]],
        "padding": [[0, 0, 1], [0, 0, 1], [0, 0, 1]],
        "given": [[0, 1, 0], [0, 0, 0], [0, 0, 1]],
    }
