"""Matrices in csv files: rows of lines, entries between commas, read by the same rules as in a case file."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.cases.cells import TRUTH_VALUES, Cell
from sdpa_cli.cases.numbers import NotUnderstood, decimal_comma
from sdpa_cli.errors import InputError, Place, Problem

_MOST_PROBLEMS = 100


def read_csv(text: str, name: str, cell: Cell) -> NDArray[Any]:
    """The matrix that a csv text holds.

    Blank lines, and lines that begin with ``#`` as NumPy's own header does, are passed over.

    Parameters
    ----------
    text
        The text.
    name
        What messages call the file.
    cell
        What the entries must be.

    Returns
    -------
    ndarray
        ``(rows, columns)``.

    Raises
    ------
    InputError
        With every entry that is none and every row of the wrong length, each at its place in the csv file.
    """
    cells: array[Any] = array(cell.typecode)
    problems: list[Problem] = []
    rows, columns = 0, 0
    for place in _rows(text, name):
        values = cell.in_bulk([entry.strip() for entry in place.source.split(",")])
        values = _with_care(place, cell, problems) if values is None else values
        cells.extend(values)
        rows, columns = rows + 1, columns or len(values)
        if len(values) != columns:
            message = f"row {rows} has {_count(len(values))}, the first has {_count(columns)}"
            hint = _habit(place.source) or decimal_comma(place.source)
            problems.append(Problem("ragged", message, "rows of one length", hint, place=place))
        if len(problems) > _MOST_PROBLEMS:
            break
    if problems:
        raise InputError(*problems)
    if not rows:
        raise InputError(Problem("array-file", f"'{name}' holds no row", "a line for each row, such as 1,2"))
    flat = np.frombuffer(cells, cell.typecode) if cells else np.zeros(0, cell.typecode)
    return (flat.view(np.bool_) if cell is TRUTH_VALUES else flat).reshape(rows, columns)


def _rows(text: str, name: str) -> Iterator[Place]:
    """Each line that holds a row."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield Place(name, number, 1, line)


def _with_care(place: Place, cell: Cell, problems: list[Problem]) -> list[Any]:
    """The entries of a line of which some are odd."""
    values: list[Any] = []
    column = 1
    for entry in place.source.split(","):
        try:
            values.append(cell.careful(entry.strip()))
        except NotUnderstood as problem:
            here = replace(place, column=column + len(entry) - len(entry.lstrip()))
            hint = _habit(place.source) or problem.hint
            problems.append(Problem("value", problem.message, problem.expected, hint, place=here))
            values.append(0)
        column += len(entry) + 1
    return values


def _habit(line: str) -> str | None:
    """What to do about a line as other programs write it."""
    if ";" in line:
        return "save it with commas between the numbers, and points in them" if "," in line else None
    if '"' in line or "'" in line:
        return "save the numbers without quotes"
    if not re.search("[0-9]", line):
        return "remove the line of headings, or begin it with #"
    return None


def _count(values: int) -> str:
    return f"{values} value{'' if values == 1 else 's'}"
