"""Markdown in a terminal: the little of it that statements of exercises use, wrapped to the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.text import Text

from sdpa_cli.views.tables import HEADER
from sdpa_cli.views.wrapping import wrapped

_ITEM = re.compile(r"( *)([-*]|\d+\.) +(.*)")
_CODE = "    "


def statement_lines(markdown: str, room: int) -> Iterator[Text]:
    """Headings, paragraphs, lists and code of a document; its title, the first heading, is left out.

    Parameters
    ----------
    markdown
        The document.
    room
        How wide a line may be.
    """
    for block in _blocks(markdown):
        if block.startswith("#"):
            yield Text(block.lstrip("#").strip(), style=HEADER)
        elif block.startswith((_CODE, "|", "```")):
            yield from (Text(line) for line in block.splitlines() if not line.startswith("```"))
        else:
            yield from _paragraph(block, room)


def _blocks(markdown: str) -> Iterator[str]:
    """The blocks of a document: what stands together, and each item of a list for itself."""
    lines = markdown.splitlines()
    block: list[str] = []
    for line in lines[1:] if lines and lines[0].startswith("# ") else lines:
        begins = not line.strip() or line.startswith("#") or (_ITEM.match(line) and not _is_code(block))
        if begins and block:
            yield "\n".join(block)
            block = []
        if line.strip():
            block.append(line)
        else:
            yield ""
    if block:
        yield "\n".join(block)


def _is_code(block: list[str]) -> bool:
    return bool(block) and block[0].startswith((_CODE, "```")) and not _ITEM.match(block[0])


def _paragraph(block: str, room: int) -> Iterator[Text]:
    found = _ITEM.match(block)
    lead = f"{found[1]}{found[2]} " if found else ""
    text = " ".join((found[3] if found else line) if k == 0 else line for k, line in enumerate(block.splitlines()))
    text = re.sub(r" +", " ", text).strip()
    for k, line in enumerate(wrapped(text.replace("`", ""), room - len(lead))):
        yield Text((lead if k == 0 else " " * len(lead)) + line)
