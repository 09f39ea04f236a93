"""Reading the matrices of a result for the forms that write them in full: some rows at a time, one head at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.computing import Computed, Matrix, axes_of, row_blocks, shape_of
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.numbers import only

Vector = NDArray[np.intp]


def check_selection(result: Computed, shown: Shown) -> None:
    """Refuse rows that a case does not have, and columns that none of its shown matrices has.

    Raises
    ------
    InputError
        With both problems, where there are two.
    """
    names = shown.of(result)
    if not names:
        message = f"the case has no {' and no '.join(shown.matrices)}: only a layer has"
        raise InputError(Problem("no-such-matrix", message, hint="give X, W_Q, W_K, W_V in place of Q, K, V"))
    shapes = [shape_of(result, name) for name in names]
    queries, columns = shapes[0][-2], max(shape[-1] for shape in shapes)
    problems = list(_head_problems(result, shown))
    if shown.rows is not None and not shown.rows.reaches(queries):
        problems.append(Problem("no-such-row", f"--rows {shown.rows.text}: {only(queries, 'row')}"))
    if shown.cols is not None and not shown.cols.reaches(columns):
        problems.append(Problem("no-such-column", f"--cols {shown.cols.text}: {only(columns, 'column')}"))
    if problems:
        raise InputError(*problems)


def _head_problems(result: Computed, shown: Shown) -> Iterator[Problem]:
    if shown.heads is None:
        return
    heads = dict(zip(axes_of(result, "scores"), shape_of(result, "scores"), strict=False)).get("head")
    if heads is None:
        yield Problem("no-heads", f"--head {shown.heads.text}: the case has no axis of heads")
    elif not shown.heads.reaches(heads):
        yield Problem("no-such-head", f"--head {shown.heads.text}: {only(heads, 'head')}")


def wanted(result: Computed, name: Matrix, shown: Shown) -> tuple[Vector, Vector]:
    """The rows and columns of one matrix that the reader asks for: all, unless told otherwise."""
    *_, height, breadth = shape_of(result, name)
    rows = np.arange(height) if shown.rows is None else np.array(shown.rows.within(height), np.intp)
    cols = np.arange(breadth) if shown.cols is None else np.array(shown.cols.within(breadth), np.intp)
    return rows, cols


def leading_indices(result: Computed, name: Matrix, shown: Shown) -> Iterator[tuple[int, ...]]:
    """Every index that is wanted of a matrix's leading axes, in order; one empty index for a single matrix."""
    return itertools.product(*shown.leading(result, name))


def in_parts(window: Callable[[Vector, Vector], NDArray[Any]], rows: Vector, cols: Vector) -> Iterator[NDArray[Any]]:
    """A matrix of a single head, a few rows at a time.

    Parameters
    ----------
    window
        What reads the matrix at some rows and columns.
    rows, cols
        All those that are wanted.
    """
    return (window(rows[block], cols) for block in row_blocks((len(rows), len(cols))))
