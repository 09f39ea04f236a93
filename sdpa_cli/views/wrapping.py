"""Prose in lines: broken between words only, so that an address or a command stays whole."""

from __future__ import annotations

from collections.abc import Iterable

from sdpa_cli.views.glyphs import width


def wrapped(text: str, room: int) -> list[str]:
    """The lines of a paragraph.

    Parameters
    ----------
    text
        The paragraph; what stands between its words is one space.
    room
        The cells of a line; a longer word has a line of its own.

    Examples
    --------
    >>> wrapped("the quick brown fox", 10)
    ['the quick', 'brown fox']
    """
    return in_lines(text.split(" "), room, " ")


def in_lines(items: Iterable[str], room: int, gap: str = "   ") -> list[str]:
    """Items that must not be broken, as many on each line as there is room for."""
    lines: list[str] = []
    for item in items:
        if lines and width(lines[-1]) + width(gap) + width(item) <= room:
            lines[-1] += gap + item
        else:
            lines.append(item)
    return lines
