"""What two computations show of the law that one of them breaks, as numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpa_cli.explaining.comparing.sides import NAMES, Parting, Sides, forbidden
from sdpa_cli.explaining.maths import entry, vector
from sdpa_cli.explaining.trace import Check, Facts, Part, Position, words

Parts = tuple[Part, ...]


def evidence(law: str, sides: Sides, where: Parting) -> Parts:
    """The numbers that show the broken law in this case; where they are silent, the two values that differ."""
    return _BY_LAW.get(law, _values)(sides, where) or _values(sides, where)


def _values(sides: Sides, where: Parting) -> Parts:
    """The two values of the first cell that differs."""
    right, other = (float(getattr(side, where.step)[where.index]) for side in (sides.right, sides.other))
    name = entry(NAMES[where.step], *where.cell)
    return (Check(words("evidence.values", cell=name, right=right, other=other), False),)


def _scale(sides: Sides, where: Parting) -> Parts:
    """By which factor the scores are off, if by one factor."""
    right, other = sides.right.scores[where.head], sides.other.scores[where.head]
    usable = np.isfinite(right) & np.isfinite(other) & (right != 0)
    ratios = other[usable] / right[usable]
    if not ratios.size or np.ptp(ratios) > 1e-9 * np.abs(ratios).max():
        return ()
    return (Check(words("evidence.scale", factor=float(ratios[0])), False),)


def _live_keys(sides: Sides, where: Parting) -> Parts:
    """A key that is alive on one side only, and how many there are."""
    right, other = (~np.isneginf(side.logits) for side in (sides.right, sides.other))
    parts: list[Part] = []
    for name, cells in (("gained", other & ~right), ("lost", right & ~other)):
        if cells.any():
            *_, i, j = first = tuple(np.argwhere(cells)[0])
            weight = float((sides.other if name == "gained" else sides.right).weights[first])
            found = words(
                f"evidence.{name}", query=Position(int(i)), key=Position(int(j)), weight=weight, count=int(cells.sum())
            )
            parts.append(Check(found, False))
    return tuple(parts)


def _zero_weights(sides: Sides, where: Parting) -> Parts:
    """The largest weight of a forbidden key; or what a forbidden value does to the output despite a weight of 0."""
    dead = forbidden(sides)
    weights = np.where(dead, np.nan_to_num(np.abs(sides.other.weights), nan=np.inf), 0)
    worst = np.unravel_index(int(np.argmax(weights)), weights.shape)
    if weights[worst] > 0:
        query, key = (Position(int(k)) for k in worst[-2:])
        return (Check(words("evidence.zero", query=query, key=key, weight=float(sides.other.weights[worst])), False),)
    leaked = np.argwhere(~np.isfinite(sides.other.output) & np.isfinite(sides.right.output))
    if not leaked.size:
        return ()
    *_, i, c = (int(k) for k in leaked[0])
    value = float(sides.other.output[tuple(leaked[0])])
    return (Check(words("evidence.leak", cell=entry("O", i, c), value=value), False),)


def _row_sum(sides: Sides, where: Parting) -> Parts:
    """The row sums, and the one that is farthest from 1."""
    sums = sides.other.weights[where.head].sum(axis=-1)
    right = sides.right.weights[where.head].sum(axis=-1)
    off = np.nan_to_num(np.abs(sums - right), nan=np.inf)
    worst = int(np.argmax(off))
    if not off[worst] > 1e-9:
        return ()
    found = words("evidence.row-sum", row=Position(worst), sum=float(sums[worst]), right=float(right[worst]))
    return (Check(found, False),)


def _shift(sides: Sides, where: Parting) -> Parts:
    """What was subtracted from each live cell of a row: not one number."""
    row = (*where.head, where.cell[0])
    live = ~forbidden(sides)[row]
    taken = (sides.other.logits[row] - sides.other.shifted[row])[live]
    if not taken.size or np.ptp(taken) < 1e-12:
        return ()
    return (Check(words("evidence.shift", row=Position(where.cell[0]), taken=vector(map(float, taken))), False),)


def _finite(sides: Sides, where: Parting) -> Parts:
    """The first value that is not finite, and what became of the row's weights."""
    for name in ("exponentials", "weights", "output"):
        right, other = getattr(sides.right, name), getattr(sides.other, name)
        wild = np.argwhere(~np.isfinite(other) & np.isfinite(right))
        if wild.size:
            *_, i, j = (int(k) for k in wild[0])
            value = float(other[tuple(wild[0])])
            return (Check(words("evidence.not-finite", cell=entry(NAMES[name], i, j), value=value), False),)
    return _zero_weights(sides, where)


def row_sums(sides: Sides, where: Parting) -> Facts:
    """The sums of the weights of the row in question, right and other."""
    row = (*where.head, where.cell[0])
    return Facts(
        tuple(
            (title, float(side.weights[row].sum()))
            for title, side in zip(sides.titles, (sides.right, sides.other), strict=True)
        )
    )


_BY_LAW: dict[str, Callable[[Sides, Parting], Parts]] = {
    "scale": _scale,
    "live-keys": _live_keys,
    "zero-weights": _zero_weights,
    "row-sum": _row_sum,
    "shift-invariance": _shift,
    "finite": _finite,
}
