"""A student's text made safe to show: no control, no direction mark, no half character."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str, most: int = 1 << 16) -> str:
    r"""`text` with every character of a Unicode category C* but the newline replaced, cut after `most` characters.

    The result is plain text still: whoever puts it into Rich markup, HTML, XML or a spreadsheet escapes it there.

    Examples
    --------
    >>> clean("a\x1b[31mb\r\nc\td")
    'a�[31mb\nc d'
    """
    cut = text[:most] + ("…" if len(text) > most else "")
    plain = cut.replace("\r\n", "\n").replace("\t", " ")
    return "".join(char if char == "\n" or unicodedata.category(char)[0] != "C" else REPLACEMENT for char in plain)
