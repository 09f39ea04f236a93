"""The HTML form in a real headless Chromium: quiet, reachable by keyboard, fit for a phone, the dark and the ear."""

import pytest
from explaining.questions import trace
from views.explaining.browser import DESK, PHONE, browser, found

from sdpa_cli.views.explaining.forms import told
from sdpa_cli.views.explaining.html import page

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium is installed; on Debian: apt install chromium")

PAGES = ("derive labels", "stream big", "fault mask-after-softmax", "topic masks", "catalogue", "exercise")
OVERFLOWING = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOLDS = "[...document.querySelectorAll('details')].map(d => d.open)"


@pytest.fixture(scope="module")
def chromium():
    with browser() as found_browser:
        yield found_browser


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{number}.html" for number, name in enumerate(PAGES)}
    for name, path in paths.items():
        path.write_text(page(trace(name), told(trace(name), "hu")), "utf-8")
    return paths


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("screen", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_a_page_complains_of_nothing_and_fits_its_screen(chromium, files, name, screen, scheme):
    chromium.open(files[name], screen, scheme)
    assert chromium.complaints() == []
    assert chromium.value(OVERFLOWING) == 0


def luminance(colour):
    red, green, blue = (int(part) / 255 for part in colour[4:-1].split(",")[:3])
    return sum(
        w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4)
        for w, c in ((0.2126, red), (0.7152, green), (0.0722, blue))
    )


COLOURS = """(() => {
  const seen = new Set(), pairs = [];
  for (const el of document.querySelectorAll('p, td, th, dt, dd, a, code, caption, h1, h2, h3, li')) {
    let at = el;
    while (getComputedStyle(at).backgroundColor === 'rgba(0, 0, 0, 0)' && at.parentElement) at = at.parentElement;
    const pair = getComputedStyle(el).color + '|' + getComputedStyle(at).backgroundColor;
    if (!seen.has(pair)) { seen.add(pair); pairs.push(pair.split('|')); }
  }
  return pairs;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["derive labels", "fault mask-after-softmax"])
def test_every_text_stands_out_from_its_ground(chromium, files, name, scheme):
    chromium.open(files[name], DESK, scheme)
    for ink, ground in chromium.value(COLOURS):
        a, b = sorted((luminance(ink), luminance(ground)))
        assert (b + 0.05) / (a + 0.05) >= 4.5, (ink, ground)


def test_the_dark_page_is_dark(chromium, files):
    grounds = []
    for scheme in ("light", "dark"):
        chromium.open(files["derive labels"], DESK, scheme)
        grounds.append(luminance(chromium.value("getComputedStyle(document.body).backgroundColor")))
    assert grounds[0] > 0.9
    assert grounds[1] < 0.05


FOCUSED = """(e => e.tagName === 'SUMMARY' ? e.parentElement.id : e.className.includes('heat')
  ? 'value ' + getComputedStyle(e.querySelector('.exact')).display : '')(document.activeElement)"""


def tabbed(chromium, doing):
    """What the tab key comes to, each in its turn, until it begins anew."""
    stops = []
    for _ in range(200):
        chromium.press("Tab", 9)
        where = chromium.value(FOCUSED)
        if where in stops and where.startswith("step"):
            return stops
        stops.append(where)
        doing(where)
    raise AssertionError("the tab key never comes round")


def test_the_keyboard_reaches_every_value_and_every_fold_and_closes_it(chromium, files):
    chromium.open(files["derive labels"], DESK)
    folds = chromium.value(FOLDS)
    cells = chromium.value("document.querySelectorAll('td.heat').length")
    stops = tabbed(chromium, lambda where: None)
    assert folds == [True] * len(folds)
    assert len([stop for stop in stops if stop.startswith("step")]) == len(folds)
    assert [stop for stop in stops if stop.startswith("value")] == ["value block"] * cells
    tabbed(chromium, lambda where: where.startswith("step") and chromium.press("Enter", 13))
    assert chromium.value(FOLDS) == [False] * len(folds)


def test_the_value_of_a_shaded_cell_shows_under_the_pointer(chromium, files):
    chromium.open(files["derive labels"], DESK)
    x, y, before = chromium.value(
        "(e => { e.scrollIntoView(); const b = e.getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2, getComputedStyle(e.querySelector('.exact')).display] })"
        "(document.querySelector('td.heat'))"
    )
    chromium.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    after = chromium.value("getComputedStyle(document.querySelector('td.heat .exact')).display")
    assert (before, after) == ("none", "block")


def test_a_screen_reader_hears_tables_with_their_headers_and_formulas(chromium, files):
    chromium.open(files["derive labels"], DESK)
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
    for role in ("table", "rowheader", "columnheader", "caption", "heading", "navigation", "MathMLMath"):
        assert role in roles, role
    named = {node["name"]["value"] for node in nodes if node.get("name")}
    assert any("teljesül" in name for name in named)


def test_formulas_are_set(chromium, files):
    chromium.open(files["derive labels"], DESK)
    heights = chromium.value("[...document.querySelectorAll('mfrac')].map(e => e.getBoundingClientRect().height)")
    assert heights
    assert min(heights) > 20


def test_what_is_folded_away_is_printed(chromium, files):
    chromium.open(files["stream big"], DESK)
    whole = len(chromium.print())
    chromium.value("document.querySelectorAll('details').forEach(d => d.open = false)")
    assert len(chromium.print()) > 0.8 * whole


def test_screenshots_are_not_empty(chromium, files):
    for screen in (DESK, PHONE):
        chromium.open(files["derive labels"], screen)
        assert len(chromium.screenshot()) > 20_000
