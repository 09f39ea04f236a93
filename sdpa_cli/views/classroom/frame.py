"""The frame of the pages about a class: their style, and the script that sorts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from sdpa_cli.views import pages

_STYLES = (("sdpa_cli.views.explaining", "page.css"), ("sdpa_cli.views.classroom", "class.css"))


def page(title: str, language: str, body: str, script: str = "") -> str:
    """`pages.page` in the style of explanations, with what a class needs besides."""
    style = "\n".join(_resource(package, name) for package, name in _STYLES)
    return pages.page(title, language, style, body, script)


def sorting_script() -> str:
    """The script that sorts a table by a column."""
    return _resource("sdpa_cli.views.classroom", "sort.js")


@cache
def _resource(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text("utf-8")
