"""CSV: one line for each number, with where it stands; what spreadsheets and data frames read without guessing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdpa_cli.computing import Computed, Matrix, axes_of, window
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
        for name in shown.of(result):
            for leading in leading_indices(result, name, shown):
                yield from _lines(result, (number, name, leading), shown)
        rows, _ = wanted(result, "output", shown)
        for leading in leading_indices(result, "scores", shown):
            place = _place(number, "lse", axes_of(result, "scores"), leading)
            yield from (
                f"{place},{row},,{value!r}\n"
                for row, value in zip(rows, result.attention.lse[leading][rows].tolist(), strict=True)
            )


def _lines(result: Computed, where: tuple[int, Matrix, tuple[int, ...]], shown: Shown) -> Iterator[str]:
    number, name, leading = where
    rows, cols = wanted(result, name, shown)
    place = _place(number, name, axes_of(result, name), leading)
    lines = (row for part in in_parts(window(result, name, leading), rows, cols) for row in part.tolist())
    write = _truth if name == "mask" else repr
    for row, values in zip(rows.tolist(), lines, strict=True):
        cells = zip(cols.tolist(), values, strict=True)
        yield "".join(f"{place},{row},{col},{write(value)}\n" for col, value in cells)


def _truth(value: bool) -> str:
    return "1" if value else "0"


def _place(number: int, name: str, axes: tuple[str, ...], leading: tuple[int, ...]) -> str:
    at = dict(zip(axes, leading, strict=True))
    return f"{number},{name},{at.get('batch', '')},{at.get('head', '')}"
