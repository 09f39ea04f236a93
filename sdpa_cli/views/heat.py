"""Weights as a heat map: how strongly a cell is shaded, in colour, with block signs, or not at all."""

from __future__ import annotations

from dataclasses import dataclass

from sdpa_cli.views.glyphs import Glyphs

# Dark blue through green to yellow, from the 256-colour palette: brighter is more, for every kind of colour vision.
# Each shade brings its own foreground, at a contrast of at least 4.5, so the terminal's background is never guessed.
PALETTE = tuple(
    f"color({ink}) on color({shade})"
    for ink, shade in ((231, 17), (231, 18), (231, 25), (16, 31), (16, 37), (16, 78), (16, 149), (16, 227))
)
# Sixteen colours are the terminal's own; these pairs are legible in the usual themes.
SMALL_PALETTE = ("bright_white on blue", "black on cyan", "black on green", "black on yellow")


@dataclass(frozen=True)
class Heat:
    """What a share of the largest weight looks like."""

    styles: tuple[str, ...] = ()
    """Rich styles from least to most; empty without colour."""
    signs: tuple[str, ...] = ()
    """Block signs from least to most, set after the number; empty in colour, and where the output has none."""

    def style(self, share: float | None) -> str:
        """The style of a cell."""
        return self.styles[_level(share, len(self.styles))] if self.styles and share is not None else ""

    def text(self, number: str, share: float | None) -> str:
        """The text of a cell."""
        if not self.signs:
            return number
        return f"{number} {' ' if share is None else self.signs[_level(share, len(self.signs))]}"


def heat_for(color_system: str | None, glyphs: Glyphs) -> Heat:
    """The heat map for a kind of terminal.

    Parameters
    ----------
    color_system
        Rich's name of it; None without colour.
    glyphs
        The signs that the output can show.
    """
    if color_system is None:
        return Heat(signs=glyphs.levels)
    return Heat(styles=PALETTE if color_system in ("256", "truecolor") else SMALL_PALETTE)


def _level(share: float, levels: int) -> int:
    """Which of the levels; the highest is kept for shares that round to 1."""
    return min(int(share * (levels - 1) + 0.5), levels - 1)
