"""Scores that are no scaled dot products, and ALiBi's penalty for distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpa_cli.attention import Additive, Dot, General, Linear
from sdpa_cli.attention.scores import distances
from sdpa_cli.explaining.maths import (
    Maths,
    becomes,
    call,
    entry,
    equal,
    long_sum,
    minus,
    plus,
    product,
    times,
    total,
    transposed,
)
from sdpa_cli.explaining.steps.scores import dot
from sdpa_cli.explaining.trace import Formula, Part, Step, Worked, words
from sdpa_cli.explaining.walk import Walk, features

_S = entry("S", "i", "j")
_QK = total("r", product(entry("Q", "i", "r"), entry("K", "j", "r")))
_RULES: dict[type, tuple[str, Maths]] = {
    Dot: ("dot", equal(_S, _QK)),
    General: ("general", equal("S", product("Q", "W", transposed("K")))),
    Additive: (
        "additive",
        equal(_S, total("u", product(entry("v", "u"), call("tanh", plus(entry("a", "i", "u"), entry("b", "j", "u")))))),
    ),
    Linear: (
        "linear",
        equal(_S, call("log", total("r", product(call("φ", entry("Q", "i", "r")), call("φ", entry("K", "j", "r")))))),
    ),
}


def scores(walk: Walk) -> Step:
    """How the case's own score function compares queries and keys."""
    name, rule = _RULES[type(walk.case.score)]
    i, j = walk.focus
    found = float(walk.scaled[walk.at(i, j)])
    worked = equal(entry("S", i, j), _WORKED[name](walk, i, j), found)
    parts: tuple[Part, ...] = (
        Formula(rule),
        words(f"step.score.{name}"),
        *_projected(walk, name),
        walk.over_keys("S", walk.scaled, marked=walk.at(i, j)),
        Worked(worked),
    )
    return Step("scores", words("step.score.title"), parts)


def alibi(walk: Walk) -> Step:
    """What is taken off each score for the distance of its key."""
    assert walk.slope is not None
    i, j = walk.focus
    apart = distances(walk.attention.inputs, walk.rows, walk.cols)
    at = walk.at(i, j)
    taken = minus(float(walk.biased[at]), times(walk.slope, float(apart[at])))
    parts = (
        Formula(becomes(_S, minus(_S, times("slope", "|i − j|")))),
        words("step.alibi.why", slope=walk.slope),
        walk.over_keys("S", walk.unmasked, marked=at),
        Worked(equal(entry("S", i, j), taken, float(walk.unmasked[at]))),
    )
    return Step("alibi", words("step.alibi.title"), parts)


def _projected(walk: Walk, name: str) -> tuple[Part, ...]:
    """What the score function makes of the queries and keys before it compares them."""
    shown: dict[str, tuple[Maths | str, Maths | str]] = {
        "general": (product("Q", "W"), ""),
        "additive": ("a", "b"),
        "linear": (call("φ", "Q"), call("φ", "K")),
    }
    if name not in shown:
        return ()
    queries, keys = shown[name]
    found = [features(queries, walk.q[walk.rows], walk.query_axis)]
    if keys:
        found.append(features(keys, walk.k[walk.cols], walk.key_axis))
    return tuple(found)


def _additive(walk: Walk, i: int, j: int) -> Maths:
    score = walk.case.score
    assert isinstance(score, Additive)
    v = np.broadcast_to(np.asarray(score.v, np.float64), walk.q.shape[-1:])
    return long_sum(
        times(float(weight), call("tanh", plus(float(a), float(b))))
        for weight, a, b in zip(v, walk.q[i], walk.k[j], strict=True)
    )


_WORKED: dict[str, Callable[[Walk, int, int], Maths]] = {
    "dot": dot,
    "general": dot,
    "additive": _additive,
    "linear": lambda walk, i, j: call("log", dot(walk, i, j)),
}
