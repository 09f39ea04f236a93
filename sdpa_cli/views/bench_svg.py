"""A log-log chart as an SVG drawing, coloured by the style sheet of the page it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from sdpa_cli.views.bench_axes import LogAxis, axis_of, decades_around
from sdpa_cli.views.bench_cells import Series, digits

_WIDTH, _HEIGHT = 560, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 104, 12, 40
_LINE_HEIGHT = 14


def svg(series: Series, colours: dict[str, str]) -> str:
    """The drawing. Every line is labelled at its end, and every point says its numbers when pointed at.

    Parameters
    ----------
    series
        What to draw.
    colours
        The style-sheet class of each engine.
    """
    points = [point for _, line in series.lines for point in line]
    across, up = axis_of(length for length, _ in points), decades_around(value for _, value in points)
    parts = [*_grid(across, up, series), *_lines(across, up, series, colours)]
    label = escape(f"{series.title}, in {series.unit}, against T")
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _x(across: LogAxis, length: float) -> float:
    return round(_LEFT + across.at(length) * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(up: LogAxis, value: float) -> float:
    return round(_HEIGHT - _BOTTOM - up.at(value) * (_HEIGHT - _TOP - _BOTTOM), 1)


def _grid(across: LogAxis, up: LogAxis, series: Series) -> Iterator[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for decade in up.decades:
        y = _y(up, decade)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{decade:g} {series.unit}</text>'
    for length in sorted({length for _, line in series.lines for length, _ in line}):
        x = _x(across, length)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{length}</text>'
    yield f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">T</text>'


def _lines(across: LogAxis, up: LogAxis, series: Series, colours: dict[str, str]) -> Iterator[str]:
    ends = _spread({engine: _y(up, line[-1][1]) for engine, line in series.lines})
    for engine, line in series.lines:
        places = [(_x(across, length), _y(up, value)) for length, value in line]
        path = " ".join(f"{x},{y}" for x, y in places)
        yield f'<g class="{colours[engine]}"><polyline points="{path}"/>'
        for (x, y), (length, value) in zip(places, line, strict=True):
            title = escape(f"{engine}, T = {length}: {digits(value)} {series.unit}")
            yield f'<circle cx="{x}" cy="{y}" r="3.5"><title>{title}</title></circle>'
        yield f'<text x="{places[-1][0] + 8}" y="{ends[engine] + 4}">{escape(engine)}</text></g>'


def _spread(wanted: dict[str, float]) -> dict[str, float]:
    """Label heights, moved apart so that none covers another: upwards, and down again from the upper edge."""
    raised: dict[str, float] = {}
    lowest = float(_HEIGHT)
    for engine, y in sorted(wanted.items(), key=lambda item: -item[1]):
        raised[engine] = lowest = min(y, lowest - _LINE_HEIGHT)
    placed: dict[str, float] = {}
    highest = float(_TOP)
    for engine, y in reversed(raised.items()):
        placed[engine] = max(y, highest)
        highest = placed[engine] + _LINE_HEIGHT
    return {engine: round(y, 1) for engine, y in placed.items()}
