"""Prose in lines: broken between words only, so that an address or a command stays whole."""

from __future__ import annotations

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
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(lines[-1]) + 1 + width(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
