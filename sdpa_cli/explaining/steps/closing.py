"""What a derivation ends with: the four questions a reader should be able to answer, and what the case costs."""

from __future__ import annotations

import math

import numpy as np

from sdpa_cli.explaining.costs import Size, cost
from sdpa_cli.explaining.maths import equal, plus, times
from sdpa_cli.explaining.trace import Bytes, Facts, Formula, Part, Position, Question, Step, Words, Worked, words
from sdpa_cli.explaining.walk import Walk


def questions(walk: Walk) -> Step:
    """The unit's self-check questions, answered for this case."""
    sizes = walk.sizes
    live = walk.attention.live_counts()
    sums = walk.attention.row_sums(walk.rows)
    deviation = float(np.abs(sums[live[walk.rows] > 0] - 1).max(initial=0.0))
    empty = np.flatnonzero(live == 0)
    asked = (
        ("shapes", words("question.shapes.answer", queries=sizes["Tq"], keys=sizes["Tk"], d_v=sizes["d_v"])),
        ("sums", _unless_empty("question.sums", empty, deviation=deviation)),
        ("maximum", _unless_empty("question.maximum", empty, largest=float(walk.maximum.max()))),
        ("raises", _unless_empty("question.raises", empty, fewest=int(live.min(initial=sizes["Tk"])))),
    )
    parts = tuple(Question(words(f"question.{name}.asked"), answer) for name, answer in asked)
    return Step("questions", words("step.questions.title"), parts)


def _unless_empty(key: str, empty: np.ndarray, **values: float) -> Words:
    """The answer, but for cases with a row without a live key, or with numbers that are none."""
    if any(math.isnan(value) for value in values.values()):
        return words(f"{key}.wild")
    if not empty.size:
        return words(f"{key}.answer", **values)
    return words(f"{key}.empty", row=Position(int(empty[0])))


def costs(walk: Walk) -> Step:
    """Multiply-adds and bytes, over all heads of the case."""
    sizes, shapes = walk.sizes, walk.whole.shapes
    heads, kv_heads = math.prod(shapes["Q"][:-2]), math.prod(shapes["K"][:-2])
    block = walk.case.block_size
    size = Size(
        queries=sizes["Tq"],
        keys=sizes["Tk"],
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        heads=heads,
        kv_heads=kv_heads,
        itemsize=walk.attention.dtype.itemsize,
        **({} if block is None else {"tile_keys": block}),
    )
    found = cost(size)
    allowed = int(walk.whole.live_counts().sum())
    factors = (heads,) * (heads > 1) + (sizes["Tq"], sizes["Tk"])
    worked = equal(
        plus(times(*factors, sizes["d_k"]), times(*factors, sizes["d_v"])), found.for_scores + found.for_output
    )
    cells = heads * sizes["Tq"] * sizes["Tk"]
    parts: tuple[Part, ...] = (
        Formula(plus(times("Tq", "Tk", "d_k"), times("Tq", "Tk", "d_v"))),
        words("step.cost.why"),
        Worked(worked),
        *([words("step.cost.masked", allowed=allowed, cells=cells)] if allowed < cells else []),
        Facts(
            (
                (words("fact.cost.naive"), Bytes(found.naive)),
                (words("fact.cost.streaming", keys=min(size.tile_keys, size.keys)), Bytes(found.streaming)),
                (words("fact.cost.cache"), Bytes(found.cache)),
            )
        ),
    )
    return Step("cost", words("step.cost.title"), parts)
