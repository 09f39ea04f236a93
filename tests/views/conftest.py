"""Cases as their authors write them, computed, and consoles of every kind."""

import io

import pytest
from rich.console import Console

from sdpa_cli.cases import load_cases
from sdpa_cli.computing import compute
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.terminal import table_pieces

TWO_TOKENS = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


@pytest.fixture
def computed(tmp_path):
    """From the text of a case file to what is computed of its cases."""

    def of(text):
        path = tmp_path / "case.yaml"
        path.write_text(text, "utf-8")
        return [compute(case) for case in load_cases([path])]

    return of


@pytest.fixture
def table(computed):
    """From the text of a case file to what a terminal shows; by default one of 80 columns without colour."""

    def of(text, *matrices, rows=None, cols=None, precision=None, **console):
        shown = Shown(matrices or ("scores", "weights", "output"), rows, cols, precision)
        kind = {"file": io.StringIO(), "width": 80, "_environ": {}, **console}
        return "".join(table_pieces(computed(text), shown, Console(**kind)))

    return of
