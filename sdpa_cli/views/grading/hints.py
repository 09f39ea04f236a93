"""One hint, and how to get the next."""

from __future__ import annotations

from textwrap import fill
from typing import TextIO

from rich.console import Console

from sdpa_cli.grading.hinting import Given
from sdpa_cli.views.glyphs import glyphs_for
from sdpa_cli.views.grading.terminal import MOST


def hint_text(given: Given, stream: TextIO) -> str:
    """The hint as the stream can show it."""
    console = Console(file=stream)
    room = min(MOST, console.width)
    lines = [fill(line, room, break_on_hyphens=False) for line in _lines(given)]
    glyphs = glyphs_for(console.encoding)
    return "".join(f"{glyphs.shown(line)}\n" for text in lines for line in text.split("\n"))


def _lines(given: Given) -> list[str]:
    speaker, hint, exercise = given.speaker, given.hint, given.exercise
    if hint is None:
        return [speaker("view.hint-none", exercise=exercise.name)]
    head = f"{exercise.name}, {speaker.title(hint.check)}. {speaker('view.hint-level', level=hint.level)}:"
    if hint.is_last:
        tail = speaker("view.hint-last", path=f"{exercise.name}/README.md")
    elif given.workspace is None:
        tail = speaker("view.hint-no-workspace", command="sdpa init")
    elif given.unkept is not None:
        tail = speaker("view.hint-unkept")
    else:
        tail = speaker("view.hint-more", command=f"sdpa hint {exercise.name} {hint.check}")
    return [head, hint.text, tail]
