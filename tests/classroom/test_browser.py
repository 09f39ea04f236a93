"""The class's page and a student's, in a real Chromium: quiet, sortable by mouse and keyboard, fit for phones."""

import pytest
from classroom.crowd import HOSTILE, crowd
from views.explaining.browser import DESK, PHONE, browser, found

from sdpa_cli.views.classroom.writing import write_reports

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium is installed; on Debian: apt install chromium")

OVERFLOWING = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
COLUMN = "[...document.querySelectorAll('.sortable tbody tr')].map(row => row.cells[{}].textContent)"
CLICK = "document.querySelectorAll('.sortable th button')[{}].click()"
SORTED = "[...document.querySelectorAll('.sortable th')].map(head => head.getAttribute('aria-sort'))"


@pytest.fixture(scope="module")
def chromium():
    with browser() as found_browser:
        yield found_browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory, f3):
    place = tmp_path_factory.mktemp("reports")
    write_reports(crowd(f3), place, "en", None)
    return place


@pytest.fixture(params=["report.html", "feedback"])
def page(request, folder):
    if request.param == "report.html":
        return folder / request.param
    return next(path for path in sorted((folder / "feedback").glob("*.html")) if "alert" in path.read_text("utf-8"))


@pytest.mark.parametrize(("screen", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
def test_a_page_complains_of_nothing_and_fits_its_screen(chromium, page, screen, scheme):
    chromium.open(page, screen, scheme)
    assert chromium.complaints() == []
    assert chromium.value(OVERFLOWING) == 0
    assert chromium.value("document.images.length + document.forms.length + document.scripts.length") <= 1


def test_what_a_student_wrote_is_text(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    shown = chromium.value("document.querySelector('.sortable tbody tr:nth-child(2)').cells[0].textContent")
    assert shown.startswith(HOSTILE[:58])


def test_the_table_is_sorted_by_a_click_and_back(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    as_listed = chromium.value(COLUMN.format(2))
    assert as_listed == ["7", "2", "", "", "2", "", "0"]
    chromium.value(CLICK.format(2))
    assert chromium.value(COLUMN.format(2)) == ["", "", "", "0", "2", "2", "7"]
    assert chromium.value(SORTED) == [None, None, "ascending", None, None, None]
    chromium.value(CLICK.format(2))
    assert chromium.value(COLUMN.format(2)) == ["7", "2", "2", "0", "", "", ""]
    chromium.value(CLICK.format(0))
    assert chromium.value(COLUMN.format(0))[-1] == "Open"
    assert chromium.value(SORTED) == ["ascending", None, None, None, None, None]


def test_the_keyboard_sorts_too(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    chromium.value("document.querySelectorAll('.sortable th button')[2].focus()")
    chromium.press("Enter", 13)
    assert chromium.value(COLUMN.format(2)) == ["", "", "", "0", "2", "2", "7"]


def test_a_screen_reader_hears_the_distribution(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    nodes = chromium.call("Accessibility.getFullAXTree")["nodes"]
    images = [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") in ("image", "img")]
    assert len(images) == 10
    assert images[0] == "3 with 0 to 3.3 points"
    heads = [node for node in nodes if node.get("role", {}).get("value") == "columnheader"]
    assert len(heads) == 6


def test_a_fault_unfolds_to_its_submissions(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    chromium.value("document.querySelector('details summary').focus()")
    chromium.press("Enter", 13)
    assert chromium.value("document.querySelector('details').open") is True
    assert chromium.value("document.querySelector('details summary').textContent") == "1 × mask-after-softmax"


def test_links_lead_to_feedback(chromium, folder):
    chromium.open(folder / "report.html", DESK)
    links = chromium.value("[...document.querySelectorAll('.sortable a')].map(a => a.getAttribute('href'))")
    assert len(links) == 7
    chromium.open(folder / links[0], PHONE)
    assert chromium.value("document.documentElement.lang") == "hu"
    assert chromium.value("document.querySelector('h1').textContent") == "F3 A függvény: 7/33 pont"
