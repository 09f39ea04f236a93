"""Everything about one cell: its way from two rows of numbers to a share of the output."""

from __future__ import annotations

import numpy as np

from sdpa_cli.explaining.alternatives import leave_one_out
from sdpa_cli.explaining.maths import (
    QK,
    Maths,
    Symbol,
    call,
    entry,
    equal,
    minus,
    over,
    plus,
    root,
    times,
    vector,
)
from sdpa_cli.explaining.steps.masking import rule_names
from sdpa_cli.explaining.steps.output import live_row
from sdpa_cli.explaining.steps.scores import dot
from sdpa_cli.explaining.trace import Facts, Part, Position, Step, Worked, words
from sdpa_cli.explaining.walk import Walk


def cell(walk: Walk) -> Step:
    """The whole way of the cell that is worked out."""
    i, j = walk.focus
    title = words("step.cell.title", query=Position(i), key=Position(j))
    rows = Facts(
        (
            (entry("q", i), vector(map(float, walk.q[i]))),
            (entry("k", j), vector(map(float, walk.k[j]))),
            (entry("v", j), vector(map(float, walk.v[j]))),
        )
    )
    before = (*_labels(walk), rows, *map(Worked, _scores(walk)))
    if rules := rule_names(walk, i, j):
        forbidden = words("step.cell.forbidden", rule=rules)
        zero = (Worked(equal(entry("S", i, j), Symbol("−∞"))), Worked(equal(entry("A", i, j), 0)))
        return Step("cell", title, (*before, forbidden, *zero))
    return Step("cell", title, (*before, words("step.cell.allowed"), *map(Worked, _softmax(walk)), *_share(walk)))


def _labels(walk: Walk) -> tuple[Part, ...]:
    case, (i, j) = walk.case, walk.focus
    if case.query_labels is None or case.key_labels is None:
        return ()
    return (words("step.cell.labels", query=case.query_labels[i], key=case.key_labels[j]),)


def _scores(walk: Walk) -> list[Maths]:
    """The score, stage by stage, as far as the case has them."""
    i, j = walk.focus
    at = walk.at(i, j)
    raw, scaled, capped, biased = (float(x[at]) for x in (walk.products, walk.scaled, walk.capped, walk.biased))
    if walk.case.score is not None:
        return [equal(entry("S", i, j), float(walk.unmasked[at]))]
    factor = over(raw, root(walk.sizes["d_k"])) if walk.case.scale is None else times(walk.attention.scale, raw)
    found: list[Maths] = [equal(entry(QK, i, j), dot(walk, i, j), raw), equal(entry("S", i, j), factor, scaled)]
    if (cap := walk.case.softcap) is not None:
        found.append(equal(entry("S", i, j), times(cap, call("tanh", over(scaled, cap))), capped))
    if walk.bias is not None:
        found.append(equal(entry("S", i, j), plus(capped, float(walk.bias[at])), biased))
    if walk.slope is not None:
        taken = (biased - float(walk.unmasked[at])) / walk.slope if walk.slope else 0.0
        found.append(equal(entry("S", i, j), minus(biased, times(walk.slope, taken)), float(walk.unmasked[at])))
    return found


def _softmax(walk: Walk) -> list[Maths]:
    i, j = walk.focus
    a, b = walk.at(i, j)
    logit, top, total = float(walk.logits[a, b]), float(walk.maximum[a]), float(walk.sums[a])
    share, weight = float(walk.exponentials[a, b]), float(walk.weights[a, b])
    return [
        equal(entry("m", i), top),
        equal(entry("E", i, j), call("exp", minus(logit, top)), share),
        equal(entry("l", i), total),
        equal(entry("A", i, j), over(share, total), weight),
    ]


def _share(walk: Walk) -> tuple[Part, ...]:
    """What the cell gives to the output, and what is left without it."""
    i, j = walk.focus
    weights, keys = live_row(walk, i)
    at = int(np.flatnonzero(keys == j)[0])
    value = walk.v[j].astype(np.float64)
    given = equal(times(float(weights[at]), vector(map(float, value))), vector(map(float, weights[at] * value)))
    rank = int((weights > weights[at]).sum()) + 1
    parts: list[Part] = [Worked(given), words("step.cell.rank", rank=rank, live=len(keys))]
    if len(keys) > 1:
        without = leave_one_out(weights.astype(np.float64), np.asarray(walk.v[keys], np.float64))
        parts.append(words("step.cell.without", key=Position(j), output=vector(map(float, without.outputs[at]))))
    return tuple(parts)
