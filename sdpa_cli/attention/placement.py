"""Which position each token has, and how embeddings, queries and keys are told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.checks import as_array
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.positions import Rope, position_problems, rope_problems, rotate, sinusoidal
from sdpa_cli.errors import Problem

Array = NDArray[Any]
Ints = NDArray[np.int64]
MaskLike = TypeVar("MaskLike", bound=ArrayLike | Mask | None)


@dataclass(frozen=True, eq=False)
class Placement:
    """How a layer is told where its tokens stand. By default it is not told: attention then cannot see order.

    Parameters
    ----------
    added
        What is added to the embeddings X: ``"sinusoidal"``, or learned vectors ``(longest, d_model)``, one for each
        position from 0 on.
    rope
        How queries and keys are turned.
    ids
        Positions of the tokens of X, ``(T,)`` or ``(B, T)``. By default they count on from the cached tokens, and with
        left padding the first real token stands at position 0.
    """

    added: Literal["sinusoidal"] | ArrayLike | None = None
    rope: Rope | None = None
    ids: ArrayLike | None = None


UNPLACED = Placement()
"""A layer that is told nothing."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the tokens of one problem stand."""

    ids: Ints
    """Of X, ``(T,)`` or ``(B, T)``."""
    memory: Ints
    """Of what keys are made of, likewise."""
    placement: Placement = UNPLACED

    def embedded(self, x: Array) -> Array:
        """X with its positions added."""
        added = self.placement.added
        if added is None:
            return x
        vectors = sinusoidal(self.ids, x.shape[-1]) if isinstance(added, str) else np.asarray(added)[self.ids]
        moved: Array = x + vectors.astype(x.dtype if x.dtype.kind == "f" else np.float64)
        return moved

    def turned(self, q: Array, k: Array) -> tuple[Array, Array]:
        """Queries and keys turned by their positions."""
        rope = self.placement.rope
        return (q, k) if rope is None else (rotate(q, self.ids, rope), rotate(k, self.memory, rope))


def standing(
    placement: Placement, tokens: int, *, seen: int = 0, starts: Any = 0, memory: int | None = None
) -> Standing:
    """Give every token its position.

    Parameters
    ----------
    placement
        How positions are told, and what they are if they are stated.
    tokens
        Tokens of X.
    seen
        Tokens before them that are cached.
    starts
        Index of the first real token where padding stands on the left: one for all, or ``(B,)``.
    memory
        Tokens of the memory in cross-attention, which stand at 0, 1, …; None for self-attention.
    """
    if placement.ids is None:
        # Padding on the left stands at 0 with the first real token: it is forbidden as a key, whatever its position.
        ids = np.maximum(np.arange(seen, seen + tokens) - np.asarray(starts)[..., None], 0)
        ids = ids[0] if ids.shape[:-1] == (1,) else ids
    else:
        # A ragged list is no array of numbers; the check says so.
        ids = np.asarray(as_array(placement.ids), None if as_array(placement.ids) is not None else object)
    return Standing(ids, ids if memory is None else np.arange(memory), placement)


def standing_by(mask: Mask, placement: Placement, counts: tuple[int, int], *, seen: int = 0) -> Standing:
    """Give queries and keys that are not made of embeddings their positions.

    Parameters
    ----------
    mask
        Tells where the queries stand among the keys.
    placement
        How positions are told, and what those of the queries are if they are stated.
    counts
        How many queries, and how many keys besides the cached ones.
    seen
        Keys before them that are cached.
    """
    queries, keys = counts
    first = seen if mask.query_offset is None else mask.query_offset
    if first == seen and queries == keys:
        return standing(placement, queries, seen=seen, starts=padding_on_the_left(mask, seen + keys))
    # Other tokens than the queries'. Only distances matter, so padding before all of them may count.
    return replace(standing(placement, queries, seen=first), memory=np.arange(seen, seen + keys))


def placement_problems(found: Standing, x: tuple[int, ...], d_k: int) -> list[Problem]:
    """Whether positions can be given to embeddings of this shape and to queries of length d_k."""
    placement = found.placement
    problems = [] if placement.ids is None else position_problems(found.ids, x)
    if placement.rope is not None:
        problems += rope_problems(placement.rope, d_k)
    added = placement.added
    if isinstance(added, str):
        if added != "sinusoidal":
            message = f"positions is {added!r}"
            problems.append(
                Problem("choice", message, "'sinusoidal', or one vector per position", None, ("positions",))
            )
        return problems
    if added is None or problems:
        return problems
    return problems + _table_problems(np.asarray(added), found.ids, x[-1])


def _table_problems(table: Array, ids: Ints, d_model: int) -> list[Problem]:
    path = ("positions",)
    if table.ndim != 2 or table.shape[1] != d_model:
        message = f"positions has shape {table.shape}, X has d_model = {d_model}"
        return [Problem("shape-mismatch", message, f"(longest, {d_model})", "one vector for each position", path)]
    last, first = int(ids.max(initial=0)), int(ids.min(initial=0))
    if first < 0 or last >= len(table):
        wrong = first if first < 0 else last
        message = f"positions has {len(table)} vectors, and a token stands at position {wrong} (counting from 0)"
        hint = "learned positions end with the longest sequence seen in training"
        return [Problem("position", message, f"positions 0 to {len(table) - 1}", hint, path)]
    return []


def padding_on_the_left(mask: ArrayLike | Mask | None, keys: int) -> Array | int:
    """How many keys of padding stand before the real ones: one number, or one per batch entry."""
    if not isinstance(mask, Mask) or mask.padding_side != "left" or mask.key_lengths is None:
        return 0
    lengths = np.asarray(mask.key_lengths)
    return np.asarray(keys - lengths) if lengths.ndim < 2 else 0


def continuing(mask: MaskLike, cached: int) -> MaskLike:
    """A mask whose queries stand after the cached keys, unless it says where they stand."""
    if cached == 0 or not isinstance(mask, Mask) or mask.query_offset is not None:
        return mask
    return replace(mask, query_offset=cached)
