"""Whether what is less usual in a mask is legal: padding's side, documents, strides, global tokens; and slopes."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.checks import Path, Shape, as_array, choice_problems
from sdpa_cli.attention.masks import Mask
from sdpa_cli.errors import Problem

Array = NDArray[Any]


def pattern_problems(mask: Mask, q: Shape, keys: int) -> list[Problem]:
    """What is wrong with those parts of a mask."""
    side = choice_problems("padding_side", mask.padding_side, ("right", "left"))
    return [
        *(Problem(p.code, p.message, p.expected, p.hint, ("mask", "padding_side")) for p in side),
        *([] if side else _padding_problems(mask)),
        *_segment_problems(mask, q, keys),
        *_stride_problems(mask.stride),
        *_token_problems(mask, keys),
        *_offset_problems(mask, q[-2], keys),
    ]


def _padding_problems(mask: Mask) -> list[Problem]:
    if mask.padding_side == "left" and mask.key_lengths is None:
        message = "padding_side is left, but nothing says how many keys are real"
        return [Problem("padding", message, "key_lengths beside it", None, ("mask", "padding_side"))]
    return []


def _segment_problems(mask: Mask, q: Shape, keys: int) -> list[Problem]:
    sides = (("segments", mask.segments, "Tk", keys), ("query_segments", mask.query_segments, "Tq", q[-2]))
    found = []
    for name, given, letters, count in sides:
        if given is not None:
            found += _numbers_per_token(name, given, (q[:-2][:1], letters, count))
    path: Path = ("mask", "query_segments")
    if mask.query_segments is not None and mask.segments is None:
        found.append(Problem("segments", "query_segments has no segments beside it", "the keys' too", None, path))
    elif mask.segments is not None and mask.query_segments is None and not found:
        first = mask.query_offset or 0
        if (mask.query_offset is None and q[-2] != keys) or not 0 <= first <= keys - q[-2]:
            message = f"segments number {keys} keys, and do not say which documents the {q[-2]} queries belong to"
            hint = "query_offset says where they stand among the keys; queries from elsewhere need query_segments"
            found.append(Problem("segments", message, "query_segments", hint, ("mask", "segments")))
    return found


def _numbers_per_token(name: str, given: ArrayLike, due: tuple[Shape, str, int]) -> list[Problem]:
    lead, letters, count = due
    array, path = as_array(given), ("mask", name)
    if array is None or array.dtype.kind not in "iu":
        return [Problem("type", f"{name} are not all whole numbers", "one document number per token", None, path)]
    if array.shape in ((count,), (*lead, count)):
        return []
    expected = f"({letters},) = ({count},)" + (f", or {(*lead, count)}" if lead else "")
    return [Problem("shape-mismatch", f"{name} has shape {array.shape}", expected, None, path)]


def _stride_problems(stride: object) -> list[Problem]:
    if stride is None or (isinstance(stride, Integral) and not isinstance(stride, bool) and int(stride) >= 1):
        return []
    hint = "a stride of n allows every n-th key, counted from the query's own position"
    return [Problem("stride", f"stride is {stride!r}", "an integer of at least 1", hint, ("mask", "stride"))]


def _token_problems(mask: Mask, keys: int) -> list[Problem]:
    path: Path = ("mask", "global_tokens")
    if mask.global_tokens is None:
        return []
    array = as_array(mask.global_tokens)
    if array is None or array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        message = "global_tokens is not a list of whole numbers"
        return [Problem("type", message, "positions among the keys, from 0 on", None, path)]
    if mask.window is None and mask.stride is None:
        message = "global_tokens changes nothing: without window or stride every token may look at every other"
        return [Problem("global-tokens", message, "window or stride beside it", None, path)]
    return [
        Problem("global-token", f"global token {n} is outside 0 … Tk − 1 = {keys - 1}", None, None, (*path, i))
        for i, n in enumerate(array.tolist())
        if not 0 <= n < keys
    ]


def _offset_problems(mask: Mask, queries: int, keys: int) -> list[Problem]:
    if mask.stride is None or mask.causal or mask.window is not None:
        return []
    return _unstated_offset("a strided mask", mask, queries, keys)


def _unstated_offset(what: str, mask: object, queries: int, keys: int) -> list[Problem]:
    if queries == keys or (isinstance(mask, Mask) and mask.query_offset is not None):
        return []
    message = f"{what} with Tq = {queries} and Tk = {keys} does not say where the queries stand among the keys"
    hint = f"query_offset 0 aligns the first query with the first key, {keys - queries} the last with the last"
    return [Problem("query-offset", message, f"query_offset 0 or Tk − Tq = {keys - queries}", hint, ("mask",))]


def alibi_problems(alibi: ArrayLike | bool | None, mask: object, q: Shape, keys: int) -> list[Problem]:
    """Whether every head has one slope, and distances are known."""
    path: Path = ("alibi",)
    if alibi is None or alibi is False:
        return []
    found = _unstated_offset("ALiBi", mask, q[-2], keys)
    if alibi is True and len(q) != 3:
        return found
    if len(q) == 3 and (alibi is True or np.ndim(alibi)):
        message = "ALiBi gives each head its slope, and Q of rank 3 has no axis of heads"
        return [*found, Problem("alibi", message, "Q of shape (B, H, Tq, d_k), or one slope for all", None, path)]
    array = as_array(alibi) if not isinstance(alibi, bool) else None
    if array is None or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return [*found, Problem("type", "alibi slopes are not all finite numbers", "one number per head", None, path)]
    heads = q[-3] if len(q) == 4 else 1
    if array.shape not in ((), (heads,)):
        message = f"alibi has shape {array.shape}, and there {'is' if heads == 1 else 'are'} H = {heads} "
        message += f"head{'' if heads == 1 else 's'}"
        return [*found, Problem("shape-mismatch", message, "one slope per head, or one for all", None, path)]
    return found
