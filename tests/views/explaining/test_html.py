"""The HTML form: one file that asks for nothing, cannot act, and says everything to everyone."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from explaining.questions import QUESTIONS, case

from sdpa_cli.explaining.derivation import derive
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.views.explaining.forms import told
from sdpa_cli.views.explaining.html import page

VOID = {"meta", "br", "hr"}


class Reading(HTMLParser):
    """A page taken apart, its tags checked for their order on the way."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text, self.tables = [], [], "", []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text += text
        if self.tables and {"td", "th"} & set(self.open) and "span" not in self.open:
            self.tables[-1][-1][-1] += text

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_page_is_well_formed(in_form, name):
    found = Reading(in_form("html", name))
    assert found.all("html") == [{"lang": "en"}]
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {link["href"] for link in found.all("a") if link["href"].startswith("#")}
    assert targets <= {f"#{name}" for name in ids}


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_page_asks_for_anything(in_form, name):
    text = in_form("html", name)
    found = Reading(text)
    assert not {tag for tag, _ in found.tags} & {"script", "img", "link", "iframe", "object", "form", "video"}
    assert not any(key in attributes for _, attributes in found.tags for key in ("style", "src", "srcset"))
    assert not any(key.startswith("on") for _, attributes in found.tags for key in attributes)
    assert "url(" not in text
    assert "@import" not in text


def test_the_policy_lets_in_this_style_and_nothing_else(in_form):
    text = in_form("html", "derive two")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [meta["content"] for meta in Reading(text).all("meta") if "http-equiv" in meta]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


EVIL = "<script>alert(1)</script>' onfocus='alert(2)\" &amp;"


def test_a_label_is_text_whatever_it_holds():
    from dataclasses import replace

    labelled = replace(case("labels"), title=EVIL, query_labels=(EVIL, "b"), key_labels=("a", EVIL))
    found = derive(labelled, Selectors(cell=(0, 0)))
    for trace in (found, derive(labelled, Selectors())):
        reading = Reading(page(trace, told(trace, "en")))
        assert "script" not in {tag for tag, _ in reading.tags}
        assert not any("onfocus" in attributes for _, attributes in reading.tags)
        assert EVIL in reading.text


def test_matrices_are_tables_with_headers_and_captions(in_form):
    found = Reading(in_form("html", "derive labels", "weights"))
    scopes = [header.get("scope") for header in found.all("th")]
    assert scopes == ["col", "col", "col", "row", "row"]
    assert len(found.all("caption")) == len(found.all("table")) == 1


@pytest.mark.parametrize("name", ["uneven", "bias", "given"])
def test_tables_hold_the_engine_s_numbers(in_form, name):
    found = Reading(in_form("html", f"derive {name}", "weights"))
    _, *rows = found.tables[0]
    weights = case(name).attend().weights()
    printed = [[0.0 if cell == "·" else float(cell) for cell in row[1:-1]] for row in rows]
    np.testing.assert_allclose(printed, weights, atol=5.1e-5)


def test_every_shaded_cell_can_be_focused_and_says_its_exact_value(in_form):
    text = in_form("html", "derive two", "weights")
    cells = [td for td in Reading(text).all("td") if "heat" in td.get("class", "")]
    assert len(cells) == 4
    assert all(td["tabindex"] == "0" for td in cells)
    exact = float(re.search(r"A\[1,2\] = ([\d.]+)<", text)[1])
    assert exact == case("two").attend().weights()[0, 1]


def test_every_step_is_a_fold_with_a_heading(in_form):
    found = Reading(in_form("html", "stream big"))
    assert len(found.all("details")) == len(found.all("summary")) == len(found.all("h2"))
    assert all("open" in details for details in found.all("details"))


def test_a_statement_s_own_html_is_text(in_form):
    from sdpa_cli.explaining.exercises import explain_exercise

    trace = explain_exercise("F3", "# F3\n\n<b>bold</b> and **strong**\n")
    found = Reading(page(trace, told(trace, "hu")))
    assert "b" not in {tag for tag, _ in found.tags}
    assert "strong" in {tag for tag, _ in found.tags}
