"""How a number is written in a cell: fixed where that says enough, scientific where it would not."""

from __future__ import annotations

import math

# From here on a fixed number is mostly digits that nobody reads.
LARGE = 1e6
# And where all numbers are smaller than this, zeros.
TINY = 1e-5


def cell_text(value: float, precision: int) -> str:
    """A number as it stands in a table.

    A number that would read as zero but is not, and one of more than six digits before the point, is written in
    scientific notation, so 1e308 may stand beside 1e-308.

    Parameters
    ----------
    value
        Any float.
    precision
        Digits after the point; in scientific notation, significant digits.

    Examples
    --------
    >>> [cell_text(value, 4) for value in (0.70710678, -0.0, 1e-308, -1e308, float("nan"))]
    ['0.7071', '0.0000', '1.000e-308', '-1.000e+308', 'nan']
    """
    if not math.isfinite(value):
        return str(value)
    fixed = f"{value:.{precision}f}"
    if value == 0:
        return fixed.removeprefix("-")
    if abs(value) < LARGE and float(fixed) != 0:
        return fixed
    return f"{value:.{max(precision - 1, 0)}e}"


def decimals_for(largest: float, decimals: int = 4) -> int:
    """How many decimals a matrix is written with, so that its largest number keeps four significant digits.

    Parameters
    ----------
    largest
        The largest absolute value shown, 0 or more and finite.
    decimals
        The fewest.

    Examples
    --------
    >>> decimals_for(0.6698), decimals_for(0.0019), decimals_for(1e-30)
    (4, 6, 4)
    """
    if not TINY <= largest < 1:
        return decimals
    return decimals - math.floor(math.log10(largest)) - 1


def brief(value: float, digits: int = 4) -> str:
    """A number in a sentence, with so many significant digits.

    Examples
    --------
    >>> brief(0.16984), brief(1e-06), brief(-0.0)
    ('0.1698', '1e-06', '0')
    """
    return f"{value + 0.0:.{digits}g}"


def only(size: int, what: str) -> str:
    """How few there are, in words.

    Examples
    --------
    >>> only(1, "row"), only(3, "column")
    ('there is only 1 row', 'there are only 3 columns')
    """
    return f"there {'is' if size == 1 else 'are'} only {counted(size, what)}"


def counted(size: int, what: str) -> str:
    """So many of something.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "column")
    ('1 row', '3 columns')
    """
    return f"{size} {what}" if size == 1 else f"{size} {what}s"
