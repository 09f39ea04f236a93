"""Hidden cases: drawn from a seed, different in shape and mask, the same for everyone who is graded with that seed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sdpa_cli.attention import Mask
from sdpa_cli.cases import Case, Source

MASKS = ("none", "causal", "padding", "given")


@lru_cache(maxsize=16)
def drawn_cases(seed: int, count: int, masks: tuple[str, ...]) -> tuple[Case, ...]:
    """Cases of growing size, with these masks in turn.

    Parameters
    ----------
    seed
        Of all of them.
    count
        How many.
    masks
        Of `MASKS`.
    """
    generator = np.random.default_rng(seed)
    return tuple(_drawn(generator, number, masks[number % len(masks)]) for number in range(count))


def _drawn(generator: np.random.Generator, number: int, mask: str) -> Case:
    queries, keys, d_k, d_v = (int(size) for size in generator.integers(2 + number, 6 + number, 4))
    keys = queries if mask == "causal" else keys
    q, k, v = (generator.standard_normal(shape) for shape in ((queries, d_k), (keys, d_k), (keys, d_v)))
    return Case(Source(f"drawn {number + 1}", ""), q, k, v, _mask(generator, mask, queries, keys))


def _mask(generator: np.random.Generator, mask: str, queries: int, keys: int) -> Mask:
    if mask == "padding":
        return Mask(key_lengths=int(generator.integers(1, keys)))
    if mask == "given":
        forbidden = generator.random((queries, keys)) < 0.4
        forbidden[np.arange(queries), generator.integers(0, keys, queries)] = False  # every query keeps a key
        return Mask(forbidden=forbidden)
    return Mask(causal=mask == "causal")
