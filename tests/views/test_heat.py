import pytest
from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.style import Style

from sdpa_cli.views.glyphs import Glyphs, glyphs_for
from sdpa_cli.views.heat import PALETTE, Heat, heat_for


def luminance(color: ColorTriplet) -> float:
    """Relative luminance, WCAG 2.2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def colors(style: str) -> tuple[float, float]:
    parsed = Style.parse(style)
    assert isinstance(parsed.color, Color)
    assert isinstance(parsed.bgcolor, Color)
    return luminance(parsed.color.get_truecolor()), luminance(parsed.bgcolor.get_truecolor())


@pytest.mark.parametrize("style", PALETTE)
def test_numbers_stay_readable_on_every_shade(style):
    ink, shade = sorted(colors(style))
    assert (shade + 0.05) / (ink + 0.05) >= 4.5


def test_more_weight_is_brighter():
    shades = [colors(style)[1] for style in PALETTE]
    assert shades == sorted(set(shades))


KINDS = {
    "truecolor": ("truecolor", "utf-8", 8, 0),
    "256 colours": ("256", "utf-8", 8, 0),
    "16 colours": ("standard", "utf-8", 4, 0),
    "no colour": (None, "utf-8", 0, 9),
    "no colour, plain": (None, "ascii", 0, 0),
}


@pytest.mark.parametrize(("system", "encoding", "styles", "signs"), KINDS.values(), ids=KINDS)
def test_each_kind_of_terminal_has_its_heat_map(system, encoding, styles, signs):
    heat = heat_for(system, glyphs_for(encoding))
    assert (len(heat.styles), len(heat.signs)) == (styles, signs)


def test_signs_grow_with_the_share():
    heat = Heat(signs=Glyphs("utf-8").levels)
    assert [heat.text("x", share) for share in (0.0, 0.06, 0.07, 0.5, 1.0)] == ["x  ", "x  ", "x ▁", "x ▄", "x █"]
    assert heat.text("·", None) == "·  "
    assert heat.style(0.5) == ""


def test_a_cell_without_a_share_is_not_shaded():
    assert Heat(styles=PALETTE).style(None) == ""
    assert Heat(styles=PALETTE).style(1.0) == PALETTE[-1]
    assert Heat(styles=PALETTE).text("0.5", 1.0) == "0.5"
