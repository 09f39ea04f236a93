"""For each fault a small case in which it shows, so that it can be explained without a case file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sdpa_cli.attention import Mask, Window
from sdpa_cli.attention.inputs import Inputs, Options, prepare

_Q, _K = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [2.0, 0.0]]
_V = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
_CAUSAL = Mask(causal=True)


def witness(name: str) -> Inputs:
    """The case that shows a fault: the course's two tokens under a causal mask, unless the fault needs another."""
    return _WITNESSES.get(name, _course)()


def _course() -> Inputs:
    return prepare({"Q": _Q, "K": _K, "V": _V}, _CAUSAL, None, Options())


def _three(mask: Mask | None = None, softcap: float | None = None) -> Inputs:
    """Three queries, three keys, nothing symmetric about them."""
    arrays: dict[str, ArrayLike] = {
        "Q": [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]],
        "K": [[1.0, 1.0], [2.0, 0.0], [0.0, 3.0]],
        "V": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    }
    return prepare(arrays, mask, None, Options(softcap=softcap))


def _square() -> Inputs:
    """Tk = d_k = d_v: what a forgotten transpose needs to go unnoticed."""
    return prepare({"Q": _Q, "K": _K, "V": [[1.0, 2.0], [3.0, 4.0]]}, None, None, Options())


def _biased() -> Inputs:
    return prepare({"Q": _Q, "K": _K, "V": _V}, None, [[0.0, -1.0], [-1.0, 0.0]], Options())


def _grouped() -> Inputs:
    """Four query heads that share two key/value heads."""
    arrays: dict[str, ArrayLike] = {
        "Q": np.ones((1, 4, 1, 2)),
        "K": np.array([[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]]]),
        "V": np.array([[[[1.0], [1.0]], [[2.0], [2.0]]]]),
    }
    return prepare(arrays, None, None, Options())


def _later() -> Inputs:
    """Two queries that continue a cache of two keys."""
    arrays: dict[str, ArrayLike] = {
        "Q": [[1.0, 0.0], [0.0, 1.0]],
        "K": [[1.0, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 2.0]],
        "V": [[1.0], [2.0], [3.0], [4.0]],
    }
    return prepare(arrays, Mask(causal=True, query_offset=2), None, Options())


def _fine() -> Inputs:
    """Products that float16 cannot hold exactly, and one that it cannot hold at all."""
    arrays: dict[str, ArrayLike] = {"Q": [[256.0, 256.0]], "K": [[256.0, 256.0], [1.1, 0.3]], "V": [[1.0], [2.0]]}
    return prepare(arrays, None, None, Options())


def _large() -> Inputs:
    """Scores beyond what exp can take."""
    return prepare({"Q": [[30.0, 30.0]], "K": [[30.0, 30.0], [29.0, 30.0]], "V": [[1.0], [2.0]]}, None, None, Options())


def _uneven() -> Inputs:
    """One row of scores lies far above the other."""
    arrays: dict[str, ArrayLike] = {"Q": [[0.0, 1.0], [40.0, 0.0]], "K": [[90.0, 0.0], [1.0, 1.0]], "V": [[1.0], [2.0]]}
    return prepare(arrays, None, None, Options())


def _towering() -> Inputs:
    """The forbidden key has by far the largest score."""
    arrays: dict[str, ArrayLike] = {
        "Q": [[1.0, 1.0]],
        "K": [[1.0, 1.0], [2.0, 0.0], [900.0, 900.0]],
        "V": [[1.0], [2.0], [3.0]],
    }
    return prepare(arrays, Mask(key_lengths=2), None, Options())


def _empty() -> Inputs:
    forbidden = np.array([[True, True], [False, True]])
    return prepare({"Q": _Q, "K": _K, "V": _V}, Mask(forbidden=forbidden), None, Options(empty_rows="zero"))


def _low() -> Inputs:
    """A live score far below the sentinel −1e9."""
    arrays: dict[str, ArrayLike] = {"Q": [[1e5, 1e5]], "K": [[-1e5, -1e5], [1.0, 1.0]], "V": [[1.0], [2.0]]}
    return prepare(arrays, Mask(key_lengths=1), None, Options())


def _poisoned() -> Inputs:
    """The filler behind the last real key is not a number."""
    arrays: dict[str, ArrayLike] = {"Q": _Q, "K": [*_K, [0.0, 0.0]], "V": [[1.0, 0.0], [0.0, 1.0], [np.nan, np.nan]]}
    return prepare(arrays, Mask(key_lengths=2), None, Options())


_WITNESSES: dict[str, Callable[[], Inputs]] = {
    "scale-by-sqrt-d-v": _three,
    "scale-by-sqrt-t-k": _three,
    "bias-scaled-too": _biased,
    "key-not-transposed": _square,
    "query-and-key-swapped": _three,
    "half-precision-scores": _fine,
    "heads-tiled": _grouped,
    "mask-transposed": lambda: _three(_CAUSAL),
    "causal-from-other-corner": _later,
    "window-by-total-width": lambda: _three(Mask(window=Window(1, 0))),
    "softcap-after-mask": lambda: _three(_CAUSAL, softcap=2.0),
    "finite-sentinel": _low,
    "empty-row-unnoticed": _empty,
    "no-max-shift": _large,
    "max-of-all-rows": _uneven,
    "max-over-forbidden": _towering,
    "max-without-keepdims": _three,
    "sum-without-keepdims": _three,
    "softmax-over-queries": _three,
    "softmax-over-everything": _three,
    "stream-without-rescale": _three,
    "stream-sum-without-rescale": _three,
    "weights-transposed": _three,
    "keys-as-values": _square,
    "forbidden-values-multiplied": _poisoned,
}
