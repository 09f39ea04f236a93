"""Explanations in every form, as hermetic text."""

import io

import pytest
from explaining.questions import trace
from rich.console import Console

from sdpa_cli.views.explaining.documents import document
from sdpa_cli.views.explaining.forms import told
from sdpa_cli.views.explaining.html import page
from sdpa_cli.views.explaining.markdown import markdown
from sdpa_cli.views.explaining.terminal import explained


@pytest.fixture
def in_terminal():
    """From the name of a question to what a terminal shows; by default one of 80 columns without colour."""

    def of(name, *steps, language="en", **console):
        found = trace(name).only(steps) if steps else trace(name)
        return explained(
            found, told(found, language), Console(**{"file": io.StringIO(), "width": 80, "_environ": {}, **console})
        )

    return of


@pytest.fixture
def in_form():
    """From the name of a question to a document."""
    forms = {"markdown": markdown, "html": page, "json": document}

    def of(form, name, *steps, language="en"):
        found = trace(name).only(steps) if steps else trace(name)
        return forms[form](found, told(found, language))

    return of
