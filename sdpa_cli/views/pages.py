"""An HTML page that is one file: it loads nothing, and nothing but its own style and script can act."""

from __future__ import annotations

import base64
import hashlib
from html import escape


def page(title: str, language: str, style: str, body: str, script: str = "") -> str:
    """A whole HTML document.

    Parameters
    ----------
    title
        As plain text.
    language
        The language it is written in.
    style
        CSS.
    body
        HTML, everything that a stranger wrote in it escaped. Should something slip through, the policy still keeps it
        from acting.
    script
        The page works without it, too.
    """
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


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
