"""What a caller may say about forbidden keys: `Mask` and `Window`. What it means is in `rule`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Window:
    """How far a query at absolute position p may look: keys ``p − left … p + right``, both ends included.

    Parameters
    ----------
    left, right
        Keys in reach before and after the query's own position, 0 or more. None is without limit on that side.

    Examples
    --------
    >>> from sdpa_cli.attention import Mask, attend
    >>> import numpy as np
    >>> x = np.ones((4, 2))
    >>> attend(x, x, x, mask=Mask(window=Window(left=2, right=0))).forbidden().astype(int)
    array([[0, 1, 1, 1],
           [0, 0, 1, 1],
           [0, 0, 0, 1],
           [1, 0, 0, 0]])
    """

    left: int | None = None
    right: int | None = None


@dataclass(frozen=True, eq=False)
class Mask:
    """Which keys are forbidden. The parts combine: a key is forbidden when any of them forbids it.

    The default forbids nothing. The values are checked by `attend`, which knows the shapes.

    Parameters
    ----------
    causal
        Forbid every key after the query's own position: query i may look at keys ``j <= query_offset + i``.
    query_offset
        The absolute position of query 0 among the keys. Must be stated when ``Tq != Tk`` and `causal` or `window` is
        used, for both habits are common: 0 aligns the first query with the first key, ``Tk - Tq`` the last with the
        last (queries that continue a cache of keys).
    window
        Forbid keys farther than this from the query's position.
    key_lengths
        How many keys of each sequence are real; later ones are padding. One integer, one per batch entry ``(B,)``, or
        one per batch entry and head ``(B, H)``.
    forbidden
        Boolean array, True = forbidden, ``(Tq, Tk)`` or with Q's leading axes, each its full size or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpa_cli.attention import attend
    >>> q, k = np.ones((2, 3)), np.ones((4, 3))
    >>> attend(q, k, k, mask=Mask(causal=True, query_offset=2, key_lengths=3)).forbidden().astype(int)
    array([[0, 0, 0, 1],
           [0, 0, 0, 1]])
    """

    causal: bool = False
    query_offset: int | None = None
    window: Window | None = None
    key_lengths: int | Sequence[int] | NDArray[Any] | None = None
    forbidden: NDArray[Any] | None = None
