"""Topic: a long context that is accepted is not yet a long context that is used."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import attend
from sdpa_cli.explaining.maths import call, equal, minus, over, plus
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Facts, Formula, Link, Step, Table, words

WRITER = Writer("long-context")
TOKENS = (16, 256, 4096, 65536)
LEAD = 4.0
STUDY = Link("N. F. Liu et al., Lost in the Middle, 2023", "https://arxiv.org/abs/2307.03172")


def long_context(options: TopicOptions) -> tuple[Step, ...]:
    """Dilution, computed; and what was found of trained models, cited."""
    tokens = TOKENS if options.tokens is None else (options.tokens,)
    rows = tuple((t, *_weight(t)) for t in tokens)
    share = over(call("exp", "Δ"), plus(call("exp", "Δ"), minus("T", 1)))
    return (
        WRITER.step("accepting", WRITER.words("accepting.why")),
        WRITER.step(
            "dilution",
            WRITER.words("dilution.why", lead=LEAD),
            Formula(equal("w", share)),
            Table(WRITER.columns("tokens", "weight", "rest"), rows),
            WRITER.words("dilution.reading", lead=float(np.log(tokens[-1] - 1)), tokens=tokens[-1]),
        ),
        WRITER.step(
            "middle", WRITER.words("middle.why"), Facts(((words("topic.source"), STUDY),)), WRITER.words("middle.test")
        ),
    )


def _weight(tokens: int) -> tuple[float, float]:
    """The weight of one key whose score leads all others by LEAD, and that of the others together."""
    keys = np.zeros((tokens, 1))
    keys[tokens // 2] = LEAD
    weight = float(attend([[1.0]], keys, np.ones((tokens, 1))).weights(cols=np.array([tokens // 2]))[0, 0])
    return weight, 1 - weight
