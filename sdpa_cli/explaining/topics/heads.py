"""Topic: several heads, and sharing keys and values among them."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import attend
from sdpa_cli.attention.heads import merge_heads
from sdpa_cli.explaining.costs import Size, cost
from sdpa_cli.explaining.maths import Dots, call, entry, equal, over, product
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Bytes, Formula, Step, Table

WRITER = Writer("heads")
D_MODEL = 512
_APART = (4, 2, 3)
"""Four outputs, each (Tq, d_v)."""


def heads(options: TopicOptions) -> tuple[Step, ...]:
    """Splitting, sharing, merging."""
    count, tokens = options.heads or 8, options.tokens or 4096
    d = options.d or max(1, D_MODEL // count)
    shared = tuple(
        (WRITER.words(f"kinds.{name}"), groups, Bytes(cost(_size(tokens, d, count, groups)).cache))
        for name, groups in (("mha", count), ("gqa", max(1, count // 4)), ("mqa", 1))
    )
    outputs = _outputs()
    return (
        WRITER.step(
            "split",
            WRITER.words("split.why", model=count * d, heads=count, d=d),
            Formula(equal("d_k", over("d_model", "H"))),
            Formula(equal("O", product(call("concat", entry("O", "1"), Dots(), entry("O", "H")), "W_O"))),
            WRITER.words("split.specialise"),
        ),
        WRITER.step(
            "kinds",
            WRITER.words("kinds.why", tokens=tokens, d=d, heads=count),
            Table(WRITER.columns("kind", "kv-heads", "cache"), shared),
        ),
        WRITER.step(
            "sharing",
            WRITER.words("sharing.why"),
            Table(
                WRITER.columns("head", "kv-head", "output"),
                tuple((h + 1, h // 2 + 1, float(value)) for h, value in enumerate(outputs)),
            ),
        ),
        WRITER.step("merge", WRITER.words("merge.why", heads=_APART[0], one=_APART[1:], merged=_merged())),
    )


def _size(tokens: int, d: int, count: int, kv_heads: int) -> Size:
    return Size(1, tokens, d, d, heads=count, kv_heads=kv_heads, itemsize=2)


def _outputs() -> np.ndarray:
    """Four query heads over two key/value heads whose values are all 1 and all 2."""
    values = np.ones((1, 2, 3, 1)) * np.array([1.0, 2.0])[None, :, None, None]
    return attend(np.ones((1, 4, 1, 2)), np.ones((1, 2, 3, 2)), values).output.ravel()


def _merged() -> tuple[int, ...]:
    """The shape of all outputs side by side."""
    return tuple(merge_heads(np.zeros(_APART)).shape)
