"""Topic: generation with a cache of keys and values equals the causal pass over the whole text."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import Mask, attend
from sdpa_cli.explaining.costs import Size, cost
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Bytes, Check, Step, Table

WRITER = Writer("kv-cache")


def kv_cache(options: TopicOptions) -> tuple[Step, ...]:
    """One causal pass; then the same tokens one at a time."""
    tokens, d = options.tokens or 5, options.d or 4
    rng = np.random.default_rng(options.seed)
    q, k, v = rng.standard_normal((3, tokens, d))
    whole = attend(q, k, v, mask=Mask(causal=True)).output
    rows, worst = [], 0.0
    for t in range(tokens):
        alone = attend(q[t : t + 1], k[: t + 1], v[: t + 1]).output[0]
        deviation = float(np.abs(alone - whole[t]).max())
        worst = max(worst, deviation)
        rows.append((t + 1, t + 1, Bytes(cost(Size(1, t + 1, d, d)).cache), deviation))
    return (
        WRITER.step("idea", WRITER.words("idea.why")),
        WRITER.step(
            "steps",
            WRITER.words("steps.why", tokens=tokens, d=d, seed=options.seed),
            Table(WRITER.columns("token", "keys", "cache", "deviation"), tuple(rows)),
            Check(WRITER.words("steps.equal", deviation=worst), worst < 1e-12),
        ),
        WRITER.step("price", WRITER.words("price.why", saved=sum(range(tokens)))),
    )
