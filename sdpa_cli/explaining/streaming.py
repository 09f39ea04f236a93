"""The streaming derivation: the online softmax tile by tile, and how far it ends from the two-pass result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpa_cli.attention.regions import Verdict
from sdpa_cli.cases import Case
from sdpa_cli.explaining.derivation import axis_notes, head_notes
from sdpa_cli.explaining.maths import call, entry, equal, largest, minus, over, plus, product, times, total, vector
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.streams import TileStep, two_pass, walk_tiles
from sdpa_cli.explaining.trace import Array, Check, Formula, Part, Position, Step, Table, Trace, Worked, words
from sdpa_cli.explaining.walk import Walk, walk

TILES = 12
"""So many tiles are shown of a longer stream: the first and the last ones."""
_PARTS = 4
"""A case that names no block size is cut into about so many tiles, so that there is a stream to see."""
COLUMNS = ("query", "block-maximum", "old-maximum", "new-maximum", "factor", "running-sum", "accumulator")


def stream(case: Case, selectors: Selectors) -> Trace:
    """Explain a case as the online softmax computes it.

    Parameters
    ----------
    case
        The case.
    selectors
        Which part of it to look at, and how many keys a tile has.

    Raises
    ------
    InputError
        As `Case.attend` does; or where a selector does not exist in this case.
    """
    way = walk(case, selectors)
    keys = way.sizes["Tk"]
    tile_keys = min(keys, selectors.block_size or case.block_size or max(1, -(-keys // _PARTS)))
    walked = list(walk_tiles(way.attention, way.rows, tile_keys))
    steps = [_rule(tile_keys)]
    for rows, tiles in walked:
        steps += _shown(way, rows, tiles)
    steps.append(_end(way, walked))
    title = case.title or words("title.case")
    shown = () if selectors.row is not None else axis_notes(way.query_axis, "--row")
    return Trace("stream", case.title or "", title, tuple(steps), (*head_notes(way), *shown))


def _rule(tile_keys: int) -> Step:
    """What one tile does to the state."""
    m, new = entry("m", "i"), entry("m′", "i")
    rescale, share = call("exp", minus(m, new)), call("exp", minus(entry("S", "i", "j"), new))
    parts = (
        words("stream.rule.why", keys=tile_keys),
        Formula(equal(new, call("max", m, largest("j", entry("S", "i", "j"))))),
        Formula(equal(entry("l′", "i"), plus(times(rescale, entry("l", "i")), total("j", share)))),
        Formula(
            equal(entry("a′", "i"), plus(times(rescale, entry("a", "i")), total("j", product(share, entry("v", "j")))))
        ),
        Formula(equal(entry("o", "i"), over(entry("a", "i"), entry("l", "i")))),
        words("stream.rule.exact"),
    )
    return Step("rule", words("stream.rule.title"), parts)


def _shown(way: Walk, rows: Array, tiles: list[TileStep]) -> Iterator[Step]:
    """The tiles of some queries, those in the middle of a long stream left out."""
    head, tail = (len(tiles), 0) if len(tiles) <= TILES else (TILES // 2, TILES - TILES // 2)
    for number, tile in enumerate(tiles[:head], 1):
        yield _tile(way, rows, number, tile)
    if tail:
        first, last = head + 1, len(tiles) - tail
        yield Step("hidden-tiles", words("stream.hidden.title", first=first, last=last), (words("stream.hidden.why"),))
        for number, tile in enumerate(tiles[last:], last + 1):
            yield _tile(way, rows, number, tile)


def _tile(way: Walk, rows: Array, number: int, tile: TileStep) -> Step:
    name, first, last = f"tile-{number}", Position(tile.cols.start), Position(tile.cols.stop - 1)
    keys = words("stream.key", key=first) if first == last else words("stream.keys", first=first, last=last)
    if tile.verdict is Verdict.FORBIDDEN:
        title = words("stream.skipped.title", number=number, keys=keys)
        return Step(name, title, (words("stream.skipped.why"),))
    table = Table(
        tuple(words(f"column.{column}") for column in COLUMNS),
        tuple(
            (
                Position(int(row)),
                *map(float, (tile.alone.m[a], tile.before.m[a], tile.after.m[a], tile.factor[a], tile.after.l[a])),
                vector(map(float, tile.after.acc[a])),
            )
            for a, row in enumerate(rows)
        ),
    )
    title = words("stream.tile.title", number=number, keys=keys)
    mixed = [words("stream.tile.mixed")] if tile.verdict is Verdict.MIXED else []
    return Step(name, title, (*mixed, table, *_worked(way, rows, tile)))


def _worked(way: Walk, rows: Array, tile: TileStep) -> Iterator[Part]:
    """The running sum of the row that is worked out, and what happens to its maximum."""
    i = way.focus[0]
    found = np.flatnonzero(rows == i)
    if not found.size or np.isneginf(tile.after.m[found[0]]):
        return
    a = int(found[0])
    old, own = (
        times(float(f[a]), float(s.l[a])) for f, s in ((tile.factor, tile.before), (tile.own_factor, tile.alone))
    )
    yield Worked(equal(entry("l′", i), plus(old, own), float(tile.after.l[a])))
    if np.isneginf(tile.before.m[a]):
        yield words("stream.tile.first", row=Position(i))
    else:
        rises = bool(tile.after.m[a] > tile.before.m[a])
        yield words(
            "stream.tile.rises" if rises else "stream.tile.stays", row=Position(i), factor=float(tile.factor[a])
        )


def _end(way: Walk, walked: list[tuple[Array, list[TileStep]]]) -> Step:
    """The output, and how far it is from that of two passes."""
    states = [(rows, tiles[-1].after) for rows, tiles in walked]
    streamed = np.concatenate([state.acc / np.where(state.l == 0, 1, state.l)[:, None] for _, state in states])
    twice = two_pass(way.attention, way.rows, way.maximum)
    scale = max(1.0, float(np.abs(twice[np.isfinite(twice)]).max(initial=0.0)))
    deviation = _deviation(streamed, twice)
    overflows = np.isinf(streamed) & np.isfinite(way.attention.output[way.rows])
    worked = [
        Worked(
            equal(
                entry("o", int(row)),
                over(vector(map(float, state.acc[a])), float(state.l[a])),
                vector(map(float, state.acc[a] / state.l[a])),
            )
        )
        for rows, state in states
        for a, row in enumerate(rows)
        if row == way.focus[0] and state.l[a] > 0
    ]
    slack = scale * 64 * float(np.finfo(way.attention.dtype).eps)
    skipped = sum(tile.verdict is Verdict.FORBIDDEN for _, tiles in walked for tile in tiles)
    tiles = sum(len(tiles) for _, tiles in walked)
    parts: tuple[Part, ...] = (
        words("stream.end.why"),
        *worked,
        *([words("stream.end.overflow")] if overflows.any() else []),
        Check(words("check.two-pass", deviation=deviation), deviation <= slack),
        *([words("stream.end.skipped", skipped=skipped, tiles=tiles)] if skipped else []),
    )
    return Step("end", words("stream.end.title"), parts)


def _deviation(one: Array, other: Array) -> float:
    """The largest; what is infinite or NaN in both is none."""
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(np.abs(one - other)[~same].max(initial=0.0))
