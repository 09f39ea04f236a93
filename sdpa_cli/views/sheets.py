"""CSV: one line for each number, with where it stands; what spreadsheets and data frames read without guessing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from sdpa_cli.computing import Computed, Matrix, read
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.reading import in_parts, leading_indices, wanted

HEADER = "case,matrix,batch,head,row,col,value\n"


def csv_pieces(results: Iterable[Computed], shown: Shown) -> Iterator[str]:
    """A long table of all numbers; every index is counted from 0, and empty where a case has no such axis.

    It holds no text of the case's author, so nothing in it can be a formula to a spreadsheet.

    Parameters
    ----------
    results, shown
        What was computed, and what of it the reader asks for.
    """
    yield HEADER
    for number, result in enumerate(results):
        for name in shown.matrices:
            for leading in leading_indices(result):
                yield from _lines(result, number, name, leading, shown)
        rows, _ = wanted(result, "output", shown)
        for leading in leading_indices(result):
            place = _place(number, "lse", leading)
            yield from (
                f"{place},{row},,{value!r}\n"
                for row, value in zip(rows, result.attention.lse[leading][rows].tolist(), strict=True)
            )


def _lines(result: Computed, number: int, name: Matrix, leading: tuple[int, ...], shown: Shown) -> Iterator[str]:
    one = result.attention.at(*leading)
    rows, cols = wanted(result, name, shown)
    place = _place(number, name, leading)
    lines = (row for part in in_parts(partial(read, one, name), rows, cols) for row in part.tolist())
    for row, values in zip(rows.tolist(), lines, strict=True):
        yield "".join(f"{place},{row},{col},{value!r}\n" for col, value in zip(cols.tolist(), values, strict=True))


def _place(number: int, name: str, leading: tuple[int, ...]) -> str:
    batch, head = (*map(str, leading), "", "")[:2]
    return f"{number},{name},{batch},{head}"
