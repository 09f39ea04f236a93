"""A log-log chart in characters: each engine a letter, joined by dots in its colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import digits

from rich.text import Text

from sdpa_cli.views.bench_axes import LogAxis, axis_of, decades_around
from sdpa_cli.views.bench_cells import Series

ROWS, MOST_COLUMNS = 13, 64
_MARGIN = 9
_SEVERAL = "*"
_COLOURS = ("bright_blue", "red", "yellow", "green", "magenta", "cyan")

Cell = tuple[str, str]
"""A character and its style."""
Canvas = dict[tuple[int, int], Cell]
"""What stands where, by row from the top and column."""


def plot_lines(series: Series, width: int) -> Iterator[Text]:
    """The chart's lines: title, drawing with its scale at the left, lengths below, legend.

    Parameters
    ----------
    series
        What to draw.
    width
        The most characters a line may have.
    """
    columns = max(16, min(MOST_COLUMNS, width - _MARGIN - 6))
    points = [point for _, line in series.lines for point in line]
    across, up = axis_of(length for length, _ in points), decades_around(value for _, value in points)
    canvas = _draw(series, across, up, columns)
    ticks = {_row(up, decade): f"{decade:g} {series.unit}" for decade in up.decades}
    yield Text(f"{series.title}, against T (both logarithmic)", style="bold")
    for row in range(ROWS):
        line = Text(f"{ticks.get(row, ''):>{_MARGIN - 1}} |")
        for column in range(columns):
            character, style = canvas.get((row, column), (" ", ""))
            line.append(character, style=style)
        line.rstrip()
        yield line
    yield _lengths(sorted({length for length, _ in points}), across, columns)
    legend = Text()
    for (engine, _), (mark, style) in zip(series.lines, _marks(series), strict=True):
        legend.append(mark, style=style).append(f" {engine}  ")
    yield legend.append(f"{_SEVERAL} several", style="dim")


def _draw(series: Series, across: LogAxis, up: LogAxis, columns: int) -> Canvas:
    canvas: Canvas = {}
    marks = _marks(series)
    places = [
        [(_row(up, value), _column(across, length, columns)) for length, value in line] for _, line in series.lines
    ]
    for line, (_, style) in zip(places, marks, strict=True):
        canvas |= dict.fromkeys(_between(line), (".", style))
    taken: set[tuple[int, int]] = set()
    for line, mark in zip(places, marks, strict=True):
        for place in line:
            canvas[place] = (_SEVERAL, "") if place in taken else mark
            taken.add(place)
    return canvas


def _between(line: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """One place in every second column between neighbouring points."""
    for (row, column), (next_row, next_column) in pairwise(line):
        for between in range(column + 2, next_column, 2):
            share = (between - column) / (next_column - column)
            yield round(row + share * (next_row - row)), between


def _row(up: LogAxis, value: float) -> int:
    return round((1 - up.at(value)) * (ROWS - 1))


def _column(across: LogAxis, length: float, columns: int) -> int:
    return round(across.at(length) * (columns - 1))


def _marks(series: Series) -> list[Cell]:
    """A letter for each engine: its first, or the next that is free; a number where all are taken."""
    marks: list[Cell] = []
    for number, (engine, _) in enumerate(series.lines):
        used = {mark for mark, _ in marks}
        free = next(mark for mark in (*engine, *digits) if mark not in used)
        marks.append((free, _COLOURS[number % len(_COLOURS)]))
    return marks


def _lengths(lengths: Sequence[int], across: LogAxis, columns: int) -> Text:
    """The labels of the lower axis, those that find room."""
    line = " " * (_MARGIN + 1)
    for length in lengths:
        start = _MARGIN + 1 + _column(across, length, columns) - len(str(length)) // 2
        if start > len(line) or line.isspace():
            line = line.ljust(start) + str(length)
    return Text(line, style="dim")
