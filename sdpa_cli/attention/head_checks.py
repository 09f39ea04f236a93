"""Whether embeddings, projections and numbers of heads fit together: every problem, at the matrix it sits in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdpa_cli.attention.checks import as_array, counted_rows, divisors, number_problems
from sdpa_cli.errors import Problem

Array = NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True)
class HeadShapes:
    """How many heads there are, and where that was said."""

    heads: int | None
    """H; None for a single head without an axis."""
    kv_heads: int | None
    stated: int | None
    """num_heads, if it was given."""
    kv_stated: int | None


def projection_problems(embeddings: Arrays, arrays: Arrays, heads: HeadShapes) -> list[Problem]:
    """Everything that keeps embeddings from being projected.

    Parameters
    ----------
    embeddings
        ``X``, and ``memory`` if keys and values come from there.
    arrays
        ``W_Q``, ``W_K``, ``W_V``, and those of ``W_O``, ``b_Q``, ``b_K``, ``b_V``, ``b_O`` that are given.
    heads
        How many.
    """
    everything = embeddings | arrays
    problems = [p for name, array in everything.items() for p in number_problems(name, array, (name,))]
    problems += _rank_problems(embeddings, arrays)
    problems += _count_problems(heads)
    if problems:
        # Whatever follows measures axes, and would only repeat what these problems say.
        return problems
    return [
        *_embedding_problems(embeddings),
        *_row_problems(embeddings, arrays),
        *_stated_problems(arrays, heads),
        *_width_problems(arrays, heads.heads or 1, heads.kv_heads or 1),
    ]


def ragged_problems(name: str, value: ArrayLike) -> list[Problem]:
    """Whether a value is an array at all."""
    return number_problems(name, None, (name,)) if as_array(value) is None else []


def _rank_problems(embeddings: Arrays, arrays: Arrays) -> Iterator[Problem]:
    for name, array in embeddings.items():
        if array.ndim not in (2, 3):
            message = f"{name} has rank {array.ndim}, shape {array.shape}"
            yield Problem("rank", message, "(T, d_model) or (B, T, d_model)", None, (name,))
    for name, array in arrays.items():
        ranks = {"W_O": (2, 3), "b_O": (1,)}.get(name, (2, 3) if name[0] == "W" else (1, 2))
        if array.ndim not in ranks:
            rows, columns = ("H · d_v", "d_out") if name == "W_O" else ("d_model", "H · d")
            packed = f"({rows}, {columns})" if name[0] == "W" else f"({columns},)"
            expected = packed if name == "b_O" else f"{packed}, or one {'matrix' if name[0] == 'W' else 'row'} per head"
            message = f"{name} has rank {array.ndim}, shape {array.shape}"
            yield Problem("rank", message, expected, None, (name,))


def _count_problems(heads: HeadShapes) -> Iterator[Problem]:
    for name, number in (("num_heads", heads.stated), ("num_kv_heads", heads.kv_stated)):
        if number is not None and not (isinstance(number, int | np.integer) and number >= 1):
            yield Problem("head-count", f"{name} is {number!r}", "an integer of at least 1", None, (name,))
            return
    if heads.heads is None and heads.kv_heads is not None:
        yield Problem(
            "head-count",
            f"key/value heads are {heads.kv_heads}, but nothing says how many query heads there are",
            "num_heads beside it",
            None,
            ("num_kv_heads",) if heads.kv_stated else ("W_K",),
        )
    elif heads.heads is not None and heads.kv_heads is not None and heads.heads % heads.kv_heads:
        yield Problem(
            "head-count",
            f"H = {heads.heads} query heads cannot share H_kv = {heads.kv_heads} key/value heads evenly",
            f"H_kv one of: {divisors(heads.heads)}",
            "in grouped-query attention each key/value head serves the same number of query heads",
            ("num_kv_heads",) if heads.kv_stated else ("W_K",),
        )


def _embedding_problems(embeddings: Arrays) -> Iterator[Problem]:
    x, memory = embeddings["X"], embeddings.get("memory")
    if memory is not None and memory.shape[:-2] != x.shape[:-2]:
        message = f"X has leading axes {x.shape[:-2]}, memory has {memory.shape[:-2]}"
        yield Problem("shape-mismatch", message, f"{x.shape[:-2]}", "each sequence has its own memory", ("memory",))
    for name, array in embeddings.items():
        if array.shape[-1] == 0:
            message = f"{name} has d_model = 0"
            yield Problem("empty-axis", message, "d_model of at least 1", None, (name,))


def _row_problems(embeddings: Arrays, arrays: Arrays) -> Iterator[Problem]:
    source = "memory" if "memory" in embeddings else "X"
    for name, of in (("W_Q", "X"), ("W_K", source), ("W_V", source)):
        weight, d_model = arrays[name], embeddings[of].shape[-1]
        if weight.shape[-2] == d_model:
            continue
        hint = f"{of} is multiplied from the right: {of} · {name}"
        if weight.shape[-1] == d_model:
            hint += f"; {name} looks transposed, as torch.nn.Linear keeps its weight"
        message = f"{name} has {counted_rows(weight.shape[-2])}, {of} has d_model = {d_model}"
        yield Problem("shape-mismatch", message, counted_rows(d_model), hint, (name,))


def _stated_problems(arrays: Arrays, heads: HeadShapes) -> Iterator[Problem]:
    """Whether what is given per head is given for every head."""
    for name, array in arrays.items():
        per_head = array.ndim == (3 if name[0] == "W" else 2)
        letter, count = ("H_kv", heads.kv_heads or 1) if name[2] in "KV" else ("H", heads.heads or 1)
        if per_head and array.shape[0] != count:
            message = f"{name} has {array.shape[0]} heads, {letter} = {count}"
            yield Problem("head-count", message, f"one for each of {count}", None, (name,))


def _width_problems(arrays: Arrays, heads: int, kv_heads: int) -> Iterator[Problem]:
    width = {
        name: array.shape[-1] if array.ndim == 2 else array.shape[0] * array.shape[-1]
        for name, array in arrays.items()
        if name in ("W_Q", "W_K", "W_V")
    }
    for name, letter, count in (("W_Q", "H", heads), ("W_V", "H_kv", kv_heads)):
        if width[name] % count or width[name] == 0:
            message = f"{name} has {width[name]} columns, which {letter} = {count} heads cannot share evenly"
            yield Problem("shape-mismatch", message, f"a multiple of {count}", None, (name,))
    d_k, d_v = width["W_Q"] // heads, width["W_V"] // kv_heads
    if width["W_K"] != kv_heads * d_k:
        message = f"W_K has {width['W_K']} columns, H_kv · d_k = {kv_heads} · {d_k} = {kv_heads * d_k}"
        hint = "queries and keys meet in dot products of length d_k, which W_Q has already set"
        yield Problem("shape-mismatch", message, f"{kv_heads * d_k} columns", hint, ("W_K",))
    if "W_O" in arrays:
        rows = arrays["W_O"].size // max(1, arrays["W_O"].shape[-1])
        if rows != heads * d_v:
            message = f"W_O has {counted_rows(rows)}, H · d_v = {heads} · {d_v} = {heads * d_v}"
            hint = "W_O meets the outputs of all heads side by side"
            yield Problem("shape-mismatch", message, counted_rows(heads * d_v), hint, ("W_O",))
    due = {"b_Q": width["W_Q"], "b_K": width["W_K"], "b_V": width["W_V"]}
    due["b_O"] = arrays["W_O"].shape[-1] if "W_O" in arrays else heads * d_v
    for name, count in due.items():
        if name in arrays and arrays[name].size != count:
            beside = name.replace("b", "W") if name.replace("b", "W") in arrays else "the concatenation"
            message = f"{name} has {arrays[name].size} numbers, {beside} has {count} columns"
            yield Problem("shape-mismatch", message, f"{count} numbers", None, (name,))
