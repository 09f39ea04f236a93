"""What enters the engine: every value checked, all problems told at once, and one arrangement of the axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention import checks, mask_checks
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.regions import Region
from sdpa_cli.attention.rule import MaskRule
from sdpa_cli.attention.shipping import Shipped
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]
EmptyRows = Literal["error", "zero"]
NonFinite = Literal["error", "propagate"]


@dataclass(frozen=True)
class Options:
    """The settings of one call besides its arrays, as the caller gave them."""

    scale: float | None = None
    softcap: float | None = None
    empty_rows: EmptyRows = "error"
    nonfinite: NonFinite = "error"
    block_size: int | None = None
    threads: int | None = None

    def problems(self) -> list[Problem]:
        """What is wrong with them."""
        return [
            *checks.option_problems(self.scale, self.softcap),
            *checks.count_problems(self.block_size, self.threads),
            *checks.choice_problems("empty_rows", self.empty_rows, ("error", "zero")),
            *checks.choice_problems("nonfinite", self.nonfinite, ("error", "propagate")),
        ]


@dataclass(frozen=True, eq=False)
class Inputs(Shipped):
    """One attention problem, checked, in the engine's axes.

    The arrays are views of the caller's, in the caller's dtype: they may be memory maps, so they are converted tile by
    tile and never whole, and never written to.
    """

    q: Array
    """``(B, H_kv, G, Tq, d_k)``: query head ``h = h_kv · G + g`` reads key/value head ``h_kv``."""
    k: Array
    """``(B, H_kv, Tk, d_k)``."""
    v: Array
    """``(B, H_kv, Tk, d_v)``."""
    rule: MaskRule
    bias: Array | None
    """``(B, H_kv, G, Tq, Tk)``, broadcast."""
    dtype: np.dtype[Any]
    """What is computed in: float32 or float64."""
    scale: float
    """What the dot products are multiplied by."""
    lead: tuple[int, ...]
    """Q's leading axes as the caller has them."""
    group: int
    """Query heads per key/value head, of the whole problem."""
    options: Options = field(default_factory=Options)
    value_scale: float = 1.0
    """What V is multiplied by on its way in, and the output divided by: a power of 2, so that nothing is rounded."""

    origin: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    """Where a part lies in the whole: its first batch entry, key/value head, query head of that, query and key."""

    def part(self, region: Region) -> Inputs:
        """A part of the problem as a problem of its own: views of the same arrays."""
        first = (s.start for s in (*region.at, region.rows, region.cols))
        return replace(
            self,
            q=self.q[region.queries],
            k=self.k[region.batch, region.heads, region.cols],
            v=self.v[region.batch, region.heads, region.cols],
            rule=self.rule.part(region),
            bias=None if self.bias is None else self.bias[region.queries][..., region.cols],
            origin=tuple(a + b for a, b in zip(self.origin, first, strict=True)),
        )

    @property
    def heads(self) -> tuple[int, int, int]:
        """``(B, H_kv, G)``."""
        batch, kv_heads, group = self.q.shape[:3]
        return batch, kv_heads, group

    @property
    def size(self) -> int:
        """How many scores there are: ``B · H · Tq · Tk``."""
        return math.prod(self.q.shape[:-1]) * self.keys

    @property
    def queries(self) -> int:
        """Tq."""
        return int(self.q.shape[-2])

    @property
    def keys(self) -> int:
        """Tk."""
        return int(self.k.shape[-2])

    @property
    def d_v(self) -> int:
        """Length of a value row."""
        return int(self.v.shape[-1])


def prepare(
    arrays: dict[str, ArrayLike], mask: ArrayLike | Mask | None, bias: ArrayLike | None, options: Options
) -> Inputs:
    """Check everything and arrange it for the engine.

    Parameters
    ----------
    arrays
        ``Q``, ``K`` and ``V``.
    mask, bias, options
        As in `sdpa_cli.attend`.

    Raises
    ------
    InputError
        With every problem found.
    """
    given = {name: checks.as_array(value) for name, value in arrays.items()}
    problems = [p for name, array in given.items() for p in checks.number_problems(name, array, (name,))]
    problems += [p for name, array in given.items() if array is not None for p in checks.rank_problems(name, array)]
    whole = {name: array for name, array in given.items() if array is not None and array.ndim in checks.RANKS}
    forbidden, additive = None, None
    if len(whole) == 3:
        q, k, v = whole.values()
        problems += checks.shape_problems(q.shape, k.shape, v.shape)
        forbidden, found = _given_mask(mask, q.shape, k.shape[-2])
        problems += found
        additive, found = _given_bias(bias, q.shape, k.shape[-2])
        problems += found
    problems += options.problems()
    if problems:
        raise InputError(*problems)
    return _arrange((q, k, v), mask if isinstance(mask, Mask) else Mask(), (forbidden, additive), options)


def _given_mask(mask: ArrayLike | Mask | None, q: checks.Shape, keys: int) -> tuple[Array | None, list[Problem]]:
    """The boolean array of a mask, if it has one, and what is wrong with the mask."""
    if mask is None:
        return None, []
    problems, path = [], ("mask",)
    if isinstance(mask, Mask):
        problems = mask_checks.mask_problems(mask, q, keys)
        mask, path = mask.forbidden, ("mask", "forbidden")  # type: ignore[assignment]
        if mask is None:
            return None, problems
    array = checks.as_array(mask)
    return array, problems + mask_checks.forbidden_problems(array, q, keys, path)


def _given_bias(bias: ArrayLike | None, q: checks.Shape, keys: int) -> tuple[Array | None, list[Problem]]:
    if bias is None:
        return None, []
    array = checks.as_array(bias)
    problems = checks.number_problems("bias", array, ("bias",))
    if array is not None:
        problems += checks.cells_problems("bias", array.shape, q, keys, ("bias",))
    return array, problems


def _arrange(
    qkv: tuple[Array, Array, Array], mask: Mask, cells: tuple[Array | None, Array | None], options: Options
) -> Inputs:
    """Bring checked values into the engine's axes, by views alone."""
    q, k, v = (np.asarray(array) for array in qkv)
    lead = q.shape[:-2]
    heads = _heads(q.shape, k.shape)
    full = (*heads, q.shape[-2], k.shape[-2])
    forbidden, bias = (None if array is None else _spread(np.asarray(array), full) for array in cells)
    lengths = None
    if mask.key_lengths is not None:
        per_batch = np.asarray(mask.key_lengths, np.int64)
        per_head = per_batch.reshape(per_batch.shape + (1,) * (len(lead) - per_batch.ndim))
        lengths = _spread(per_head[..., None, None], (*heads, 1, 1))[..., 0, 0]
    rule = MaskRule(
        keys=k.shape[-2],
        offset=int(mask.query_offset or 0),
        causal=bool(mask.causal),
        window=mask.window,
        lengths=lengths,
        given=forbidden,
    )
    return Inputs(
        q=q.reshape(*heads, *q.shape[-2:]),
        k=k.reshape(*heads[:2], *k.shape[-2:]),
        v=v.reshape(*heads[:2], *v.shape[-2:]),
        rule=rule,
        bias=bias,
        dtype=_computed_in(qkv),
        scale=1 / math.sqrt(q.shape[-1]) if options.scale is None else float(options.scale),
        lead=lead,
        group=heads[2],
        options=options,
    )


def _heads(q: checks.Shape, k: checks.Shape) -> tuple[int, int, int]:
    """(B, H_kv, G) of arrays of rank 2 to 4; the axis of rank 3 counts as heads."""
    batch = q[0] if len(q) == 4 else 1
    kv_heads = k[-3] if len(k) > 2 else 1
    return batch, kv_heads, (q[-3] // kv_heads if kv_heads else 1) if len(q) > 2 else 1


def _spread(array: Array, full: tuple[int, ...]) -> Array:
    """``(…, Tq, Tk)`` broadcast to ``(B, H_kv, G, Tq, Tk)``: a view."""
    kv_heads, group = full[1:3]
    cells = array.shape[-2:]
    if array.ndim == 2:
        lead: tuple[int, ...] = (1, 1, 1)
    else:
        split = (1, 1) if array.shape[-3] == 1 else (kv_heads, group)
        lead = (array.shape[0] if array.ndim == 4 else 1, *split)
    return np.broadcast_to(array.reshape(*lead, *cells), full)


def _computed_in(arrays: tuple[Array, ...]) -> np.dtype[Any]:
    """float64, unless every array is float32 or narrower."""
    narrow = all(array.dtype.kind == "f" and array.dtype.itemsize <= 4 for array in arrays)
    return np.dtype(np.float32 if narrow else np.float64)
