"""From what a case gives to the queries, keys and values that its heads compute with.

Embeddings are projected, positions told, cached keys put in front: what is left is one attention like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Additive, Dot, General, Linear, Mask, Placement, Rope
from sdpa_cli.attention.head_inputs import Heads
from sdpa_cli.attention.placement import placement_problems, standing_by
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.errors import InputError

if TYPE_CHECKING:
    from sdpa_cli.attention import KVCache, Projections

Array = NDArray[Any]
Values = dict[str, Any]

WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V", "b_O")
ARRAYS = ("Q", "K", "V", "X", "memory", *WEIGHTS)
"""Fields whose dtype decides what is computed in."""


@dataclass(frozen=True, eq=False)
class Layer:
    """What the queries, keys and values of a case were made of."""

    x: Array
    """``(T, d_model)`` or ``(B, T, d_model)``, before any positions."""
    memory: Array | None
    projections: Projections


@dataclass(frozen=True, eq=False)
class Lowered:
    """What a case comes down to."""

    heads: Heads
    """Queries, and all keys and values, the cached ones first."""
    cached: int
    """How many of the keys came from `past`."""
    placement: Placement
    layer: Layer | None = None


def lower(values: Values, arrays: dict[str, Array], mask: Mask) -> Lowered:
    """Bring a case down to its queries, keys and values.

    Parameters
    ----------
    values
        What its fields say.
    arrays
        Those of its fields that are `ARRAYS`, in the dtype to compute in.
    mask
        Its mask, which tells of padding.

    Raises
    ------
    InputError
        With every problem found, at the fields' names.
    """
    placement = _placement(values)
    past = None
    # Of a memory and a past the reader has said already that they exclude each other.
    if "past" in values and "memory" not in values:
        from sdpa_cli.attention import KVCache

        dtype = arrays["X" if "X" in arrays else "Q"].dtype
        past = KVCache(np.asarray(values["past"]["K"], dtype), np.asarray(values["past"]["V"], dtype))
    if "X" not in arrays:
        return _lower_heads(Heads(arrays["Q"], arrays["K"], arrays["V"]), placement, past, mask)
    return _lower_layer(values, arrays, placement, (past, mask))


def _lower_layer(
    values: Values, arrays: dict[str, Array], placement: Placement, given_before: tuple[KVCache | None, Mask]
) -> Lowered:
    """The same where embeddings and the matrices of a layer are given."""
    from sdpa_cli.attention import Projections
    from sdpa_cli.attention.layer import embed

    past, mask = given_before
    given: dict[str, Any] = {name: arrays[name] for name in WEIGHTS if name in arrays}
    weights = Projections(**given, num_heads=values.get("num_heads"), num_kv_heads=values.get("num_kv_heads"))
    layer = Layer(arrays["X"], arrays.get("memory"), weights)
    heads = embed(layer.x, weights, memory=layer.memory, placement=placement, past=past, mask=mask)
    return Lowered(heads, 0 if past is None else past.length, placement, layer)


def _lower_heads(heads: Heads, placement: Placement, past: KVCache | None, mask: Mask) -> Lowered:
    """The same where queries, keys and values are given as they are, but for their rotation."""
    q, k, v = heads.q, heads.k, heads.v
    if placement.rope is not None:
        seen = 0 if past is None else past.seen
        found = standing_by(mask, placement, (q.shape[-2], k.shape[-2]), seen=seen)
        problems = placement_problems(found, q.shape, q.shape[-1])
        if problems:
            raise InputError(*problems)
        q, k = found.turned(q, k)
    if past is not None:
        longer = past.append(k, v)
        k, v = longer.k, longer.v
    return Lowered(Heads(q, k, v), 0 if past is None else past.length, placement)


def _placement(values: Values) -> Placement:
    rope = values.get("rope")
    if isinstance(rope, str):
        rope = {"pairing": rope}
    return Placement(
        added=values.get("positions"),
        rope=None if rope is None else Rope(**rope),
        ids=values.get("position_ids"),
    )


def score_function(values: Values) -> Score | None:
    """The score function a case names; None for the scaled dot product."""
    said = values.get("score", "scaled_dot")
    if isinstance(said, str):
        return {"scaled_dot": None, "dot": Dot(), "linear": Linear()}[said]
    return General(said["general"]) if "general" in said else Additive(**said["additive"])
