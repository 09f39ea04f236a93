"""What stands in for a sign that an output's encoding cannot show."""

from __future__ import annotations

import re
import unicodedata

# What a root sign without parentheses reaches over; in letters it needs them.
_ROOT = re.compile(r"√(\w+(?:[.,]\d+)?)")
# Mathematical signs and typography, as people type them on an ASCII keyboard.
STANDINS = {
    "√": "sqrt",
    "ᵀ": "^T",
    "·": "*",
    "−": "-",
    "–": "-",
    "∞": "inf",
    "Σ": "sum",
    "≈": "~",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "∈": "in",
    "→": "->",
    "←": "<-",
    "…": "...",
    "′": "'",
    "₋": "-",
    "ⱼ": "j",
    "×": "x",
    "“": '"',
    "”": '"',
    "„": '"',
    "»": '"',
    "«": '"',
    "’": "'",
    "⌊": "floor(",
    "⌋": ")",
    "φ": "phi",
    "θ": "theta",
    "Δ": "Delta",
    "₂": "2",
    "\u0303": "~",
    "\u202f": " ",
    "æ": "ae",
    "Æ": "Ae",
    "ø": "oe",
    "Ø": "Oe",
    "å": "aa",
    "Å": "Aa",
}


def fitted(text: str, encoding: str) -> str:
    """A text of ours in an encoding that may lack some of its signs.

    Examples
    --------
    >>> fitted("√2 ≈ 1.4142", "utf-8"), fitted("√2 ≈ 1.4142; erősség", "cp1252"), fitted("lært", "ascii")
    ('√2 ≈ 1.4142', 'sqrt(2) ~ 1.4142; erosség', 'laert')
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_fitting(character, encoding) for character in _ROOT.sub(r"√(\1)", text))
    return text


def _fitting(character: str, encoding: str) -> str:
    for candidate in (character, STANDINS.get(character), unicodedata.normalize("NFKD", character)[0]):
        if candidate is not None:
            try:
                candidate.encode(encoding)
            except UnicodeEncodeError:
                continue
            return candidate
    return "?"
