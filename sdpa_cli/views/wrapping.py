"""Prose in lines: broken between words only, so that an address or a command stays whole."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sdpa_cli.views.glyphs import width

# Stands between things beside each other: wider than any space within them.
BETWEEN_PARTS = "   "
_BREAKS = re.compile(rf"{BETWEEN_PARTS}|(?<=[;:]) ")


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


def in_lines(items: Iterable[str], room: int, gap: str = BETWEEN_PARTS) -> list[str]:
    """Items that must not be broken, as many on each line as there is room for."""
    lines: list[str] = []
    for item in items:
        if lines and width(lines[-1]) + width(gap) + width(item) <= room:
            lines[-1] += gap + item
        else:
            lines.append(item)
    return lines


def parts_in_lines(text: str, room: int) -> list[str]:
    """The lines of a list in words: broken between its parts where these fit, and else between words.

    Examples
    --------
    >>> parts_in_lines("causal; every key at a multiple of 4", 20)
    ['causal;', 'every key at a', 'multiple of 4']
    """
    gap = BETWEEN_PARTS if BETWEEN_PARTS in text else " "
    return [line for part in in_lines(_BREAKS.split(text), room, gap) for line in wrapped(part, room)]
