"""The softmax in three steps: the row maximum, the exponentials with their sums, the weights with their checks."""

from __future__ import annotations

import numpy as np

from sdpa_cli.explaining.maths import (
    Dots,
    Maths,
    Term,
    call,
    entry,
    equal,
    largest,
    long_sum,
    minus,
    over,
    total,
)
from sdpa_cli.explaining.trace import Check, Facts, Formula, Part, Step, Worked, words
from sdpa_cli.explaining.walk import Walk


def maximum(walk: Walk) -> Step:
    """The largest live score of each row."""
    i, _ = walk.focus
    a = walk.at(*walk.focus)[0]
    live = walk.attention.live_counts(walk.rows)
    items = tuple(
        (entry("m", int(row)), words("fact.no-live-key") if count == 0 else float(value))
        for row, value, count in zip(walk.rows, walk.maximum, live, strict=True)
    )
    scores: list[Term] = [
        float(score) for score, dead in zip(walk.logits[a], walk.forbidden[a], strict=True) if not dead
    ]
    parts: list[Part] = [
        Formula(equal(entry("m", "i"), largest("j", entry("S", "i", "j")))),
        words("step.maximum.why"),
        words("step.maximum.finite") if walk.masked else words("step.maximum.unmasked"),
        Facts(items),
    ]
    if len(scores) > 1 and len(walk.cols) == len(walk.k):
        parts.append(Worked(equal(entry("m", i), call("max", *scores), float(walk.maximum[a]))))
    return Step("maximum", words("step.maximum.title"), tuple(parts))


def exponentials(walk: Walk) -> Step:
    """exp(S − m), and each row's sum."""
    i, j = walk.focus
    a, b = walk.at(i, j)
    worked = equal(
        entry("E", i, j),
        call("exp", minus(float(walk.logits[a, b]), float(walk.maximum[a]))),
        float(walk.exponentials[a, b]),
    )
    parts: list[Part] = [
        Formula(equal(entry("E", "i", "j"), call("exp", minus(entry("S", "i", "j"), entry("m", "i"))))),
        words("step.exponentials.why"),
        walk.over_keys("E", walk.exponentials, forbidden=walk.forbidden, totals=walk.sums, marked=(a, b)),
        *([] if walk.forbidden[a, b] else [Worked(worked)]),
        Formula(equal(entry("l", "i"), total("j", entry("E", "i", "j")))),
    ]
    if walk.attention.live_counts(walk.rows)[a] > 1:
        parts.append(Worked(equal(entry("l", i), _sum_of(walk, walk.exponentials, a), float(walk.sums[a]))))
    return Step("exponentials", words("step.exponentials.title"), tuple(parts))


def weights(walk: Walk) -> Step:
    """The weights, and the three laws they obey, as computed."""
    i, j = walk.focus
    a, b = walk.at(i, j)
    sums = walk.attention.row_sums(walk.rows)
    parts: list[Part] = [
        Formula(equal(entry("A", "i", "j"), over(entry("E", "i", "j"), entry("l", "i")))),
        words("step.weights.why"),
        walk.over_keys("A", walk.weights, forbidden=walk.forbidden, look="shaded", totals=sums, marked=(a, b)),
    ]
    if walk.sums[a] > 0:
        share = over(float(walk.exponentials[a, b]), float(walk.sums[a]))
        parts.append(Worked(equal(entry("A", i, j), share, float(walk.weights[a, b]))))
    return Step("weights", words("step.weights.title"), (*parts, *checks(walk)))


def checks(walk: Walk) -> tuple[Check, ...]:
    """Non-negative; sums to 1; forbidden exactly 0: each with the number it was found by."""
    sums = walk.attention.row_sums(walk.rows)
    alive = walk.attention.live_counts(walk.rows) > 0
    deviation = float(np.abs(sums[alive] - 1).max(initial=0.0))
    least, forbidden = float(walk.weights.min()), walk.weights[walk.forbidden]
    eps = float(np.finfo(walk.attention.dtype).eps) * max(8, len(walk.k))
    summed = words("check.row-sums", deviation=deviation)
    if not alive.all():
        summed = words("check.row-sums-live", deviation=deviation)
    found = [Check(words("check.non-negative", least=least), least >= 0), Check(summed, deviation <= eps)]
    if forbidden.size:
        worst = float(forbidden.max())
        found.append(Check(words("check.zero", count=int(forbidden.size), largest=worst), worst == 0))
    return tuple(found)


def _sum_of(walk: Walk, values: np.ndarray, a: int) -> Maths:
    """The live cells of a row as a sum, with dots for those that are not shown."""
    live: list[Term] = [float(value) for value, dead in zip(values[a], walk.forbidden[a], strict=True) if not dead]
    hidden = int(walk.attention.live_counts(walk.rows)[a]) > len(live)
    return long_sum([*live, *([Dots()] if hidden else [])])
