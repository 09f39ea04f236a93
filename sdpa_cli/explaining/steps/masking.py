"""The mask: which cells are forbidden and by which rule, before the softmax."""

from __future__ import annotations

import numpy as np

from sdpa_cli.explaining.maths import Symbol, becomes, entry, equal
from sdpa_cli.explaining.trace import Facts, Formula, Part, Position, Reasons, Step, Value, Words, Worked, words
from sdpa_cli.explaining.walk import Walk


def mask(walk: Walk) -> Step:
    """What is forbidden, and −∞ written in its place."""
    title = words("step.mask.title")
    rules = walk.attention.reasons(walk.rows, walk.cols)
    if not walk.masked:
        return Step("mask", title, (words("step.mask.nothing"),))
    said: tuple[Part, ...] = (
        Formula(becomes(entry("S", "i", "j"), Symbol("−∞"))),
        words("step.mask.why"),
        Facts(tuple((words(f"reason.{name}"), _detail(walk, name)) for name in rules)),
    )
    if not walk.forbidden.any():
        return Step("mask", title, (*said, words("step.mask.elsewhere")))
    i, j = _example(walk)
    cells = tuple(
        tuple(tuple(name for name, where in rules.items() if where[a, b]) for b in range(len(walk.cols)))
        for a in range(len(walk.rows))
    )
    seen: tuple[Part, ...] = (
        Reasons(cells, walk.query_axis, walk.key_axis),
        words("step.mask.example", key=Position(j), query=Position(i), rule=rule_names(walk, i, j)),
        walk.over_keys("S", walk.logits, forbidden=walk.forbidden, marked=walk.at(i, j)),
        Worked(equal(entry("S", i, j), Symbol("−∞"))),
    )
    return Step("mask", title, said + seen)


def rule_names(walk: Walk, i: int, j: int) -> tuple[Words, ...]:
    """The rules that forbid a cell; none where it is allowed."""
    rules = walk.attention.reasons(np.array([i]), np.array([j]))
    return tuple(words(f"reason.{name}") for name, where in rules.items() if where[0, 0])


def _example(walk: Walk) -> tuple[int, int]:
    """A forbidden cell, in the row that is worked out if it has one."""
    a, b = np.argwhere(walk.forbidden)[0]
    row = walk.at(*walk.focus)[0]
    if walk.forbidden[row].any():
        a, b = row, int(np.argmax(walk.forbidden[row]))
    return int(walk.rows[a]), int(walk.cols[b])


def _detail(walk: Walk, name: str) -> Value:
    """What a rule says in this case."""
    rule = walk.attention.inputs.rule
    if name == "causal":
        return words("reason.causal-rule", offset=rule.offset) if rule.offset else words("reason.causal-plain")
    if name == "window":
        assert rule.window is not None
        sides = (rule.window.left, rule.window.right)
        left, right = (words("reason.unlimited") if side is None else side for side in sides)
        return words("reason.window-rule", left=left, right=right)
    if name == "padding":
        first = 0 if rule.starts is None else int(rule.starts.ravel()[0])
        last = rule.keys if rule.lengths is None else int(rule.lengths.ravel()[0])
        return words("reason.padding-rule", first=Position(first), last=last)
    return words(f"reason.{name}-rule")
