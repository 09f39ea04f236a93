"""What the heads of a layer compute with, as a problem for the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.inputs import Inputs, prepare
from sdpa_cli.attention.masks import Mask
from sdpa_cli.attention.options import Options

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Heads:
    """What the heads of a layer compute with: queries, and all keys and values they may look at."""

    q: Array
    """``(…, H, Tq, d_k)``; without the axis H for a single head. Turned by their positions if RoPE is in use."""
    k: Array
    """``(…, H_kv, Tk, d_k)``, the cached ones first."""
    v: Array
    """``(…, H_kv, Tk, d_v)``."""
    batched: bool = True
    """Whether what comes before H is a batch axis; if not, there is nothing before it."""

    def inputs(self, mask: ArrayLike | Mask | None, bias: ArrayLike | None, options: Options) -> Inputs:
        """The problem they are, for the engine. Without a batch axis it gets one, and the result gives it back."""
        arrays: dict[str, ArrayLike] = {"Q": self.q, "K": self.k, "V": self.v}
        if self.batched or self.q.ndim != 3:
            return prepare(arrays, mask, bias, options)
        arrays = {"Q": self.q[None], "K": self.k[None], "V": self.v[None]}
        mask = replace(mask, forbidden=_with_batch(mask.forbidden)) if isinstance(mask, Mask) else _with_batch(mask)
        inputs = prepare(arrays, mask, _with_batch(bias), options)
        return inputs.but(lead=inputs.lead[1:])


def _with_batch(cells: ArrayLike | None) -> Array | None:
    """A mask or bias given per head ``(H, Tq, Tk)``, with the batch axis that rank 4 has."""
    array = None if cells is None else np.asarray(cells)
    return array[None] if array is not None and array.ndim == 3 else array
