"""How numbers are written in an explanation: with the language's decimal sign, and as many digits as say enough."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdpa_cli.languages import Texts

MINUS, THIN_SPACE = "−", "\u202f"
_LARGE = 1e7


@dataclass(frozen=True)
class Notation:
    r"""The way one language writes numbers.

    Examples
    --------
    >>> english, danish = Notation("."), Notation(",")
    >>> english.number(0.33023845), danish.number(0.33023845), english.number(2.0), english.number(-0.5)
    ('0.3302', '0,3302', '2', '−0.5')
    >>> english.number(1.1e-16), english.number(float("-inf")), danish.count(16384), danish.fixed(0.5, 4)
    ('1.1e-16', '−∞', '16\u202f384', '0,5000')
    """

    decimal: str
    decimals: int = 4

    @property
    def separator(self) -> str:
        """What stands between the numbers of a list."""
        return ", " if self.decimal == "." else "; "

    def number(self, value: float) -> str:
        """A number in a sentence or formula, without zeros at its end."""
        if not math.isfinite(value):
            return self._special(value)
        if value == int(value) and abs(value) < _LARGE:
            return self._signed(str(int(value)))
        if abs(value) < 0.5 * 10.0**-self.decimals or abs(value) >= _LARGE:
            return self._signed(f"{value:.3g}")
        return self._signed(f"{value:.{self.decimals}f}".rstrip("0").rstrip("."))

    def fixed(self, value: float, decimals: int) -> str:
        """A number in a column, where all have the same number of decimals."""
        if not math.isfinite(value):
            return self._special(value)
        shown = f"{value + 0.0:.{decimals}f}"
        if (value != 0 and float(shown) == 0) or abs(value) >= _LARGE:
            return self._signed(f"{value:.3g}")
        return self._signed(shown.removeprefix("-") if float(shown) == 0 else shown)

    def count(self, value: int) -> str:
        """A whole number, its digits in groups of three from five on."""
        shown = f"{value:,}" if abs(value) >= 10_000 else str(value)
        return shown.replace(",", THIN_SPACE).replace("-", MINUS)

    def memory(self, count: int) -> str:
        """An amount of memory: exact where it is small, else to three digits."""
        amount, unit = float(count), "B"
        for larger in ("KiB", "MiB", "GiB", "TiB"):
            if amount < 1024:
                break
            amount, unit = amount / 1024, larger
        return f"{self._signed(f'{amount:.4g}')} {unit}"

    def _special(self, value: float) -> str:
        return "NaN" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"

    def _signed(self, text: str) -> str:
        mantissa, mark, exponent = text.partition("e")
        return mantissa.replace("-", MINUS).replace(".", self.decimal) + mark + exponent


def notation_of(texts: Texts, decimals: int | None = None) -> Notation:
    """The notation of the language of some texts."""
    return Notation("," if texts.number(0.5, 1) == "0,5" else ".", 4 if decimals is None else decimals)
