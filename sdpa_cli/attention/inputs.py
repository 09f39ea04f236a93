"""What enters the engine: every value checked, all problems told at once, and one arrangement of the axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention import checks, mask_checks
from sdpa_cli.attention.binding import Axes, bind
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.options import EmptyRows as EmptyRows
from sdpa_cli.attention.options import NonFinite as NonFinite
from sdpa_cli.attention.options import Options as Options
from sdpa_cli.attention.pattern_checks import alibi_problems, pattern_problems
from sdpa_cli.attention.regions import Region
from sdpa_cli.attention.rule import MaskRule
from sdpa_cli.attention.score_functions import Additive, General, Similarity, compared, score_problems
from sdpa_cli.attention.shipping import Shipped
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]
_NO_MASK = Mask()


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
    slopes: Array | None = None
    """Of ALiBi, ``(B, H_kv, G)``: what is taken off a score for each key between query and key."""
    similarity: Similarity | None = None
    """What makes scores of queries and keys where their dot product alone does not."""
    value_scale: float = 1.0
    """What V is multiplied by on its way in, and the output divided by: a power of 2, so that nothing is rounded."""

    origin: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)
    """Where a part lies in the whole: its first batch entry, key/value head, query head of that, query and key."""

    def part(self, region: Region) -> Inputs:
        """A part of the problem as a problem of its own: views of the same arrays."""
        first = (s.start for s in (*region.at, region.rows, region.cols))
        return self.but(
            q=self.q[region.queries],
            k=self.k[region.batch, region.heads, region.cols],
            v=self.v[region.batch, region.heads, region.cols],
            rule=self.rule.part(region),
            bias=None if self.bias is None else self.bias[region.queries][..., region.cols],
            slopes=None if self.slopes is None else self.slopes[region.at],
            origin=tuple(a + b for a, b in zip(self.origin, first, strict=True)),
        )

    def of(self, q: Array, k: Array, v: Array, options: Options) -> Inputs:
        """The same kind of problem with a caller's other arrays, of the same shapes and dtypes as those of this one."""
        q, k, v = q.reshape(self.q.shape), k.reshape(self.k.shape), v.reshape(self.v.shape)
        return self.but(q=q, k=k, v=v, options=options)

    @property
    def plain(self) -> bool:
        """Whether scores are scaled dot products and nothing else."""
        added = self.bias is not None or self.slopes is not None
        return not added and self.similarity is None and self.options.softcap is None

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
        problems += _score_problems(options.score, q.shape, k.shape, v.shape)
        forbidden, found = _given_mask(mask, q.shape, k.shape[-2])
        problems += found
        additive, found = _given_bias(bias, q.shape, k.shape[-2])
        problems += found
        problems += alibi_problems(options.alibi, mask, q.shape, k.shape[-2])
    problems += options.problems()
    if problems:
        raise InputError(*problems)
    return _arrange((q, k, v), mask if isinstance(mask, Mask) else _NO_MASK, (forbidden, additive), options)


def _score_problems(score: object, q: checks.Shape, k: checks.Shape, v: checks.Shape) -> list[Problem]:
    """Whether queries and keys can be compared, by dot products or by a score function of their own shapes."""
    if score is None:
        return checks.shape_problems(q, k, v)
    problems = score_problems(score, q, k)
    if isinstance(score, General | Additive) and not problems:
        # Its matrices say which lengths go together; the other axes are as always.
        q = (*q[:-1], k[-1])
    return problems or checks.shape_problems(q, k, v)


def _given_mask(mask: ArrayLike | Mask | None, q: checks.Shape, keys: int) -> tuple[Array | None, list[Problem]]:
    """The boolean array of a mask, if it has one, and what is wrong with the mask."""
    if mask is None:
        return None, []
    problems, path = [], ("mask",)
    if isinstance(mask, Mask):
        problems = mask_checks.mask_problems(mask, q, keys) + pattern_problems(mask, q, keys)
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
    """Bring checked values into the engine's axes, by views alone where no score function projects them."""
    q, k, v = (np.asarray(array) for array in qkv)
    similarity = None
    if options.score is not None:
        q, k, similarity = compared(options.score, q, k)
    axes = Axes.of(q.shape, k.shape)
    forbidden, bias = (None if array is None else axes.spread_cells(np.asarray(array)) for array in cells)
    usual = 1.0 if options.score is not None else 1 / math.sqrt(q.shape[-1])
    return Inputs(
        q=q.reshape(*axes.heads, *q.shape[-2:]),
        k=k.reshape(*axes.heads[:2], *k.shape[-2:]),
        v=v.reshape(*axes.heads[:2], *v.shape[-2:]),
        rule=bind(mask, forbidden, axes),
        bias=bias,
        dtype=_computed_in((q, k, v)),
        scale=usual if options.scale is None else float(options.scale),
        lead=q.shape[:-2],
        group=axes.heads[2],
        options=options,
        slopes=axes.spread_slopes(options.alibi),
        similarity=similarity,
    )


def _computed_in(arrays: tuple[Array, ...]) -> np.dtype[Any]:
    """float64, unless every array is float32 or narrower."""
    narrow = all(array.dtype.kind == "f" and array.dtype.itemsize <= 4 for array in arrays)
    return np.dtype(np.float32 if narrow else np.float64)
