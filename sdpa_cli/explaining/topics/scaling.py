"""Topic: why scores are divided by √d_k, measured on random numbers."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import attend
from sdpa_cli.explaining.maths import call, equal, over, root, times
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Formula, Step, Table

WRITER = Writer("scaling")
SAMPLES = 4000
KEYS = 8
LENGTHS = (4, 64, 512)


def scaling(options: TopicOptions) -> tuple[Step, ...]:
    """The model, what is measured, and what that does to a softmax."""
    lengths = LENGTHS if options.d is None else (options.d,)
    rng = np.random.default_rng(options.seed)
    rows = tuple((d, *_measured(rng, d)) for d in lengths)
    return (
        WRITER.step(
            "model",
            WRITER.words("model.why"),
            Formula(equal(call("Var", times("q", "k")), "d_k")),
            Formula(equal(call("Var", over(times("q", "k"), root("d_k"))), 1)),
        ),
        WRITER.step(
            "measured",
            WRITER.words("measured.why", samples=SAMPLES, seed=options.seed, keys=KEYS),
            Table(WRITER.columns("d_k", "variance", "variance-scaled", "largest", "largest-scaled"), rows),
            WRITER.words("measured.reading"),
        ),
        WRITER.step("heuristic", WRITER.words("heuristic.why")),
    )


def _measured(rng: np.random.Generator, d: int) -> tuple[float, float, float, float]:
    """Variance of dot products and mean largest weight, before and after scaling."""
    q, k = rng.standard_normal((2, SAMPLES, d))
    products = (q * k).sum(axis=-1)
    queries, keys = rng.standard_normal((SAMPLES // KEYS, 1, d)), rng.standard_normal((SAMPLES // KEYS, KEYS, d))
    values = np.ones((*keys.shape[:-1], 1))
    plain, scaled = (attend(queries, keys, values, scale=s).weights().max(axis=-1).mean() for s in (1.0, None))
    return float(products.var()), float((products / np.sqrt(d)).var()), float(plain), float(scaled)
