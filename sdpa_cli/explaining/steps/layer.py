"""Before attention: embeddings, the positions added to them, the projections of this head, and rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import project, rotate
from sdpa_cli.attention.heads import packed
from sdpa_cli.attention.placement import Standing, padding_on_the_left, standing, standing_by
from sdpa_cli.cases.lowering import Layer
from sdpa_cli.explaining.maths import call, entry, equal, long_sum, minus, plus, product, times, vector
from sdpa_cli.explaining.trace import Formula, Part, Position, Step, Table, Words, Worked, words
from sdpa_cli.explaining.walk import Walk, axis, features

Array = NDArray[Any]


def embeddings(walk: Walk, layer: Layer) -> Step:
    """X, and the memory of cross-attention."""
    own = features("X", layer.x[walk.leading[: layer.x.ndim - 2]][walk.rows], _tokens(walk))
    parts: list[Part] = [words("step.embeddings.why"), own]
    if layer.memory is not None:
        memory = layer.memory[walk.leading[: layer.memory.ndim - 2]]
        parts += [words("step.embeddings.memory"), features("memory", memory[walk.cols], walk.key_axis)]
    return Step("embeddings", words("step.embeddings.title"), tuple(parts))


def positions(walk: Walk, layer: Layer) -> Step:
    """What is added to the embeddings to tell where they stand."""
    stands = _standing(walk)
    batch = walk.leading[: layer.x.ndim - 2]
    before, after = layer.x[batch][walk.rows], stands.embedded(layer.x)[batch][walk.rows]
    kind = "sinusoidal" if isinstance(walk.case.placement.added, str) else "learned"
    parts: list[Part] = [
        Formula(equal(entry("X̃", "t"), plus(entry("X", "t"), entry("p", "t")))),
        words(f"step.positions.{kind}"),
        features("p", after - before, _tokens(walk)),
        features("X̃", after, _tokens(walk)),
    ]
    return Step("positions", words("step.positions.title"), tuple(parts))


def projection(walk: Walk, layer: Layer) -> Step:
    """Q, K and V of this head, from the embeddings."""
    x = _standing(walk).embedded(layer.x)
    q = project(x, layer.projections, layer.memory)[0][walk.leading]
    own = x[walk.leading[: x.ndim - 2]]
    weight, bias = _of_head(walk, layer, "Q", q.shape[-1])
    i = walk.focus[0]
    terms = [times(float(a), float(b)) for a, b in zip(own[i], weight[:, 0], strict=True)]
    added = [] if bias is None else [float(bias[0])]
    letter = "X" if walk.case.placement.added is None else "X̃"
    source = "memory" if layer.memory is not None else letter
    parts: list[Part] = [
        Formula(equal("Q", product(letter, "W_Q"))),
        Formula(equal("K", product(source, "W_K"))),
        Formula(equal("V", product(source, "W_V"))),
        _which_head(walk),
        features("W_Q", weight, axis("component", np.arange(len(weight)), len(weight))),
        features("Q", q[walk.rows], _tokens(walk)),
        Worked(equal(entry("Q", i, 0), long_sum([*terms, *added]), float(q[i, 0]))),
    ]
    if walk.case.placement.rope is not None:
        parts.append(words("step.projection.unturned"))
    return Step("projection", words("step.projection.title"), tuple(parts))


def rope(walk: Walk) -> Step:
    """Queries before and after they are turned by their positions."""
    turn = walk.case.placement.rope
    assert turn is not None
    ids = np.asarray(_standing(walk).ids)
    ids = ids[walk.leading[0]] if ids.ndim == 2 else ids
    turned = np.asarray(walk.case.q[walk.leading], np.float64)
    before = rotate(turned, -ids, turn)
    dim = turn.dim or turned.shape[-1]
    a, b = (0, 1) if turn.pairing == "interleaved" else (0, dim // 2)
    i = _turned(walk, ids)
    angle = float(ids[i])
    first = minus(times(float(before[i, a]), call("cos", angle)), times(float(before[i, b]), call("sin", angle)))
    rows = tuple(
        (Position(int(r)), int(ids[r]), vector(map(float, before[r])), vector(map(float, turned[r]))) for r in walk.rows
    )
    parts = (
        Formula(equal(entry("q", "a"), minus(times("a", call("cos", "θ")), times("b", call("sin", "θ"))))),
        Formula(equal(entry("q", "b"), plus(times("a", call("sin", "θ")), times("b", call("cos", "θ"))))),
        words(f"step.rope.{turn.pairing}", dim=dim, base=turn.base),
        Table(tuple(words(f"column.{name}") for name in ("query", "position", "before", "after")), rows),
        Worked(equal(entry("q", i, a), first, float(turned[i, a]))),
        words("step.rope.why"),
    )
    return Step("rope", words("step.rope.title"), parts)


def _turned(walk: Walk, ids: Array) -> int:
    """The query whose rotation is worked out: the one in focus, or where that stands at 0, one that does not."""
    i = walk.focus[0]
    others = walk.rows[ids[walk.rows] != 0]
    return i if ids[i] != 0 or not len(others) else int(others[0])


def _standing(walk: Walk) -> Standing:
    """Where the tokens stand, found as it was when the case was read."""
    case = walk.case
    tokens, keys = case.q.shape[-2], case.k.shape[-2]
    if case.layer is None:
        # The mask of a case counts from its first key, cached or not.
        return standing_by(case.mask, case.placement, (tokens, keys - case.cached), seen=case.cached)
    cross = case.layer.memory is not None
    starts = 0 if cross else padding_on_the_left(case.mask, keys)
    return standing(case.placement, tokens, seen=case.cached, starts=starts, memory=keys if cross else None)


def _of_head(walk: Walk, layer: Layer, name: str, width: int) -> tuple[Array, Array | None]:
    """The columns of a packed matrix, and of its bias, that belong to this head."""
    arrays = layer.projections.arrays
    head = walk.leading[-1] if layer.projections.heads is not None else 0
    mine = slice(head * width, (head + 1) * width)
    bias = arrays.get(f"b_{name}")
    return packed(arrays[f"W_{name}"])[:, mine], None if bias is None else bias.reshape(-1)[mine]


def _which_head(walk: Walk) -> Words:
    heads = walk.case.layer.projections.heads if walk.case.layer is not None else None
    if heads is None:
        return words("step.projection.one")
    return words("step.projection.why", head=Position(walk.leading[-1]), heads=heads)


def _tokens(walk: Walk) -> Any:
    return axis("token", walk.rows, walk.sizes["Tq"], walk.case.query_labels)
