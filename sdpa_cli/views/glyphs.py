"""The few signs that views draw with, and what stands in for them where the output cannot show them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """One complete set of signs, all of one encoding."""

    encoding: str
    forbidden: str = "·"
    ellipsis: str = "…"
    bar: str = "│"
    root: str = "√{}"
    transposed: str = "ᵀ"
    times: str = "·"
    tick: str = "✓"
    cross: str = "✗"
    levels: tuple[str, ...] = (" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█")
    """From nothing to full: a heat map without colour. Empty where there is no sign for it."""

    def shown(self, text: str, limit: int | None = None) -> str:
        """Text that someone else wrote, made fit to be shown: one line, nothing invisible, nothing that acts.

        Parameters
        ----------
        text
            Any text.
        limit
            The most cells it may take; what is longer is cut and ends in an ellipsis.
        """
        visible = "".join(_visible(character) for character in text)
        visible = visible.encode(self.encoding, "replace").decode(self.encoding, "replace")
        return visible if limit is None else self._cut(visible, limit)

    def _cut(self, text: str, limit: int) -> str:
        if width(text) <= limit:
            return text
        kept = ""
        for character in text:
            if width(kept + character) > limit - width(self.ellipsis):
                break
            kept += character
        return kept + self.ellipsis


ASCII = Glyphs(
    encoding="ascii",
    forbidden=".",
    ellipsis="...",
    bar="|",
    root="sqrt({})",
    transposed="'",
    times="*",
    tick="ok",
    cross="x",
    levels=(),
)


def glyphs_for(encoding: str) -> Glyphs:
    """The richest set that an output of this encoding can show.

    Examples
    --------
    >>> glyphs_for("utf-8").forbidden, glyphs_for("cp1252").forbidden
    ('·', '.')
    """
    full = Glyphs(encoding)
    try:
        "".join([full.ellipsis, full.bar, full.root, full.transposed, full.tick, *full.levels]).encode(encoding)
    except UnicodeEncodeError:
        # Labels may still use whatever the encoding has.
        return Glyphs(**{**vars(ASCII), "encoding": encoding})
    return full


def width(text: str) -> int:
    """How many terminal cells a text takes: two for a CJK character, none for a combining mark."""
    from rich.cells import cell_len

    return cell_len(text)


def flush_right(text: str, cells: int) -> str:
    """The text at the right of a field of this many cells."""
    return " " * (cells - width(text)) + text


def _visible(character: str) -> str:
    """A character that would move the cursor, turn the writing direction or stay unseen becomes its code."""
    if unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029":
        return character
    code = ord(character)
    if character in "\t\n\r":
        return repr(character)[1:-1]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
