"""After attention: the heads side by side, W_O, and the cache of keys and values."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import combine
from sdpa_cli.attention.attending import attention_of
from sdpa_cli.cases.lowering import Layer
from sdpa_cli.explaining.maths import Dots, call, entry, equal, long_sum, product, times, vector
from sdpa_cli.explaining.trace import Bytes, Check, Facts, Formula, Part, Position, Step, Table, Worked, words
from sdpa_cli.explaining.walk import Walk, features


def heads(walk: Walk, layer: Layer) -> Step:
    """The outputs of all heads, concatenated and projected."""
    concatenated, output = (
        found[walk.leading[: found.ndim - 2]] for found in combine(walk.whole.output, layer.projections)
    )
    i = walk.focus[0]
    count = layer.projections.heads or 1
    parts: list[Part] = [
        Formula(equal("C", call("concat", entry("O", "1"), Dots(), entry("O", "H")))),
        words("step.heads.why", heads=count, width=concatenated.shape[-1]),
        features("C", concatenated[walk.rows], walk.query_axis),
    ]
    arrays = layer.projections.arrays
    if "W_O" in arrays:
        weight = arrays["W_O"].reshape(concatenated.shape[-1], -1)
        terms = [times(float(a), float(b)) for a, b in zip(concatenated[i], weight[:, 0], strict=True)]
        added = [float(arrays["b_O"][0])] if "b_O" in arrays else []
        parts += [
            Formula(equal("Y", product("C", "W_O"))),
            words("step.heads.projected"),
            features("Y", output[walk.rows], walk.query_axis),
            Worked(equal(entry("Y", i, 0), long_sum([*terms, *added]), float(output[i, 0]))),
        ]
    else:
        parts.append(Worked(equal(entry("C", i), vector(map(float, concatenated[i])))))
    return Step("heads", words("step.heads.title"), tuple(parts))


def cache(walk: Walk) -> Step:
    """The keys and values that were there before, and those that are kept."""
    case = walk.case
    parts: list[Part] = [words("step.cache.why", cached=case.cached, keys=walk.sizes["Tk"])]
    kept = case.k.nbytes + case.v.nbytes
    if case.decode:
        decoded = case.decoded()
        whole = attention_of(case.inputs()).output
        deviation = float(np.abs(decoded.attention.output - whole).max(initial=0.0))
        kept = decoded.cache.nbytes
        rows = tuple((Position(t), count) for t, count in enumerate(decoded.kept))
        parts += [
            words("step.cache.decode"),
            Table((words("column.query"), words("column.kept")), rows),
            Check(words("check.decode", deviation=deviation), deviation < 1e-6 * max(1.0, float(np.abs(whole).max()))),
        ]
    parts.append(Facts(((words("fact.cost.cache"), Bytes(kept)),)))
    return Step("cache", words("step.cache.title"), tuple(parts))
