"""Logarithmic axes: where a value lies between the ends of a chart, and which ticks to label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True)
class LogAxis:
    """An axis from `low` to `high`, both above 0."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """The value's place, from 0 at the low end to 1 at the high end."""
        if self.low == self.high:
            return 0.5
        return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))

    @property
    def decades(self) -> list[float]:
        """The powers of ten on the axis."""
        return [10.0**power for power in range(ceil(log10(self.low)), floor(log10(self.high)) + 1)]


def axis_of(values: Iterable[float]) -> LogAxis:
    """An axis that just holds these values."""
    known = list(values)
    return LogAxis(min(known), max(known))


def decades_around(values: Iterable[float]) -> LogAxis:
    """An axis from one power of ten to another that holds these values.

    Examples
    --------
    >>> decades_around([3.0, 40.0])
    LogAxis(low=1.0, high=100.0)
    """
    known = list(values)
    low, high = floor(log10(min(known))), ceil(log10(max(known)))
    return LogAxis(10.0**low, 10.0 ** max(high, low + 1))
