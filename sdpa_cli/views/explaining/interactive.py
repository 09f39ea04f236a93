"""An explanation one step at a time, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console

from sdpa_cli.explaining.trace import Trace, words
from sdpa_cli.views.explaining.prose import Voice
from sdpa_cli.views.explaining.terminal import Setting, heading_lines, step_lines
from sdpa_cli.views.tables import QUIET
from sdpa_cli.views.terminal import page_for

NEXT = (" ", "\r", "\n", "n", "j", "\x1b[C", "\x1b[B", "\x1bOC", "\x1bOB")
BACK = ("p", "b", "k", "\x7f", "\x08", "\x1b[D", "\x1b[A", "\x1bOD", "\x1bOA")
FIRST, LAST = ("g", "\x1b[H"), ("G", "\x1b[F")
QUIT = ("q", "Q", "\x1b", "\x03", "\x04", "")


@dataclass(frozen=True)
class Reader:
    """Somebody at a terminal: where it is written, and where keys come from."""

    stream: TextIO
    key: Callable[[], str]


def read_through(trace: Trace, voice: Voice, reader: Reader) -> None:
    """Show one step per key press, until the reader has had enough."""
    console = Console(file=reader.stream)
    at, last = 0, len(trace.steps) - 1
    while True:
        # The page is measured anew each time, for a window may be resized between two keys.
        _show(trace, at, Setting(voice, page_for(console)), console)
        pressed = reader.key()
        if pressed in QUIT:
            return
        if pressed in NEXT:
            if at == last:
                return
            at += 1
        elif pressed in BACK:
            at = max(0, at - 1)
        elif pressed in FIRST + LAST:
            at = 0 if pressed in FIRST else last


def _show(trace: Trace, at: int, setting: Setting, console: Console) -> None:
    console.clear()
    for line in (*heading_lines(trace, setting), "", *step_lines(at + 1, trace.steps[at], setting)):
        console.print(line, soft_wrap=True, highlight=False)
    where = setting.text(words("page.step", number=at + 1, total=len(trace.steps)))
    keys = setting.text(words("page.keys"))
    console.print(f"\n{where}   {keys}", style=QUIET, markup=False, highlight=False)
