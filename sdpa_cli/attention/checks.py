"""Whether the values given to `attend` can be computed with: each check returns the problems it finds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.errors import Problem

Array = NDArray[Any]
Path = tuple[str | int, ...]
Shape = tuple[int, ...]

RANKS = (2, 3, 4)
"""Axes an array may have: ``(T, d)``, ``(N, T, d)`` or ``(B, H, T, d)``."""
_LETTERS = {"Q": ("Tq", "d_k"), "K": ("Tk", "d_k"), "V": ("Tk", "d_v")}


def as_array(value: ArrayLike) -> Array | None:
    """The value as an array without copying one; None where it is no rectangular array."""
    try:
        return np.asanyarray(value)
    except ValueError:
        return None


def number_problems(name: str, array: Array | None, path: Path) -> list[Problem]:
    """Whether an array holds real numbers the engine computes with."""
    if array is None:
        message = f"{name} is ragged: its rows differ in length"
        return [Problem("ragged", message, "rows of one length", "count the entries of each row", path)]
    # Of a plain array nothing more is asked, for numpy.ma is imported on its first use and takes a while.
    if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
        hint = "give the plain array, and say which keys are forbidden with the mask"
        return [Problem("dtype", f"{name} is a NumPy masked array", "a plain array", hint, path)]
    dtype = array.dtype
    if dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize <= 8 and dtype.isnative):
        return []
    hint = {
        "c": "attention is defined on real numbers: take the real part, or the absolute value, if that is meant",
        "b": "numbers are expected here; write 0 and 1, or convert with astype(float)",
        "O": "the array mixes types or holds Python objects: convert it with astype(float)",
        "U": "numbers given as text: convert them with astype(float)",
        "f": "convert it with astype(float)",
    }.get(dtype.kind, "convert it to floating point first")
    message = f"{name} has dtype {dtype}"
    return [Problem("dtype", message, "float16, float32, float64 or integers", hint, path)]


def rank_problems(name: str, array: Array) -> list[Problem]:
    """Whether an array has 2 to 4 axes."""
    if array.ndim in RANKS:
        return []
    rows, columns = _LETTERS[name]
    expected = f"({rows}, {columns}), (N, {rows}, {columns}) or (B, H, {rows}, {columns})"
    hint = f"one token still needs two axes: shape (1, {columns})" if array.ndim < 2 else None
    return [Problem("rank", f"{name} has rank {array.ndim}, shape {array.shape}", expected, hint, (name,))]


def shape_problems(q: Shape, k: Shape, v: Shape) -> list[Problem]:
    """Whether Q, K and V, each of a legal rank, fit together."""
    if not len(q) == len(k) == len(v):
        message = f"Q, K and V have ranks {len(q)}, {len(k)} and {len(v)}"
        return [Problem("rank", message, "the same number of axes", "give all three the same leading axes", ("Q",))]
    found = []
    if k[-1] != q[-1]:
        hint = "Q and K meet in dot products of length d_k"
        if k[-2] == q[-1]:
            hint += "; K looks transposed: its rows are the keys"
        message = f"K has d_k = {k[-1]}, Q has d_k = {q[-1]}"
        found.append(Problem("shape-mismatch", message, f"d_k = {q[-1]}", hint, ("K",)))
    if v[-2] != k[-2]:
        message = f"K and V disagree on Tk: K has {counted_rows(k[-2])}, V has {v[-2]}"
        found.append(Problem("shape-mismatch", message, counted_rows(k[-2]), "every key has one value row", ("V",)))
    if q[-1] == 0 and k[-1] == 0:
        message = "d_k = 0: queries and keys without a component have no score"
        found.append(Problem("empty-axis", message, "d_k of at least 1", None, ("Q",)))
    if k[-2] == 0:
        message = "Tk = 0: without keys there is nothing to average"
        found.append(Problem("empty-axis", message, "at least one key", None, ("K",)))
    return found + _lead_problems(q, k, v)


def _lead_problems(q: Shape, k: Shape, v: Shape) -> list[Problem]:
    found = []
    if v[:-2] != k[:-2]:
        message = f"K has leading axes {k[:-2]}, V has {v[:-2]}"
        found.append(Problem("shape-mismatch", message, f"{k[:-2]}", "keys and values come in pairs", ("V",)))
    grouped = len(q) == 4 and k[0] == q[0] and k[1] > 0 and q[1] % k[1] == 0
    if k[:-2] == q[:-2] or grouped:
        return found
    if len(q) == 4 and k[0] == q[0]:
        message = f"Q has H = {q[1]} heads, K has {k[1]}"
        hint = "in grouped-query attention each key/value head serves the same number of query heads"
        found.append(Problem("head-count", message, f"H divisible by K's heads: {divisors(q[1])}", hint, ("K",)))
    else:
        message = f"Q has leading axes {q[:-2]}, K has {k[:-2]}"
        found.append(Problem("shape-mismatch", message, f"{q[:-2]}", "leading axes do not broadcast", ("K",)))
    return found


def counted_rows(number: int) -> str:
    """So many rows, as messages count them."""
    return "1 row" if number == 1 else f"{number} rows"


def divisors(number: int) -> str:
    """The numbers that divide a count of heads, as messages name them."""
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0) or "none"


def cells_problems(name: str, shape: Shape, q: Shape, keys: int, path: Path) -> list[Problem]:
    """Whether a mask or bias has one entry per score: ``(Tq, Tk)``, or Q's leading axes (or 1) before that."""
    full = (*q[:-1], keys)
    plain = full[-2:]
    if len(shape) in (2, len(full)) and shape[-2:] == plain:
        lead = shape[:-2]
        if all(have in (1, want) for have, want in zip(lead, q[:-2], strict=bool(lead))):
            return []
    expected = f"(Tq, Tk) = {plain}" + (f", or {full} with any leading axis 1" if len(full) > 2 else "")
    hint = None
    if shape == (keys,):
        hint = f"one entry per key does not say for which queries: repeat it with np.tile({name}, (Tq, 1))"
    elif shape[-2:] == plain[::-1]:
        hint = f"{name} looks transposed: its rows are the queries, its columns the keys"
    elif shape[-2:] == plain and len(shape) == 3:
        hint = f"say which axis the first one is: {name}[:, None] for the batch, {name}[None] for the heads"
    return [Problem("shape-mismatch", f"{name} has shape {shape}", expected, hint, path)]


def option_problems(scale: object, softcap: object) -> list[Problem]:
    """Whether the numeric settings are legal."""
    found = []
    if scale is not None and not _finite(scale):
        message = f"scale is {scale!r}"
        hint = "leave it out for 1/sqrt(d_k)"
        found.append(Problem("scale", message, "a finite number; 0 and negative are legal", hint, ("scale",)))
    if softcap is not None and not (_finite(softcap) and softcap > 0):  # type: ignore[operator]
        hint = "leave it out for no cap"
        found.append(Problem("softcap", f"softcap is {softcap!r}", "a finite number above 0", hint, ("softcap",)))
    return found


def count_problems(block_size: object, threads: object) -> list[Problem]:
    """Whether the settings that count something do so from 1."""
    counts = (
        ("block_size", block_size, "it is the number of keys per tile; leave it out for the fastest"),
        ("threads", threads, "leave it out for as many as this process may use"),
    )
    return [
        Problem(name.replace("_", "-"), f"{name} is {count!r}", "an integer of at least 1", hint, (name,))
        for name, count, hint in counts
        if count is not None and not is_integer_from(1, count)
    ]


def choice_problems(name: str, value: object, choices: Sequence[str]) -> list[Problem]:
    """Whether a setting is one of its named choices."""
    if isinstance(value, str) and value in choices:
        return []
    return [Problem("choice", f"{name} is {value!r}", _one_of(choices), None, (name,))]


def _one_of(choices: Iterable[str]) -> str:
    return " or ".join(repr(choice) for choice in choices)


def is_integer(value: object) -> bool:
    """Whether a value is an integer, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_integer_from(least: int, value: object) -> bool:
    """Whether a value is an integer of at least so much."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)
