"""Topic: masks, before the softmax and not after it, and the rules that make them."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import Attention, Mask, Window, attend
from sdpa_cli.explaining.comparing.evidence import row_sums
from sdpa_cli.explaining.comparing.faults import TITLES
from sdpa_cli.explaining.comparing.sides import Parting, Sides, pair
from sdpa_cli.explaining.comparing.witnesses import witness
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Command, Reasons, Step, Table
from sdpa_cli.explaining.walk import axis
from sdpa_cli.faults import CATALOGUE, Recipe

WRITER = Writer("masks")
T = 4


def masks(options: TopicOptions) -> tuple[Step, ...]:
    """Before and after; causal, window and padding drawn; the offset; what True means."""
    name = "mask-after-softmax"
    inputs = witness(name)
    sides = Sides(inputs, Recipe().run(inputs), CATALOGUE[name].recipe.run(inputs), TITLES)
    first_row = Parting("weights", (0, 0, 0, 0, 0))
    return (
        WRITER.step(
            "order",
            WRITER.words("order.why"),
            pair(sides, "weights", first_row),
            row_sums(sides, first_row),
            WRITER.words("order.reading"),
            Command(f"sdpa explain --fault {name}"),
        ),
        WRITER.step("causal", WRITER.words("causal.why"), _drawn(Mask(causal=True))),
        WRITER.step("window", WRITER.words("window.why"), _drawn(Mask(window=Window(2, 0)))),
        WRITER.step("padding", WRITER.words("padding.why"), _drawn(Mask(key_lengths=3))),
        WRITER.step(
            "offset", WRITER.words("offset.why"), Table(WRITER.columns("offset", "live-1", "live-2"), _offsets())
        ),
        WRITER.step("meaning", WRITER.words("meaning.why")),
    )


def _attention(mask: Mask, queries: int = T) -> Attention:
    return attend(np.ones((queries, 1)), np.ones((T, 1)), np.ones((T, 1)), mask=mask)


def _drawn(mask: Mask) -> Reasons:
    """A mask of T tokens, the reason in each cell."""
    rules = _attention(mask).reasons()
    cells = tuple(
        tuple(tuple(name for name, where in rules.items() if where[i, j]) for j in range(T)) for i in range(T)
    )
    return Reasons(cells, axis("query", np.arange(T), T), axis("key", np.arange(T), T))


def _offsets() -> tuple[tuple[int, ...], ...]:
    """How many keys two queries may look at, for both usual offsets."""
    return tuple(
        (offset, *map(int, _attention(Mask(causal=True, query_offset=offset), queries=2).live_counts()))
        for offset in (0, T - 2)
    )
