"""Generation: one query at a time against a cache of the keys so far, by the same engine as everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.attending import attention_of
from sdpa_cli.attention.cache import KVCache
from sdpa_cli.attention.inputs import Inputs, prepare
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.options import Options, Settings
from sdpa_cli.attention.regions import Region
from sdpa_cli.attention.result import Attention
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Decoded:
    """What comes of decoding."""

    attention: Attention
    """Of all queries, each computed when its token came."""
    cache: KVCache
    """After the last token, ``(B, H_kv, T, d)``."""
    kept: tuple[int, ...]
    """How many keys the cache held at each step."""


def decode(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, *, mask: Mask, bias: ArrayLike | None = None, **settings: Unpack[Settings]
) -> Decoded:
    """Feed tokens one at a time through a key/value cache, as generation does.

    Each step appends one key and one value and computes one query; with a window, the cache rolls: it lets go of the
    keys that no later query can reach. The result equals that of `sdpa_cli.attend`, but for rounding.

    Parameters
    ----------
    q, k, v
        As in `sdpa_cli.attend`. Keys before the first query's position are in the cache from the start.
    mask
        Causal, and whatever else; where ``Tq != Tk``, with ``query_offset`` ``Tk - Tq``.
    bias, **settings
        As in `sdpa_cli.attend`.

    Returns
    -------
    Decoded

    Raises
    ------
    InputError
        As `sdpa_cli.attend` does; also if the mask is not causal, or queries and keys do not end together.

    Examples
    --------
    >>> from sdpa_cli.attention import Window
    >>> x = np.eye(4)
    >>> decode(x, x, x, mask=Mask(causal=True, window=Window(left=1))).kept
    (1, 2, 2, 2)
    """
    return decode_inputs(prepare({"Q": q, "K": k, "V": v}, mask, bias, Options(**settings)))


def decode_inputs(inputs: Inputs) -> Decoded:
    """`decode`, from inputs that are checked and arranged."""
    problems = order_problems(inputs)
    if problems:
        raise InputError(*problems)
    first, window = inputs.rule.offset, inputs.rule.window
    reach = None if window is None else window.left
    cache = KVCache(inputs.k[..., :first, :], inputs.v[..., :first, :], reach=reach)
    steps, kept = [], []
    for t in range(inputs.queries):
        new = slice(first + t, first + t + 1)
        cache = cache.append(inputs.k[..., new, :], inputs.v[..., new, :])
        kept.append(cache.length)
        steps.append(attention_of(_step(inputs, t, cache)))
    return Decoded(_joined(inputs, steps), cache, tuple(kept))


def _step(inputs: Inputs, t: int, cache: KVCache) -> Inputs:
    """One query against the keys in the cache."""
    batch, heads, group = (slice(0, n) for n in inputs.heads)
    part = inputs.part(Region(batch, heads, group, slice(t, t + 1), slice(cache.first, cache.seen)))
    return part.but(k=cache.k, v=cache.v)


def _joined(inputs: Inputs, steps: list[Attention]) -> Attention:
    """The steps as one attention, whose scores and weights can be looked at like any other's."""
    if not steps:
        return attention_of(inputs)
    return Attention(
        output=np.concatenate([step.output for step in steps], axis=-2),
        lse=np.concatenate([step.lse for step in steps], axis=-1),
        _inputs=inputs,
        _reference=np.concatenate([step._reference for step in steps], axis=-1),
        _total=np.concatenate([step._total for step in steps], axis=-1),
    )


def order_problems(inputs: Inputs) -> list[Problem]:
    """What keeps a problem from being decoded token by token."""
    found, path = [], ("decode",)
    queries, keys, first = inputs.queries, inputs.keys, inputs.rule.offset
    if not inputs.rule.causal:
        message = "decoding needs a causal mask: a token cannot look at tokens that are yet to come"
        found.append(Problem("decode", message, "mask: causal", None, path))
    if first + queries != keys or first < 0:
        message = f"decoding adds one key per query, but Tq = {queries}, Tk = {keys} and query_offset is {first}"
        found.append(Problem("decode", message, f"query_offset {keys - queries}", "earlier keys belong in past", path))
    return found
