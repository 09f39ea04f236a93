"""Topic: the softmax, its shift invariance, and what goes wrong without a shift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.explaining.maths import entry, equal, maths, over, plus, power, product
from sdpa_cli.explaining.topics.building import TopicOptions, Writer
from sdpa_cli.explaining.trace import Check, Formula, Matrix, Part, Position, Step, Table, Worked
from sdpa_cli.explaining.walk import axis

WRITER = Writer("softmax")
SCORES = np.array([[0.0, 2.0, -np.inf], [1.0, -1.0, 0.0]])
LARGE = np.array([1000.0, 999.0, 998.0])
_ROWS, _COLS = axis("query", np.arange(2), 2), axis("key", np.arange(3), 3)

Array = NDArray[np.float64]


def softmax(options: TopicOptions) -> tuple[Step, ...]:
    """One matrix of scores twice, without a shift and with one; then scores that need it."""
    plain, shifted = _weights(np.exp(SCORES)), _weights(np.exp(SCORES - SCORES.max(axis=-1, keepdims=True)))
    deviation = float(np.abs(plain - shifted).max())
    z, c = entry("z", "j"), maths("c")
    return (
        WRITER.step("scores", WRITER.words("scores.why"), _matrix("S", SCORES)),
        WRITER.step("plain", WRITER.words("plain.why"), *_walk(np.exp(SCORES), plain)),
        WRITER.step(
            "shifted",
            WRITER.words("shifted.why"),
            Formula(equal(power("e", plus(z, c)), product(power("e", c), power("e", z)))),
            *_walk(np.exp(SCORES - SCORES.max(axis=-1, keepdims=True)), shifted),
            Check(WRITER.words("shifted.agree", deviation=deviation), deviation < 1e-15),
        ),
        WRITER.step(
            "overflow",
            WRITER.words("overflow.why"),
            Table(WRITER.columns("key", "score", "plain-exponential", "plain-weight", "shifted-weight"), _overflow()),
        ),
        WRITER.step("empty", WRITER.words("empty.why", result=_less_itself(-np.inf))),
    )


def _weights(exponentials: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _walk(exponentials: Array, weights: Array) -> tuple[Part, ...]:
    """Exponentials with their sums, weights with theirs, and one entry worked out."""
    sums = exponentials.sum(axis=-1)
    share = over(float(exponentials[0, 1]), float(sums[0]))
    return (
        _matrix("E", exponentials, sums),
        Worked(equal(entry("A", 0, 1), share, float(weights[0, 1]))),
        _matrix("A", weights, weights.sum(axis=-1)),
    )


def _matrix(name: str, values: Array, totals: Array | None = None) -> Matrix:
    look = "shaded" if name == "A" else "plain"
    return Matrix(maths(name), values, _ROWS, _COLS, forbidden=np.isneginf(SCORES), look=look, totals=totals)  # type: ignore[arg-type]


def _overflow() -> tuple[tuple[Position | float, ...], ...]:
    with np.errstate(over="ignore"):
        exponentials = np.exp(LARGE)
    plain, shifted = _weights(exponentials), _weights(np.exp(LARGE - LARGE.max()))
    columns = zip(LARGE, exponentials, plain, shifted, strict=True)
    return tuple((Position(j), *map(float, numbers)) for j, numbers in enumerate(columns))


def _less_itself(value: float) -> float:
    with np.errstate(invalid="ignore"):
        return float(np.subtract(value, value))
