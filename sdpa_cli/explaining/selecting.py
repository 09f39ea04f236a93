"""Which part of a case is explained: the head, the rows and keys that are shown, the cell that is worked out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Attention
from sdpa_cli.errors import InputError, Problem

Ints = NDArray[np.intp]
ROOM = 8
"""Rows and columns of a matrix that are shown unless a reader asks for others."""


@dataclass(frozen=True)
class Selectors:
    """What a reader asks to see. Indices count from 0; None is left to the explanation."""

    head: tuple[int, ...] | None = None
    """An index into the leading axes, or its last part."""
    row: int | None = None
    cell: tuple[int, int] | None = None
    block_size: int | None = None


def one_head(attention: Attention, selectors: Selectors) -> tuple[int, ...]:
    """The index of the leading axes that is explained: the one asked for, else the first.

    Raises
    ------
    InputError
        If there is no such batch entry or head.
    """
    sizes = attention.shapes["Q"][:-2]
    asked = selectors.head or ()
    if len(asked) > len(sizes):
        raise InputError(Problem("no-such-head", f"--head {_shown(asked)} is not in this case", _heads_of(sizes)))
    whole = (*(0,) * (len(sizes) - len(asked)), *asked)
    if any(index >= size for index, size in zip(whole, sizes, strict=True)):
        expected = f"up to {_shown(tuple(size - 1 for size in sizes[len(sizes) - len(asked) :]))}"
        raise InputError(Problem("no-such-head", f"--head {_shown(asked)} is not in this case", expected))
    return whole


def shown(attention: Attention, selectors: Selectors) -> tuple[Ints, Ints, tuple[int, int]]:
    """Rows, keys and the cell to work out, of a case of one head.

    Returns
    -------
    rows, keys, focus
        0-based; the focus is among the rows and keys.

    Raises
    ------
    InputError
        If the row or the cell that is asked for does not exist.
    """
    queries, keys = attention.shapes["S"]
    if queries == 0:
        raise InputError(Problem("nothing-to-explain", "the case has no query (Tq = 0)", path=("Q",)))
    row, key = selectors.cell if selectors.cell is not None else (selectors.row, None)
    option = "--row" if selectors.cell is None else "--cell"
    _within(option, "row", row, queries, "Tq")
    _within(option, "key", key, keys, "Tk")
    rows = window(queries) if row is None else np.array([row])
    if row is None:
        row = _telling(attention, rows)
    if key is None:
        key = int(np.argmax(np.nan_to_num(attention.weights(np.array([row]))[0])))
    return rows, _keys_shown(attention, int(row), key), (int(row), int(key))


def window(size: int, also: int | None = None) -> Ints:
    """The first and the last indices of an axis, and one more; all of them where there is room.

    Examples
    --------
    >>> window(3).tolist(), window(100, also=50).tolist()
    ([0, 1, 2], [0, 1, 2, 50, 97, 98, 99])
    """
    if size <= ROOM:
        return np.arange(size)
    half = ROOM // 2 if also is None else ROOM // 2 - 1
    chosen = {*range(half), *range(size - half, size)} | (set() if also is None else {also})
    return np.array(sorted(chosen))


def _keys_shown(attention: Attention, row: int, key: int) -> Ints:
    """All keys where there is room; else the live ones of a query as far as there is, and the first and last of all."""
    keys = attention.shapes["S"][-1]
    if keys <= ROOM:
        return np.arange(keys)
    live = np.flatnonzero(~attention.forbidden(np.array([row]))[0])
    if len(live) > ROOM - 2:
        return window(keys, key)
    return np.unique([0, *live, key, keys - 1])


def _telling(attention: Attention, rows: Ints) -> int:
    """The first of these rows with a choice of keys, else with any key at all, else the first."""
    return int(rows[int(np.argmax(np.minimum(attention.live_counts(rows), 2)))])


def _within(option: str, what: str, index: int | None, size: int, letter: str) -> None:
    if index is not None and index >= size:
        message = f"{option}: there is no {what} {index + 1}, the case has {letter} = {size}"
        raise InputError(Problem("no-such-cell", message, f"1 to {size}"))


def _heads_of(sizes: tuple[int, ...]) -> str:
    """What a head of a case is named by."""
    if not sizes:
        return "the case is a single matrix, without heads"
    return "one number: the case has one leading axis" if len(sizes) == 1 else "at most two numbers: batch entry, head"


def _shown(index: tuple[int, ...]) -> str:
    return ",".join(str(i + 1) for i in index)
