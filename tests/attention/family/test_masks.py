"""Documents, strides, global tokens and left padding: parts of the one mask rule, and what they say of tiles."""

import numpy as np
import pytest
from attention.oracles import normal
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.attention.dense import dense
from sdpa_cli.attention.regions import Region, Verdict
from sdpa_cli.attention.tiles import tiles
from sdpa_cli.errors import InputError

QUERIES, KEYS = 5, 7
quick = settings(deadline=None, max_examples=150)
reach = st.none() | st.integers(0, 4)
windows = st.none() | st.builds(Window, reach, reach)
numbers = st.lists(st.integers(0, 2), min_size=KEYS, max_size=KEYS)


@st.composite
def masks(draw):
    """Any combination of everything a mask may say."""
    window, stride = draw(windows), draw(st.none() | st.integers(1, 4))
    sparse = window is not None or stride is not None
    cells = st.lists(st.booleans(), min_size=QUERIES * KEYS, max_size=QUERIES * KEYS)
    lengths = draw(st.none() | st.integers(0, KEYS))
    return Mask(
        causal=draw(st.booleans()),
        query_offset=draw(st.integers(0, KEYS - QUERIES)),
        window=window,
        key_lengths=lengths,
        padding_side="right" if lengths is None else draw(st.sampled_from(["right", "left"])),
        forbidden=draw(st.none() | cells.map(lambda c: np.reshape(c, (QUERIES, KEYS)))),
        segments=draw(st.none() | numbers | numbers.map(sorted)),
        stride=stride,
        global_tokens=draw(st.none() | st.lists(st.integers(0, KEYS - 1), max_size=2)) if sparse else None,
    )


def filler(mask, j):
    return j < KEYS - mask.key_lengths if mask.padding_side == "left" else j >= mask.key_lengths


def allowed(mask, i, j):
    """The definition of a mask, cell by cell."""
    p = mask.query_offset + i
    left, right = (mask.window.left, mask.window.right) if mask.window else (None, None)
    near = (left is None or j >= p - left) and (right is None or j <= p + right)
    in_reach = near
    if mask.stride is not None or mask.global_tokens is not None:
        tokens = mask.global_tokens or ()
        strided = mask.stride is not None and (p - j) % mask.stride == 0
        in_reach = (mask.window is not None and near) or strided or p in tokens or j in tokens
    return (
        in_reach
        and not (mask.causal and j > p)
        and not (mask.key_lengths is not None and filler(mask, j))
        and not (mask.forbidden is not None and mask.forbidden[i, j])
        and not (mask.segments is not None and mask.segments[p] != mask.segments[j])
    )


def rule_of(mask, queries=QUERIES, keys=KEYS):
    x = np.ones((keys, 1))
    return attend(x[:queries], x, x, mask=mask, empty_rows="zero").inputs.rule


@given(masks())
@quick
def test_one_rule(mask):
    rule = rule_of(mask)
    cells = np.array([[not allowed(mask, i, j) for j in range(KEYS)] for i in range(QUERIES)])
    rows, cols = np.arange(QUERIES), np.arange(KEYS)
    full = np.broadcast_to(rule.forbidden(rows, cols), (1, 1, 1, QUERIES, KEYS))[0, 0, 0]
    np.testing.assert_array_equal(full, cells)
    some, others = np.array([4, 0, 3]), np.array([6, 2, 2])
    picked = np.broadcast_to(rule.forbidden(some, others), (1, 1, 1, 3, 3))[0, 0, 0]
    np.testing.assert_array_equal(picked, cells[np.ix_(some, others)])
    counts = np.broadcast_to(rule.live_counts(some), (1, 1, 1, 3))[0, 0, 0]
    np.testing.assert_array_equal(counts, (~cells).sum(-1)[some])


@given(masks(), st.integers(1, 7), st.integers(0, 4), st.integers(1, 5))
@quick
def test_verdicts_are_true(mask, tile_keys, first, count):
    rule = rule_of(mask)
    rows = slice(first, min(QUERIES, first + count))
    cells = np.array([[not allowed(mask, i, j) for j in range(KEYS)] for i in range(QUERIES)])
    for tile in tiles(rule, rows, tile_keys):
        part = cells[rows, tile.cols]
        assert tile.verdict is not Verdict.FORBIDDEN or part.all()
        assert tile.verdict is not Verdict.ALLOWED or not cells[tile.rows, tile.cols].any()
        untouched = [i for i in range(rows.start, rows.stop) if not tile.rows.start <= i < tile.rows.stop]
        assert cells[untouched, tile.cols].all()


@given(masks(), st.integers(0, 4), st.integers(0, 6))
@quick
def test_a_part_of_the_rule_is_the_rule_of_the_part(mask, row, col):
    rule = rule_of(mask)
    everything = np.broadcast_to(rule.forbidden(np.arange(QUERIES), np.arange(KEYS)), (1, 1, 1, QUERIES, KEYS))
    one = slice(0, 1)
    part = rule.part(Region(one, one, one, slice(row, QUERIES), slice(col, KEYS)))
    cells = part.forbidden(np.arange(QUERIES - row), np.arange(KEYS - col))
    np.testing.assert_array_equal(
        np.broadcast_to(cells, everything[..., row:, col:].shape), everything[..., row:, col:]
    )


@given(masks(), st.integers(1, 8))
@quick
def test_the_engine_obeys(mask, block_size):
    q, k, v = normal(1, (QUERIES, 3), (KEYS, 3), (KEYS, 2))
    found = attend(q, k, v, mask=mask, block_size=block_size, empty_rows="zero")
    forbidden = found.forbidden()
    with np.errstate(invalid="ignore"):
        _, weights, output = dense(q, k, v, forbidden=forbidden)
    alive = ~forbidden.all(-1)
    np.testing.assert_allclose(found.output[alive], output[alive], atol=1e-14)
    np.testing.assert_allclose(found.weights()[alive], weights[alive], atol=1e-15)
    assert not found.output[~alive].any()


@pytest.mark.parametrize("block_size", [1, 3, None])
def test_everything_at_once(block_size):
    """Every part of a mask, a bias, slopes and a softcap, with grouped heads."""
    q, k, v, bias = normal(2, (2, 4, 6, 3), (2, 2, 9, 3), (2, 2, 9, 2), (2, 4, 6, 9))
    mask = Mask(
        causal=True,
        query_offset=3,
        window=Window(left=4),
        stride=6,
        global_tokens=[2],
        key_lengths=[3, 8],
        padding_side="left",
        segments=[[0, 0, 0, 0, 0, 1, 1, 1, 1], [5, 5, 5, 5, 5, 5, 5, 5, 5]],
        forbidden=np.eye(6, 9, k=1, dtype=bool),
    )
    slopes = np.array([0.5, 0.25, 0.125, 0.0625])
    distance = np.abs(np.arange(3, 9)[:, None] - np.arange(9))
    found = attend(q, k, v, mask=mask, bias=bias, alibi=slopes, softcap=1.5, block_size=block_size, empty_rows="zero")
    forbidden = found.forbidden()
    with np.errstate(invalid="ignore"):
        additive = bias - slopes[:, None, None] * distance
        _, weights, output = dense(q, k, v, forbidden=forbidden, bias=additive, softcap=1.5)
    alive = ~forbidden.all(-1)
    assert 0 < alive.sum() < alive.size
    np.testing.assert_allclose(found.output[alive], output[alive], atol=1e-14)
    np.testing.assert_allclose(found.weights()[alive], weights[alive], atol=1e-14)


def drawn(mask, queries, keys):
    x = np.ones((keys, 1))
    rows = ~attend(x[:queries], x, x, mask=mask, empty_rows="zero").forbidden()
    return ["".join("x" if cell else "." for cell in row) for row in rows]


@pytest.mark.parametrize(
    ("mask", "picture"),
    [
        pytest.param(Mask(window=Window(2, 0)), ["x...", "xx..", "xxx.", ".xxx"], id="window"),
        pytest.param(Mask(causal=True, stride=2), ["x...", ".x..", "x.x.", ".x.x"], id="strided"),
        pytest.param(Mask(causal=True, stride=3, window=Window(left=1)), ["x...", "xx..", ".xx.", "x.xx"], id="both"),
        pytest.param(Mask(window=Window(0, 0), global_tokens=[1]), ["xx..", "xxxx", ".xx.", ".x.x"], id="global"),
        pytest.param(
            Mask(causal=True, window=Window(0, 0), global_tokens=[1]),
            ["x...", "xx..", ".xx.", ".x.x"],
            id="global-causal",
        ),
        pytest.param(Mask(segments=[7, 7, 3, 3]), ["xx..", "xx..", "..xx", "..xx"], id="documents"),
        pytest.param(Mask(segments=[1, 2, 1, 2], causal=True), ["x...", ".x..", "x.x.", ".x.x"], id="interleaved"),
        pytest.param(Mask(key_lengths=3), ["xxx."] * 4, id="right-padding"),
        pytest.param(Mask(key_lengths=3, padding_side="left"), [".xxx"] * 4, id="left-padding"),
        pytest.param(
            Mask(key_lengths=3, padding_side="left", causal=True), ["....", ".x..", ".xx.", ".xxx"], id="left-causal"
        ),
    ],
)
def test_pictures(mask, picture):
    assert drawn(mask, 4, 4) == picture


def test_left_padding_differs_per_batch_entry():
    x = np.ones((2, 3, 1))
    live = ~attend(x, x, x, mask=Mask(key_lengths=[1, 3], padding_side="left")).forbidden()
    np.testing.assert_array_equal(live[:, 0], [[False, False, True], [True, True, True]])


def test_documents_differ_per_batch_entry():
    x = np.ones((2, 2, 3, 1))
    live = ~attend(x, x, x, mask=Mask(segments=[[0, 0, 1], [0, 1, 1]])).forbidden()
    np.testing.assert_array_equal(live[:, 1, 1], [[True, True, False], [False, True, True]])


def test_queries_from_elsewhere_have_documents_of_their_own():
    q, k = np.ones((2, 1)), np.ones((3, 1))
    live = ~attend(q, k, k, mask=Mask(segments=[0, 1, 1], query_segments=[1, 0])).forbidden()
    np.testing.assert_array_equal(live, [[False, True, True], [True, False, False]])


def test_a_packed_sequence_is_its_documents_one_by_one():
    q, k, v = normal(3, (7, 3), (7, 3), (7, 2))
    packed = attend(q, k, v, mask=Mask(causal=True, segments=[0, 0, 0, 1, 1, 1, 1]))
    alone = [attend(q[part], k[part], v[part], mask=Mask(causal=True)).output for part in (slice(0, 3), slice(3, 7))]
    np.testing.assert_allclose(packed.output, np.concatenate(alone), atol=1e-15)


@pytest.mark.parametrize(
    ("mask", "reasons"),
    [
        (Mask(segments=[0, 0, 1]), {"segment": [[0, 0, 1], [0, 0, 1], [1, 1, 0]]}),
        (Mask(stride=2), {"sparse": [[0, 1, 0], [1, 0, 1], [0, 1, 0]]}),
        (Mask(window=Window(0, 0), global_tokens=[0]), {"sparse": [[0, 0, 0], [0, 0, 1], [0, 1, 0]]}),
        (Mask(key_lengths=1, padding_side="left"), {"padding": [[1, 1, 0]] * 3}),
    ],
    ids=["segment", "stride", "global", "padding"],
)
def test_reasons_are_named(mask, reasons):
    x = np.ones((3, 1))
    found = attend(x, x, x, mask=mask).reasons()
    assert {name: cells.astype(int).tolist() for name, cells in found.items()} == reasons


@pytest.mark.parametrize(
    ("mask", "live"),
    [
        # Of 16 × 16 tiles of 64 × 64 cells: two on or beside the diagonal in each row but the first.
        pytest.param(Mask(causal=True, window=Window(left=63)), 16 + 15, id="window"),
        # Besides, the first row and the first column of tiles.
        pytest.param(Mask(window=Window(63, 63), global_tokens=[0]), 16 + 2 * 15 + 2 * 14, id="global"),
        pytest.param(Mask(segments=np.repeat(np.arange(4), 256)), 4 * 4 * 4, id="documents"),
        pytest.param(Mask(causal=True, key_lengths=64), 16, id="padding"),
    ],
)
def test_only_live_tiles_are_computed(mask, live):
    rule = rule_of(mask, 1024, 1024)
    seen = [tile for i in range(16) for tile in tiles(rule, slice(64 * i, 64 * i + 64), 64)]
    assert sum(tile.verdict is not Verdict.FORBIDDEN for tile in seen) == live


X = np.ones((4, 1))


@pytest.mark.parametrize(
    ("mask", "keys", "message", "path"),
    [
        (Mask(stride=0), 4, "stride is 0", ("mask", "stride")),
        (
            Mask(global_tokens=[0]),
            4,
            "global_tokens changes nothing: without window or stride every token may look at every other",
            ("mask", "global_tokens"),
        ),
        (
            Mask(stride=2, global_tokens=[4]),
            4,
            "global token 4 is outside 0 … Tk − 1 = 3",
            ("mask", "global_tokens", 0),
        ),
        (
            Mask(stride=2, global_tokens=[0.5]),
            4,
            "global_tokens is not a list of whole numbers",
            ("mask", "global_tokens"),
        ),
        (Mask(segments=[0, 1]), 4, "segments has shape (2,)", ("mask", "segments")),
        (Mask(segments=[0.5, 1, 1, 1]), 4, "segments are not all whole numbers", ("mask", "segments")),
        (
            Mask(segments=[0] * 6),
            6,
            "segments number 6 keys, and do not say which documents the 4 queries belong to",
            ("mask", "segments"),
        ),
        (Mask(query_segments=[0] * 4), 4, "query_segments has no segments beside it", ("mask", "query_segments")),
        (
            Mask(padding_side="left"),
            4,
            "padding_side is left, but nothing says how many keys are real",
            ("mask", "padding_side"),
        ),
        (Mask(padding_side="top", key_lengths=2), 4, "padding_side is 'top'", ("mask", "padding_side")),
        (
            Mask(stride=2),
            6,
            "a strided mask with Tq = 4 and Tk = 6 does not say where the queries stand among the keys",
            ("mask",),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refusals(mask, keys, message, path):
    k = np.ones((keys, 1))
    with pytest.raises(InputError) as caught:
        attend(X, k, k, mask=mask)
    assert [(p.message, p.path) for p in caught.value.problems] == [(message, path)]
