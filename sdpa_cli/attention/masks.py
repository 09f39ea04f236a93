"""What a caller may say about forbidden keys: `Mask` and `Window`. What it means is in `rule`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
        How many keys of each sequence are real; the others are padding. One integer, one per batch entry ``(B,)``, or
        one per batch entry and head ``(B, H)``.
    padding_side
        Where padding stands: ``"right"``, after the real keys, or ``"left"``, before them.
    segments
        For sequences that hold several documents, the number of each key's document, ``(Tk,)`` or ``(B, Tk)``. Keys of
        another document are forbidden.
    query_segments
        The same of each query, ``(Tq,)`` or ``(B, Tq)``; by default that of the key at its position.
    stride
        Sparse: a query at position p may look at the keys whose distance from p is a multiple of this. With `window`,
        at those in the window too.
    global_tokens
        Sparse: positions of tokens that may look at every key, and at which every query may look, though `window` or
        `stride` would forbid it. The other parts of the mask still hold.
    forbidden
        Boolean array, True = forbidden, ``(Tq, Tk)`` or with Q's leading axes, each its full size or 1.

    References
    ----------
    .. [1] R. Child et al., "Generating Long Sequences with Sparse Transformers", arXiv:1904.10509, 2019, section 4.
    .. [2] I. Beltagy, M. E. Peters and A. Cohan, "Longformer: The Long-Document Transformer", arXiv:2004.05150, 2020,
       section 3.1.

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
    padding_side: Literal["right", "left"] = "right"
    segments: Sequence[int] | NDArray[Any] | None = None
    query_segments: Sequence[int] | NDArray[Any] | None = None
    stride: int | None = None
    global_tokens: Sequence[int] | NDArray[Any] | None = None
