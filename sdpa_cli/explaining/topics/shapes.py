"""Topic: which shapes go in, which come out, and what happens when they do not fit."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import attend
from sdpa_cli.errors import InputError
from sdpa_cli.explaining.maths import QK, entry, equal, over, product, root
from sdpa_cli.explaining.topics.building import TopicOptions, Writer, shapes_of
from sdpa_cli.explaining.trace import Code, Formula, Step

WRITER = Writer("shapes")


def shapes(options: TopicOptions) -> tuple[Step, ...]:
    """One matrix each, leading axes, and shapes that do not fit."""
    rng = np.random.default_rng(options.seed)
    q, k, v = (rng.standard_normal(shape) for shape in ((2, 2), (3, 2), (3, 4)))
    heads = attend(rng.standard_normal((1, 4, 2, 2)), rng.standard_normal((1, 2, 3, 2)), np.ones((1, 2, 3, 4)))
    return (
        WRITER.step(
            "letters",
            WRITER.words("letters.why"),
            shapes_of(attend(q, k, v)),
            Formula(equal("S", over(QK, root("d_k")))),
            Formula(equal(entry("o", "i"), product(entry("A", "i"), "V"))),
            WRITER.words("letters.free"),
        ),
        WRITER.step("leading", WRITER.words("leading.why"), shapes_of(heads), WRITER.words("leading.softmax")),
        WRITER.step("wrong", WRITER.words("wrong.why", length=3, queries=2, message=Code(_refusal(q)))),
    )


def _refusal(q: np.ndarray) -> str:
    """What the engine says to keys of another length than the queries."""
    try:
        attend(q, np.ones((3, 3)), np.ones((3, 4)))
    except InputError as error:
        return error.problems[0].message
    raise AssertionError("keys of length 3 met queries of length 2")
