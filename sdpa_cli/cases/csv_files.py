"""Matrices in csv files: rows of lines, entries between commas, read by the same rules as in a case file."""

from __future__ import annotations

from array import array
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
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#") or len(problems) > _MOST_PROBLEMS:
            continue
        texts = [entry.strip() for entry in line.split(",")]
        values = cell.in_bulk(texts)
        cells.extend(_with_care(line, Place(name, number, 1, line), cell, problems) if values is None else values)
        columns = columns or len(texts)
        if len(texts) != columns:
            message = f"row {rows + 1} has {len(texts)} values, the first has {columns}"
            place = Place(name, number, 1, line)
            problems.append(Problem("ragged", message, "rows of one length", decimal_comma(line), place=place))
        rows += 1
    if problems:
        raise InputError(*problems)
    flat = np.frombuffer(cells, cell.typecode) if cells else np.zeros(0, cell.typecode)
    return (flat.view(np.bool_) if cell is TRUTH_VALUES else flat).reshape(rows, columns)


def _with_care(line: str, place: Place, cell: Cell, problems: list[Problem]) -> list[Any]:
    """The entries of a line of which some are odd."""
    values: list[Any] = []
    column = 1
    for entry in line.split(","):
        try:
            values.append(cell.careful(entry.strip()))
        except NotUnderstood as problem:
            here = Place(place.file, place.line, column + len(entry) - len(entry.lstrip()), line)
            problems.append(Problem("value", problem.message, problem.expected, problem.hint, place=here))
            values.append(0)
        column += len(entry) + 1
    return values
