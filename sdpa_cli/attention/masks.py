"""THE mask rule: which keys are forbidden to which queries. Every other room asks here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Window:
    """How far a query at absolute position p may look: keys ``p − left … p + right``, both ends included.

    None is without limit on that side.
    """

    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, eq=False)
class Mask:
    """Which keys are forbidden. The parts combine: a key is forbidden when any of them forbids it."""

    causal: bool = False
    query_offset: int | None = None
    window: Window | None = None
    key_lengths: int | Sequence[int] | NDArray[Any] | None = None
    forbidden: NDArray[Any] | None = None
