"""Topic: what attention costs, in arithmetic and in memory, as a sequence grows."""

from __future__ import annotations

from sdpa_cli.explaining.costs import Size, cost
from sdpa_cli.explaining.maths import plus, times
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Bytes, Formula, Step, Table

WRITER = Writer("cost")
TOKENS = (128, 1024, 8192, 65536)


def costs(options: TopicOptions) -> tuple[Step, ...]:
    """The formulas, a table over T, and what a doubling does."""
    d, heads = options.d or 64, options.heads or 8
    tokens = TOKENS if options.tokens is None else (options.tokens, 2 * options.tokens)
    found = {t: cost(_size(t, d, heads)) for t in tokens}
    rows = tuple(
        (t, c.for_scores + c.for_output, Bytes(c.naive), Bytes(c.streaming), Bytes(c.cache)) for t, c in found.items()
    )
    one, two = (cost(_size(t, d, heads)) for t in (tokens[0], 2 * tokens[0]))
    factors = {
        "arithmetic": (two.for_scores + two.for_output) / (one.for_scores + one.for_output),
        "naive": two.naive / one.naive,
        "cache": two.cache / one.cache,
    }
    return (
        WRITER.step(
            "formula",
            WRITER.words("formula.why"),
            Formula(plus(times("H", "T", "T", "d_k"), times("H", "T", "T", "d_v"))),
        ),
        WRITER.step(
            "table",
            WRITER.words("table.why", d=d, heads=heads),
            Table(WRITER.columns("tokens", "multiply-adds", "naive", "streaming", "cache"), rows),
        ),
        WRITER.step("doubling", WRITER.words("doubling.why", tokens=tokens[0], **factors)),
        WRITER.step("tiling", WRITER.words("tiling.why")),
    )


def _size(tokens: int, d: int, heads: int) -> Size:
    return Size(tokens, tokens, d, d, heads=heads, kv_heads=heads, itemsize=4)
