"""The key/value cache of generation: what earlier tokens leave behind, so that only new ones are projected."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class KVCache:
    """Keys and values of the tokens seen so far, as the heads have them: projected, and rotated if RoPE is in use.

    Parameters
    ----------
    k, v
        ``(…, H_kv, T, d_k)`` and ``(…, H_kv, T, d_v)``.
    first
        Absolute position of the oldest key that is kept.
    reach
        For sliding-window attention, how many keys before its own position a query looks at. Older ones are let go: a
        rolling cache never holds more than ``reach + 1`` keys while tokens come one at a time.

    References
    ----------
    .. [1] N. Shazeer, "Fast Transformer Decoding: One Write-Head is All You Need", arXiv:1911.02150, 2019, section 2.4.

    Examples
    --------
    >>> cache = KVCache(np.zeros((2, 3, 4)), np.zeros((2, 3, 4)), reach=2)
    >>> cache = cache.append(np.ones((2, 1, 4)), np.ones((2, 1, 4)))
    >>> cache.first, cache.length, cache.seen
    (1, 3, 4)
    """

    k: Array
    v: Array
    first: int = 0
    reach: int | None = None

    @property
    def length(self) -> int:
        """How many tokens are kept."""
        return int(self.k.shape[-2])

    @property
    def seen(self) -> int:
        """How many tokens have come: the position of the next one."""
        return self.first + self.length

    @property
    def outreached(self) -> int:
        """How many of the kept keys the next query cannot reach any more."""
        return 0 if self.reach is None else max(0, self.length - self.reach)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are kept."""
        return self.k.nbytes + self.v.nbytes

    def append(self, k: ArrayLike, v: ArrayLike) -> KVCache:
        """The cache after some more tokens; what no later query can reach is let go.

        Parameters
        ----------
        k, v
            Keys and values of the new tokens, ``(…, H_kv, n, d_k)`` and ``(…, H_kv, n, d_v)``.

        Raises
        ------
        InputError
            If they do not fit those in the cache.
        """
        new_k, new_v = np.asarray(k), np.asarray(v)
        problems = [*_fit_problems("K", new_k, self.k), *_fit_problems("V", new_v, self.v)]
        if problems:
            raise InputError(*problems)
        gone = self.outreached
        return KVCache(
            np.concatenate([self.k[..., gone:, :], new_k], axis=-2),
            np.concatenate([self.v[..., gone:, :], new_v], axis=-2),
            self.first + gone,
            self.reach,
        )


def _fit_problems(name: str, new: Array, old: Array) -> list[Problem]:
    """Whether an array has the cached one's axes, but for the tokens."""
    if new.ndim == old.ndim and new.shape[:-2] == old.shape[:-2] and new.shape[-1] == old.shape[-1]:
        return []
    message = f"{name} has shape {new.shape}, the cached {name} has {old.shape}"
    return [Problem("shape-mismatch", message, "the same axes but for the tokens", None, ("past", name))]


def cache_bytes(keys: int, d_k: int, d_v: int, *, heads: tuple[int, ...] = (1,), dtype: DTypeLike = "float16") -> int:
    """Bytes of a key/value cache: ``keys · (d_k + d_v)`` numbers for each key/value head.

    Parameters
    ----------
    keys
        Tokens that are kept; with a sliding window no more than it holds.
    d_k, d_v
        Length of a key and of a value.
    heads
        Sizes of every axis before: layers, batch entries, key/value heads. Multi-query attention has one key/value
        head, grouped-query attention one per group: that is what shrinks the cache.
    dtype
        What it is kept in.

    Examples
    --------
    >>> [cache_bytes(1024, 64, 64, heads=(12, h)) >> 20 for h in (12, 4, 1)]
    [36, 12, 3]
    """
    return prod(heads) * keys * (d_k + d_v) * np.dtype(dtype).itemsize
