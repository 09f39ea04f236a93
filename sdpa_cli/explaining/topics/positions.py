"""Topic: attention does not see order, and three ways to tell it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import attend
from sdpa_cli.attention.positions import alibi_slopes, rotate, sinusoidal
from sdpa_cli.explaining.maths import becomes, call, entry, equal, maths, minus, over, power, times
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Check, Formula, Matrix, Step, Table
from sdpa_cli.explaining.walk import axis

WRITER = Writer("positions")
Array = NDArray[np.float64]


def positions(options: TopicOptions) -> tuple[Step, ...]:
    """Blindness measured; sinusoids; rotations; slopes."""
    tokens, d, heads = options.tokens or 4, options.d or 4, options.heads or 8
    rng = np.random.default_rng(options.seed)
    x = rng.standard_normal((tokens, d))
    turned = np.roll(np.arange(tokens), 1)
    blind, told = _moved(x, turned), _moved(x + sinusoidal(np.arange(tokens), d), turned, np.arange(tokens))
    encoding = sinusoidal(np.arange(tokens), d)
    shown = axis("position", np.arange(tokens), tokens), axis("component", np.arange(d), d)
    angle = over("i", power(10000, over("2r", "d")))
    return (
        WRITER.step(
            "blind",
            WRITER.words("blind.why", tokens=tokens, seed=options.seed),
            Check(WRITER.words("blind.without", deviation=blind), blind < 1e-12),
            Check(WRITER.words("blind.with", deviation=told), told > 1e-3),
        ),
        WRITER.step(
            "sinusoidal",
            WRITER.words("sinusoidal.why"),
            Formula(equal(entry("p", "i", "2r"), call("sin", angle))),
            Formula(equal(entry("p", "i", "2r+1"), call("cos", angle))),
            Matrix(maths("p"), encoding, *shown),
        ),
        WRITER.step(
            "rope",
            WRITER.words("rope.why", seed=options.seed),
            Table(WRITER.columns("query-position", "key-position", "distance", "product"), _rotated(rng)),
        ),
        WRITER.step(
            "alibi",
            WRITER.words("alibi.why", heads=heads),
            Formula(becomes(entry("S", "i", "j"), minus(entry("S", "i", "j"), times("slope", "|i − j|")))),
            Table(
                WRITER.columns("head", "slope", "bias-1", "bias-3"),
                tuple((h, float(s), float(-s), float(-3 * s)) for h, s in enumerate(alibi_slopes(heads), 1)),
            ),
        ),
    )


def _moved(x: Array, order: NDArray[np.intp], place: NDArray[np.intp] | None = None) -> float:
    """How far the outputs of reordered tokens are from the reordered outputs.

    With `place`, positions were added to `x`; then tokens move and positions stay.
    """
    positions = np.zeros_like(x) if place is None else sinusoidal(place, x.shape[-1])
    moved = (x - positions)[order] + positions
    before, after = (attend(y, y, y).output for y in (x, moved))
    return float(np.abs(after - before[order]).max())


def _rotated(rng: np.random.Generator) -> tuple[tuple[int | float, ...], ...]:
    """Dot products of one query and one key, each turned by its position."""
    q, k = rng.standard_normal((2, 1, 4))
    return tuple((m, n, m - n, float((rotate(q, [m]) @ rotate(k, [n]).T)[0, 0])) for m, n in PLACES)


PLACES = ((1, 0), (5, 4), (101, 100), (3, 0), (7, 4))
