"""Topic: the relatives of scaled dot-product attention, on the same queries, keys and values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpa_cli.attention import Additive, Dot, General, Linear, Mask, attend, linear_recurrence
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.explaining.maths import Maths, call, over, plus, product, root, transposed, vector
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Check, Facts, Formula, Link, Step, words

WRITER = Writer("family")
Q, K = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])
V = np.array([[1.0, 2.0], [3.0, 4.0]])
W = np.array([[2.0, 0.0], [1.0, 1.0]])
_DOT = product(transposed("q"), "k")


@dataclass(frozen=True, eq=False)
class Member:
    """One way to compare a query with a key."""

    name: str
    score: Score | None
    rule: Maths
    paper: Link


MEMBERS = (
    Member(
        "additive",
        Additive(v=1),
        product(transposed("v"), call("tanh", plus(product("W_q", "q"), product("W_k", "k")))),
        Link("D. Bahdanau, K. Cho and Y. Bengio, 2014", "https://arxiv.org/abs/1409.0473"),
    ),
    Member(
        "dot", Dot(), _DOT, Link("M.-T. Luong, H. Pham and C. D. Manning, 2015", "https://arxiv.org/abs/1508.04025")
    ),
    Member(
        "general",
        General(W),
        product(transposed("q"), "W", "k"),
        Link("M.-T. Luong, H. Pham and C. D. Manning, 2015", "https://arxiv.org/abs/1508.04025"),
    ),
    Member(
        "scaled", None, over(_DOT, root("d_k")), Link("A. Vaswani et al., 2017", "https://arxiv.org/abs/1706.03762")
    ),
    Member(
        "linear",
        Linear(),
        product(call("φ", "q"), call("φ", "k")),
        Link("A. Katharopoulos et al., 2020", "https://arxiv.org/abs/2006.16236"),
    ),
)


def family(options: TopicOptions) -> tuple[Step, ...]:
    """One step for each relative, and what linear attention buys."""
    return (*map(_step, MEMBERS), _recurrence(options.seed))


def _step(member: Member) -> Step:
    """How it compares, and what the first query gets."""
    found = attend(Q, K, V, score=member.score)
    numbers = (
        (words("topic.family.weights"), vector(map(float, found.weights()[0]))),
        (words("topic.family.output"), vector(map(float, found.output[0]))),
        (words("topic.source"), member.paper),
    )
    return WRITER.step(member.name, Formula(member.rule), WRITER.words(f"{member.name}.why"), Facts(numbers))


def _recurrence(seed: int) -> Step:
    """Linear attention as a running state: the same numbers."""
    q, k, v = np.random.default_rng(seed).standard_normal((3, 5, 3))
    whole = attend(q, k, v, mask=Mask(causal=True), score=Linear()).output
    stepwise, state = linear_recurrence(q, k, v)
    deviation = float(np.abs(whole - stepwise).max())
    return WRITER.step(
        "recurrence",
        WRITER.words("recurrence.why", numbers=int(state.kv.size + state.k.size), seed=seed),
        Check(WRITER.words("recurrence.equal", deviation=deviation), deviation < 1e-12),
    )
