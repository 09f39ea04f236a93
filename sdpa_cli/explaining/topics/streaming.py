"""Topic: the online softmax, on six keys that raise the maximum more than once."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention import Mask
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.streaming import stream
from sdpa_cli.explaining.topics.building import TopicOptions, Writer, small_case
from sdpa_cli.explaining.trace import Step

WRITER = Writer("streaming")


def streaming(options: TopicOptions) -> tuple[Step, ...]:
    """Why, and then every tile of a small case."""
    tokens = options.tokens or 6
    rng = np.random.default_rng(options.seed)
    k = np.sort(rng.standard_normal((tokens, 1)), axis=0) * [[1.0, 0.5]]
    v = rng.standard_normal((tokens, 2)).round(2)
    case = small_case([[1.0, 1.0], [-1.0, 0.0]], k.round(2), v, Mask(key_lengths=max(1, tokens - 1)))
    return (
        WRITER.step("idea", WRITER.words("idea.why")),
        *stream(case, Selectors(block_size=2)).steps,
    )
