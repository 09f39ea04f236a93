"""The output as a convex combination of the value rows, and what the weights behind it do not say."""

from __future__ import annotations

import numpy as np

from sdpa_cli.explaining.alternatives import Certificate, leave_one_out, other_weights
from sdpa_cli.explaining.maths import (
    TERMS,
    Dots,
    Maths,
    Term,
    entry,
    equal,
    long_sum,
    minus,
    over,
    product,
    times,
    total,
    vector,
)
from sdpa_cli.explaining.trace import Array, Check, Formula, Part, Position, Step, Table, Worked, words
from sdpa_cli.explaining.walk import Walk, features

KEYS = 4096
"""Rows with more live keys than this are not searched for other weights."""


def output(walk: Walk) -> Step:
    """O = AV, the row that is worked out written as a mixture."""
    i, _ = walk.focus
    found = walk.attention.output
    parts: list[Part] = [
        Formula(equal(entry("o", "i"), total("j", product(entry("A", "i", "j"), entry("v", "j"))))),
        words("step.output.why"),
        features("O", found[walk.rows], walk.query_axis),
    ]
    weights, keys = live_row(walk, i)
    if len(keys):
        parts.append(Worked(equal(entry("o", i), mixture(weights, walk.v[keys]), vector(map(float, found[i])))))
        parts.append(_hull(walk, i, keys))
    else:
        parts.append(words("step.output.empty", row=Position(i)))
    return Step("output", words("step.output.title"), tuple(parts))


def alternatives(walk: Walk) -> Step:
    """Leave-one-out beside the weights, and other weights with the same output."""
    i, _ = walk.focus
    title = words("step.alternatives.title")
    weights, keys = live_row(walk, i)
    if len(keys) < 2:
        return Step("alternatives", title, (words("step.alternatives.alone", row=Position(i)),))
    if len(keys) > KEYS:
        return Step("alternatives", title, (words("step.alternatives.too-many", row=Position(i), limit=KEYS),))
    weights = weights.astype(np.float64)
    values = np.asarray(walk.v[keys], np.float64)
    return Step(
        "alternatives",
        title,
        (
            words("step.alternatives.why", row=Position(i)),
            *left_out(weights, values, keys),
            *certified(weights, values, keys),
        ),
    )


def left_out(weights: Array, values: Array, keys: Array) -> tuple[Part, ...]:
    """The live keys ranked by what leaving them out does, beside their rank by weight."""
    effects = leave_one_out(weights, values).effects
    by_effect, by_weight = (np.argsort(-ranked, kind="stable") for ranked in (effects, weights))
    place = {int(j): rank for rank, j in enumerate(by_weight, 1)}
    rows = tuple(
        (rank, Position(int(keys[j])), float(effects[j]), float(weights[j]), place[int(j)])
        for rank, j in enumerate(by_effect[: TERMS + 2], 1)
    )
    head = ("rank", "key", "effect", "weight", "rank-by-weight")
    without = over(minus("O", product(entry("w", "j"), entry("v", "j"))), minus(1, entry("w", "j")))
    same = np.array_equal(by_effect, by_weight)
    return (
        Formula(equal(entry("O", "−j"), without)),
        Table(tuple(words(f"column.{name}") for name in head), rows),
        words("step.alternatives.same-order" if same else "step.alternatives.other-order"),
    )


def certified(weights: Array, values: Array, keys: Array) -> tuple[Part, ...]:
    """Other weights that give the same output, or that there are none."""
    found = other_weights(weights, values)
    if found is None:
        return (words("step.alternatives.unique", keys=len(keys)),)
    return (
        words("step.alternatives.certificate", distance=found.distance),
        Table(
            (words("column.key"), words("column.weight"), words("column.other-weight")),
            tuple(
                (Position(int(keys[j])), float(weights[j]), float(found.weights[j]))
                for j in np.argsort(-np.abs(found.weights - weights), kind="stable")[: TERMS + 2]
            ),
        ),
        _same_output(found),
    )


def live_row(walk: Walk, i: int) -> tuple[Array, Array]:
    """The weights of a query's live keys, and which keys those are."""
    row = np.array([i])
    live = np.flatnonzero(~walk.attention.forbidden(row)[0])
    return walk.attention.weights(row, live)[0], live


def mixture(weights: Array, values: Array) -> Maths:
    """Weights times value rows, the heaviest of them where there are many."""
    if len(weights) <= TERMS:
        chosen, rest = np.arange(len(weights)), []
    else:
        chosen, rest = np.sort(np.argsort(-weights, kind="stable")[: TERMS - 1]), [Dots()]
    terms: list[Term] = [times(float(weights[j]), vector(map(float, values[j]))) for j in chosen]
    return long_sum([*terms, *rest])


def _same_output(found: Certificate) -> Check:
    return Check(words("check.same-output", deviation=found.error), found.error <= 1e-9)


def _hull(walk: Walk, i: int, keys: Array) -> Check:
    """Every component lies between the least and the greatest of the live values."""
    values, row = np.asarray(walk.v[keys], np.float64), walk.attention.output[i].astype(np.float64)
    # The engine may be off by its own rounding, and so may a mean of equal values.
    slack = 8 * float(np.finfo(walk.attention.dtype).eps) * max(1.0, float(np.abs(values).max(initial=0)))
    inside = bool(((row >= values.min(axis=0) - slack) & (row <= values.max(axis=0) + slack)).all())
    return Check(words("check.hull", row=Position(i)), inside)
