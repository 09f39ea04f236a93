"""From Q, K and V to the scores: the inputs, their products, the scale, the softcap and the bias."""

from __future__ import annotations

import math

import numpy as np

from sdpa_cli.attention import Additive, General
from sdpa_cli.explaining.maths import (
    QK,
    Maths,
    Number,
    Root,
    becomes,
    call,
    entry,
    equal,
    long_sum,
    over,
    plus,
    product,
    root,
    times,
    total,
    transposed,
)
from sdpa_cli.explaining.maths import maths as letter
from sdpa_cli.explaining.trace import Facts, Formula, Part, Shapes, Step, Worked, words
from sdpa_cli.explaining.walk import Walk, features


def inputs(walk: Walk) -> Step:
    """Q, K and V, and what a row of each is."""
    sizes = walk.sizes
    # The case's own ones: another score function may compare what it made of them.
    q, k = (np.asarray(x) for x in (walk.case.q[walk.leading], walk.case.k[walk.kv_leading]))
    shapes = Shapes(
        (
            (letter("Q"), (("Tq", sizes["Tq"]), ("d_k", q.shape[-1]))),
            (letter("K"), (("Tk", sizes["Tk"]), ("d_k", k.shape[-1]))),
            (letter("V"), (("Tk", sizes["Tk"]), ("d_v", sizes["d_v"]))),
        )
    )
    matrices = (
        features("Q", q[walk.rows], walk.query_axis),
        features("K", k[walk.cols], walk.key_axis),
        features("V", walk.v[walk.cols], walk.key_axis),
    )
    lengths = words("step.inputs.lengths")
    if isinstance(walk.case.score, (Additive, General)):
        lengths = words("step.inputs.own-lengths")
    return Step("inputs", words("step.inputs.title"), (words("step.inputs.why"), lengths, shapes, *matrices))


def products(walk: Walk) -> Step:
    """QKᵀ: the dot product of each query with each key."""
    sizes = walk.sizes
    i, j = walk.focus
    rule = equal(entry(QK, "i", "j"), total("r", product(entry("Q", "i", "r"), entry("K", "j", "r"))))
    parts: tuple[Part, ...] = (
        Formula(rule),
        Shapes(
            (
                (letter("Q"), (("Tq", sizes["Tq"]), ("d_k", sizes["d_k"]))),
                (transposed("K"), (("d_k", sizes["d_k"]), ("Tk", sizes["Tk"]))),
                (QK, (("Tq", sizes["Tq"]), ("Tk", sizes["Tk"]))),
            )
        ),
        words("step.products.why"),
        walk.over_keys(QK, walk.products, marked=walk.at(i, j)),
        Worked(equal(entry(QK, i, j), dot(walk, i, j), _at(walk, walk.products))),
    )
    return Step("products", words("step.products.title"), parts)


def scale(walk: Walk) -> Step:
    """The scale, and how large the scores are before and after it."""
    i, j = walk.focus
    own = walk.case.scale is not None
    rule = equal("S", times("scale", QK)) if own else equal("S", over(QK, root("d_k")))
    live = ~walk.forbidden
    parts: tuple[Part, ...] = (
        Formula(rule),
        words("step.scale.own", scale=walk.attention.scale) if own else words("step.scale.why"),
        walk.over_keys("S", walk.scaled, marked=walk.at(i, j)),
        Worked(equal(entry("S", i, j), _scaled(walk, dot(walk, i, j)), _at(walk, walk.scaled))),
        words("step.scale.heuristic"),
        Facts(
            (
                (words("fact.variance.model"), walk.sizes["d_k"]),
                (words("fact.variance.products", count=int(live.sum())), _variance(walk.products[live])),
                (words("fact.variance.scores", count=int(live.sum())), _variance(walk.scaled[live])),
            )
        ),
    )
    return Step("scale", words("step.scale.title"), parts)


def softcap(walk: Walk) -> Step:
    """The softcap, where the case has one."""
    cap = float(walk.case.softcap or 0)
    i, j = walk.focus
    rule = becomes(entry("S", "i", "j"), times("c", call("tanh", over(entry("S", "i", "j"), "c"))))
    worked = equal(
        entry("S", i, j), times(cap, call("tanh", over(_at(walk, walk.scaled), cap))), _at(walk, walk.capped)
    )
    parts = (
        Formula(rule),
        words("step.softcap.why", cap=cap),
        walk.over_keys("S", walk.capped, marked=walk.at(i, j)),
        Worked(worked),
    )
    return Step("softcap", words("step.softcap.title"), parts)


def bias(walk: Walk) -> Step:
    """The additive bias, where the case has one."""
    assert walk.bias is not None
    i, j = walk.focus
    added = plus(_at(walk, walk.capped), _at(walk, walk.bias))
    parts = (
        Formula(becomes(entry("S", "i", "j"), plus(entry("S", "i", "j"), entry("B", "i", "j")))),
        words("step.bias.why"),
        walk.over_keys("B", walk.bias, marked=walk.at(i, j)),
        walk.over_keys("S", walk.biased, marked=walk.at(i, j)),
        Worked(equal(entry("S", i, j), added, _at(walk, walk.biased))),
    )
    return Step("bias", words("step.bias.title"), parts)


def dot(walk: Walk, i: int, j: int) -> Maths:
    """The dot product of a query and a key, written out."""
    return long_sum(times(float(a), float(b)) for a, b in zip(walk.q[i], walk.k[j], strict=True))


def _scaled(walk: Walk, raw: Maths) -> Maths:
    if walk.case.scale is None:
        return over(raw, Root(Number(walk.sizes["d_k"])))
    return times(walk.attention.scale, raw)


def _at(walk: Walk, values: np.ndarray) -> float:
    return float(values[walk.at(*walk.focus)])


def _variance(values: np.ndarray) -> float:
    return float(values.var()) if values.size else math.nan
