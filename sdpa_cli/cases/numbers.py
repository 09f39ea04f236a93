"""Numbers mean what they say: the text of one value to its number, or to a refusal that says what to write instead.

YAML readers disagree about ``010``, ``1:30``, ``off`` or ``1e-3``; some of them give a number nobody wrote. Here a
decimal number is that number, and whatever another reader might take for a different value is refused.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable

DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
NOT_FINITE = re.compile(r"[-+]?\.?(?:inf|infinity|nan)", re.IGNORECASE)
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}

EXPECTED = "a decimal number such as 1.5, -2e-3 or inf"
EXACT = 2**53
"""Up to here float64 holds every whole number."""
LONGEST = 40
"""Characters of a wrong value that a message repeats."""
LONGEST_CLUE = 200
"""Characters within which a hint is looked for: its patterns take time with the square of the length."""


class NotUnderstood(ValueError):  # noqa: N818 -- it is an answer, not a failure: it names what is wrong with a text
    """A text that does not say what was asked for, and why."""

    def __init__(self, message: str, expected: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.expected, self.hint = message, expected, hint


def number(text: str) -> float:
    """The float64 that a plain text says.

    Parameters
    ----------
    text
        As it stands in the file.

    Returns
    -------
    float
        May be infinite or NaN where the text says so.

    Raises
    ------
    NotUnderstood
        When the text is no decimal number, or one that float64 cannot stand for.

    Examples
    --------
    >>> [number(text) for text in ("1e-3", "-.5", "+2", "1.50", "inf", "-.Inf")]
    [0.001, -0.5, 2.0, 1.5, inf, -inf]
    >>> number("1:30")
    Traceback (most recent call last):
    sdpa_cli.cases.numbers.NotUnderstood: '1:30' is not a number
    """
    if NOT_FINITE.fullmatch(text):
        return float(text.replace(".", ""))
    if not DECIMAL.fullmatch(text):
        raise _refusal(text)
    value = float(text)
    _refuse_another_value(text, value)
    return value


def _refuse_another_value(text: str, value: float) -> None:
    """Refuse a decimal number that some readers take for another one, or that float64 cannot hold."""
    digits = text.lstrip("+-")
    integral = digits.isdecimal()
    # 010 is eight in YAML 1.1 and ten in YAML 1.2. With a point or an exponent all readers agree.
    if integral and not WHOLE.fullmatch(text):
        plain = text.replace(digits, digits.lstrip("0") or "0")
        message = f"{shown(text)} has a leading zero, which some YAML readers take for octal"
        raise NotUnderstood(message, hint=f"write {plain}")
    if math.isinf(value):
        message, hint = f"{shown(text)} is too large for float64", "write inf where infinity is meant"
        raise NotUnderstood(message, "a magnitude up to 1.797e308", hint)
    if value == 0 and re.search("[1-9]", re.split("[eE]", text)[0]):
        message, hint = f"{shown(text)} is too small for float64 and would become 0", "write 0 where zero is meant"
        raise NotUnderstood(message, "0 or a magnitude from 5e-324", hint)
    if integral and abs(value) >= EXACT and int(text) != value:
        message = f"{shown(text)} is not exact in float64, which would make it {int(value)}"
        raise NotUnderstood(message, hint=f"write {text}.0 to accept the nearest float64")


def whole(text: str) -> int:
    """The whole number that a plain text says.

    Raises
    ------
    NotUnderstood
        When it says none, or one beyond 64 bits.

    Examples
    --------
    >>> whole("-12")
    -12
    """
    if WHOLE.fullmatch(text):
        if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
            raise NotUnderstood(f"{shown(text)} is too large", "a whole number of at most 64 bits")
        return int(text)
    value = number(text)
    hint = f"write {int(value)}" if math.isfinite(value) and value.is_integer() and abs(value) < EXACT else None
    raise NotUnderstood(f"{shown(text)} is not a whole number", "a whole number without point or exponent", hint)


def truth(text: str) -> bool:
    """The truth value of one mask cell: ``true``, ``false``, ``1`` or ``0`` and nothing else.

    Raises
    ------
    NotUnderstood
        For any other text; ``on``, ``off``, ``yes`` and ``no`` are truth values to some YAML readers only.

    Examples
    --------
    >>> truth("0"), truth("true")
    (False, True)
    """
    if text in ("0", "1"):
        return text == "1"
    return flag(text, "0, 1, true or false")


def flag(text: str, expected: str = "true or false") -> bool:
    """The truth value that a word says: ``true`` or ``false``.

    Raises
    ------
    NotUnderstood
        For any other text.

    Examples
    --------
    >>> flag("true")
    True
    """
    if text in TRUTHS:
        return TRUTHS[text]
    meant = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}.get(text.lower())
    hint = f"write {meant}: only some YAML readers take {text} for it" if meant else None
    if len(parts := text.split()) > 1:
        hint = f"a comma is missing: {', '.join(parts[:4])}"
    if ";" in text:
        hint = "values are separated by commas"
    raise NotUnderstood(f"{shown(text)} is neither true nor false", expected, hint)


def decimal_comma(row: str) -> str | None:
    """A hint for a row of the wrong length that may be written with decimal commas; None where it is not.

    Examples
    --------
    >>> decimal_comma("[1,5, 2], [3, 4]]")
    'a comma separates values: if 1,5 is one number, write 1.5'
    >>> decimal_comma("[1, 5, 2]")
    """
    row = row[:LONGEST_CLUE].split("]")[0]
    found = re.search(r"([0-9]+),([0-9]+)", row)
    # Written without any spaces, [1,0,0] is the habit of many; only a pair of numbers is suspicious then.
    suspicious = ", " in row or row.count(",") == 1
    return (
        f"a comma separates values: if {found[0]} is one number, write {found[1]}.{found[2]}"
        if found and suspicious
        else None
    )


def shown(text: str) -> str:
    """A wrong value as messages quote it: in quotes, and not too long.

    Examples
    --------
    >>> shown("1:30")
    "'1:30'"
    """
    return f"'{text}'" if len(text) <= LONGEST else f"'{text[: LONGEST - 1]}…'"


def _base(name: str, base: int) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{name} is not read here: write {found[1]}{int(found[2], base)}"


def _base_60(found: re.Match[str]) -> str:
    value = 0
    for digit in found[0].lstrip("+-").split(":"):
        value = value * 60 + int(digit)
    return f"some YAML readers take it for {value} in base 60: write a plain decimal number"


# Ways of writing that people bring from elsewhere, and what to write here. Compiled when a text is wrong, not before.
_CLUES: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"([-+]?[0-9]+),([0-9]+)", lambda found: f"write the decimal point: {found[1]}.{found[2]}"),
    (r"[-+.0-9]+;.*", lambda _: "values are separated by commas"),
    (r"([-+]?)∞", lambda found: f"write {found[1]}inf"),
    (r"[-+.0-9]\S*(?:\s+[-+.0-9]\S*)+", lambda found: f"a comma is missing: {', '.join(found[0].split()[:4])}"),
    (r"(?:\S+\s+)+\S+", lambda _: "a comma or a closing bracket may be missing"),
    (r"[-+]?[0-9]{1,9}(?::[0-5]?[0-9]){1,3}", _base_60),
    (r"([-+]?)0x([0-9a-f]{1,16})", _base("hexadecimal", 16)),
    (r"([-+]?)0o([0-7]{1,22})", _base("octal", 8)),
    (r"([-+]?)0b([01]{1,64})", _base("binary", 2)),
    (r"[-+]?[0-9][0-9.]*_[0-9_.e]*", lambda found: f"write it without underscores: {found[0].replace('_', '')}"),
    (r"[-+]?[0-9.]+/[0-9.]+", lambda _: "write the value itself: fractions are not computed here"),
    (r"true|false|yes|no|on|off", lambda _: "write 1 or 0 where a number is meant"),
)


def _refusal(text: str) -> NotUnderstood:
    if text in NULLS:
        return NotUnderstood("a number is missing here", EXPECTED)
    if len(text) > LONGEST_CLUE:
        return NotUnderstood(f"{shown(text)} is not a number", EXPECTED)
    if (plain := _with_ascii(text)) != text and DECIMAL.fullmatch(plain):
        strange = next(char for char in text if ord(char) > 127)
        named = f"U+{ord(strange):04X} {unicodedata.name(strange, 'without a name')}"
        return NotUnderstood(f"{shown(text)} contains {named}", EXPECTED, f"type it with the keyboard's own: {plain}")
    hints = (hint(found) for pattern, hint in _CLUES if (found := re.fullmatch(pattern, plain, re.IGNORECASE)))
    return NotUnderstood(f"{shown(text)} is not a number", EXPECTED, next(hints, None))


_MINUS_SIGNS = dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-")


def _with_ascii(text: str) -> str:
    """The text with every look-alike of a digit, sign, point or space replaced by what it looks like."""
    text = unicodedata.normalize("NFKC", text.translate(_MINUS_SIGNS))
    digits = (unicodedata.decimal(char, None) for char in text)
    return "".join(char if digit is None else str(digit) for char, digit in zip(text, digits, strict=True)).strip()
