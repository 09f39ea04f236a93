"""Whether a mask can be used: each check returns the problems it finds."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention.checks import Array, Path, Shape, as_array, cells_problems, is_integer, is_integer_from
from sdpa_cli.attention.masks import Mask, Window
from sdpa_cli.errors import Problem


def forbidden_problems(array: Array | None, q: Shape, keys: int, path: Path) -> list[Problem]:
    """Whether a given mask is boolean and fits the scores."""
    if array is None:
        message = "mask is ragged: its rows differ in length"
        return [Problem("ragged", message, "rows of one length", "count the entries of each row", path)]
    if array.dtype != np.bool_:
        hint = "True means forbidden; a 0/1 array becomes boolean with astype(bool)"
        if array.dtype.kind == "f":
            hint += "; an additive mask of 0 and -inf becomes one with mask == -np.inf"
        return [Problem("dtype", f"mask has dtype {array.dtype}", "bool", hint, path)]
    return cells_problems("mask", array.shape, q, keys, path)


def mask_problems(mask: Mask, q: Shape, keys: int) -> list[Problem]:
    """Whether every part of a mask is legal and fits the shapes."""
    found = [*window_problems(mask.window), *_offset_problems(mask, q[-2], keys), *length_problems(mask, q, keys)]
    if not isinstance(mask.causal, bool | np.bool_):
        message = f"causal is {mask.causal!r}"
        found.append(Problem("type", message, "true or false", None, ("mask", "causal")))
    return found


def window_problems(window: Window | None) -> list[Problem]:
    """Whether both sides of a window are absent or 0 and more."""
    path: Path = ("mask", "window")
    if window is None:
        return []
    if not isinstance(window, Window):
        hint = "a bare number means two different things in public code: say how far to the left and to the right"
        return [Problem("type", f"window is {window!r}", "Window(left, right)", hint, path)]
    sides = (("left", window.left), ("right", window.right))
    return [
        Problem("window", f"window {side} is {reach!r}", "an integer of at least 0, or none", None, (*path, side))
        for side, reach in sides
        if reach is not None and not is_integer_from(0, reach)
    ]


def _offset_problems(mask: Mask, queries: int, keys: int) -> list[Problem]:
    path: Path = ("mask", "query_offset")
    if mask.query_offset is not None:
        if is_integer(mask.query_offset):
            return []
        return [Problem("type", f"query_offset is {mask.query_offset!r}", "an integer", None, path)]
    if queries == keys or not (mask.causal or mask.window is not None):
        return []
    rule = "causal" if mask.causal else "window"
    message = f"a {rule} mask with Tq = {queries} and Tk = {keys} does not say where the queries stand among the keys"
    hint = f"query_offset 0 aligns the first query with the first key, {keys - queries} the last with the last"
    if mask.causal and queries > keys:
        hint += ", where the first queries have no key to look at"
    return [Problem("query-offset", message, f"query_offset 0 or Tk − Tq = {keys - queries}", hint, path)]


def length_problems(mask: Mask, q: Shape, keys: int) -> list[Problem]:
    """Whether key lengths are integers between 0 and Tk, one per batch entry, per head, or one for all."""
    path: Path = ("mask", "key_lengths")
    if mask.key_lengths is None:
        return []
    lengths = as_array(mask.key_lengths)
    if lengths is None or lengths.dtype.kind not in "iu":
        return [Problem("type", f"key_lengths is {mask.key_lengths!r}", "integers", None, path)]
    shapes = [q[:-2][:n] for n in range(len(q) - 1)]
    if lengths.shape not in shapes:
        expected = " or ".join("one integer" if not shape else f"shape {shape}" for shape in shapes)
        return [Problem("shape-mismatch", f"key_lengths has shape {lengths.shape}", expected, None, path)]
    return [
        Problem("key-length", f"key length {n} is outside 0 … Tk = {keys}", f"0 to {keys}", None, (*path, *index))
        for index, n in np.ndenumerate(lengths)
        if not 0 <= n <= keys
    ]
