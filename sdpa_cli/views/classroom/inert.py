"""Text that a stranger wrote, made to do nothing where it is put: in a spreadsheet, in XML, in Markdown, in a line."""

from __future__ import annotations

import re
import unicodedata
from xml.sax.saxutils import escape, quoteattr

# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What a spreadsheet takes for the beginning of a formula; some take the wide forms, too.
_FORMULA = tuple("=+-@\t\r|%＝＋－＠")
_BACKTICKS = re.compile("`+")


def line(text: str) -> str:
    """One line of plain text: nothing invisible, nothing that steers."""
    return "".join(
        " " if char in "\n\t\u2028\u2029" else char if _is_seen(char) else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def block(text: str) -> str:
    """Lines of plain text."""
    return "\n".join(map(line, text.split("\n")))


def cell(text: str) -> str:
    """A cell of a table that a spreadsheet takes for text.

    Examples
    --------
    >>> cell("=HYPERLINK(1)"), cell("Kovács Anna")
    ("'=HYPERLINK(1)", 'Kovács Anna')
    """
    shown = line(text)
    return f"'{shown}" if text.startswith(_FORMULA) or shown.lstrip().startswith(_FORMULA) else shown


def xml(text: str) -> str:
    """Text in an XML element."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", block(text)))


def attribute(text: str) -> str:
    """An attribute's value in XML, its quotes included."""
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", line(text)))


def code(text: str) -> str:
    """A span of code in Markdown: no link, no mention, no HTML comes of what is in it."""
    shown = line(text) or " "
    ticks = "`" * (1 + _longest(shown))
    return f"{ticks} {shown} {ticks}" if ticks != "`" or shown.strip("`") != shown else f"`{shown}`"


def fenced(lines: list[str]) -> str:
    """A block of code in Markdown."""
    shown = [line(one) for one in lines]
    fence = "`" * max(3, 1 + max((_longest(one) for one in shown), default=0))
    return "\n".join([f"{fence}text", *shown, fence])


def _is_seen(char: str) -> bool:
    return unicodedata.category(char)[0] != "C"


def _longest(text: str) -> int:
    return max((len(found) for found in _BACKTICKS.findall(text)), default=0)
