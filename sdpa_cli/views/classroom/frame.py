"""The frame of a page that is one file: nothing is loaded, and nothing but its own style and script can act."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files

_STYLES = (("sdpa_cli.views.explaining", "page.css"), ("sdpa_cli.views.classroom", "class.css"))


def page(title: str, language: str, body: str, script: str = "") -> str:
    """A whole HTML document.

    Parameters
    ----------
    title
        As plain text.
    language
        The language it is written in.
    body
        HTML, everything that a stranger wrote in it escaped.
    script
        The page works without it, too.
    """
    style = "\n".join(_resource(package, name) for package, name in _STYLES)
    allowed = f"style-src {_digest(style)}" + (f"; script-src {_digest(script)}" if script else "")
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    tail = f"<script>{script}</script>\n" if script else ""
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}</main>\n{tail}</body>\n</html>\n"
    )


def sorting_script() -> str:
    """The script that sorts a table by a column."""
    return _resource("sdpa_cli.views.classroom", "sort.js")


@cache
def _resource(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
