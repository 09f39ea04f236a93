"""What the entries of a matrix are: numbers or truth values, read in bulk where ordinary, else one by one with care."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sdpa_cli.cases.numbers import TRUTHS, number, truth


@dataclass(frozen=True, eq=False)
class Cell:
    """One kind of entry."""

    name: str
    ordinary: re.Pattern[str]
    """A run of texts, each ended by NUL, of which every one may go straight to `quick`."""
    quick: Callable[[str], Any]
    careful: Callable[[str], Any]
    """Refuses what is odd, saying why."""
    typecode: str
    """Of `array.array`."""

    def in_bulk(self, texts: Sequence[str]) -> list[Any] | None:
        """The values of a run of texts; None if any of them needs care."""
        if not self.ordinary.fullmatch("\0".join((*texts, ""))):
            return None
        return [self.quick(text) for text in texts]


# At most 15 digits, 30 decimals and a two-digit exponent: exact, and far from overflow and underflow.
_ORDINARY_NUMBER = r"[-+]?(?:(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][-+]?[0-9]{1,2})?"

NUMBERS = Cell("numbers", re.compile(rf"(?:{_ORDINARY_NUMBER}\0)*+"), float, number, "d")
TRUTH_VALUES = Cell(
    "truth values", re.compile(r"(?:(?:[01]|true|false)\0)*+"), {"0": 0, "1": 1, **TRUTHS}.__getitem__, truth, "b"
)
