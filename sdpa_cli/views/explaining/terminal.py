"""An explanation in a terminal: wrapped prose, aligned matrices, formulas on lines of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from sdpa_cli.explaining.trace import (
    Catalogue,
    Check,
    Command,
    Facts,
    Formula,
    Matrix,
    Pair,
    Part,
    Prose,
    Question,
    Reasons,
    Shapes,
    Step,
    Table,
    Trace,
    Value,
    Words,
    Worked,
)
from sdpa_cli.views.excerpts import Page
from sdpa_cli.views.explaining.grids import matrix_lines, pair_lines, reason_lines, table_of
from sdpa_cli.views.explaining.plain import plain
from sdpa_cli.views.explaining.prose import Piece, Voice
from sdpa_cli.views.explaining.signs import fitted
from sdpa_cli.views.explaining.statements import statement_lines
from sdpa_cli.views.glyphs import width
from sdpa_cli.views.tables import HEADER, QUIET
from sdpa_cli.views.terminal import page_for
from sdpa_cli.views.wrapping import in_lines, wrapped

LINE = 88
"""Prose is not set wider than this, however wide the terminal is."""
INDENT = "   "
VALUE_CELLS = 12
"""A value has at least so much room beside its name."""
SPACED = (Matrix, Pair, Reasons, Table, Question, Prose)
"""What has a blank line around it."""


@dataclass(frozen=True)
class Setting:
    """Everything that decides how a part looks."""

    voice: Voice
    page: Page

    @property
    def room(self) -> int:
        """How wide prose may be."""
        return max(20, min(LINE, self.page.width) - len(INDENT))

    def text(self, value: Value) -> str:
        """A value as one line of plain text that this terminal can show."""
        return self.joined(self.voice.pieces(value))

    def joined(self, pieces: Iterable[Piece]) -> str:
        """Pieces as one line of plain text that this terminal can show."""
        shown = ""
        for piece in pieces:
            if not isinstance(piece.content, str):
                shown += plain(piece.content, self.voice.notation)
            elif piece.kind == "foreign":
                shown += self.page.glyphs.shown(fitted(piece.content, self.page.glyphs.encoding))
            else:
                shown += f"{piece.content} <{piece.url}>" if piece.url else piece.content
        return fitted(shown, self.page.glyphs.encoding)


def explained(trace: Trace, voice: Voice, console: Console) -> str:
    """A whole explanation as this console shows it, escape sequences and all."""
    setting = Setting(voice, page_for(console))
    with console.capture() as capture:
        # All lines at once: each call to Rich costs as much as setting a line does.
        console.print(Text("\n").join(trace_lines(trace, setting)), soft_wrap=True, highlight=False)
    return capture.get()


def trace_lines(trace: Trace, setting: Setting) -> Iterator[Text]:
    """Title, notes and all steps."""
    yield from heading_lines(trace, setting)
    for number, step in enumerate(trace.steps, 1):
        yield Text()
        yield from step_lines(number, step, setting)


def heading_lines(trace: Trace, setting: Setting) -> Iterator[Text]:
    """The title, and what is shown."""
    yield Text(setting.text(trace.title), style=HEADER)
    for note in trace.notes:
        yield from _wrapped(note, setting, QUIET, indent="")


def step_lines(number: int, step: Step, setting: Setting) -> Iterator[Text]:
    """One step: its title and its parts."""
    for k, line in enumerate(wrapped(f"{number}. {setting.text(step.title)}", setting.room)):
        yield Text(f"{INDENT if k else ''}{line}", style=HEADER)
    before: Part | None = None
    for part in step.parts:
        if before is not None and (isinstance(part, SPACED) or isinstance(before, SPACED)):
            yield Text()
        yield from part_lines(part, setting)
        before = part


def part_lines(part: Part, setting: Setting) -> Iterator[Text]:
    """The lines of one part."""
    match part:
        case Words():
            yield from _wrapped(part, setting)
        case Formula(maths):
            lines = wrapped(setting.text(maths), setting.room - 2)
            yield from (Text(f"{INDENT}  {'  ' * (k > 0)}{line}", style="italic") for k, line in enumerate(lines))
        case Worked(maths):
            yield from _worked(setting.text(maths), setting)
        case Shapes(items):
            shapes = (_shape(setting.text(name), axes) for name, axes in items)
            yield from (Text(INDENT + line, style=QUIET) for line in in_lines(shapes, setting.room))
        case Matrix():
            yield from matrix_lines(part, setting)
        case Pair():
            yield from pair_lines(part, setting)
        case Reasons():
            yield from reason_lines(part, setting)
        case _:
            yield from _listed(part, setting)


def _listed(part: Part, setting: Setting) -> Iterator[Text]:
    match part:
        case Table(columns, rows):
            head, body = (
                [setting.text(c) for c in columns],
                [list(map(setting.joined, row)) for row in setting.voice.table(rows)],
            )
            yield from table_of(head, body, setting.page.width)
        case Facts(items):
            yield from _facts([(setting.text(name), setting.text(value)) for name, value in items], setting)
        case Check(words, holds):
            glyphs = setting.page.glyphs
            sign = Text(f"{glyphs.tick if holds else glyphs.cross} ", style="bold green" if holds else "bold red")
            yield from _hanging(sign, setting.text(words), setting)
        case Question(asked, answer):
            yield from _wrapped(asked, setting, HEADER)
            yield from _wrapped(answer, setting)
        case Catalogue(entries):
            for entry in entries:
                yield Text(f"{INDENT}{entry.name}", style=HEADER)
                yield from _wrapped(dict(entry.parts)["cause"], setting, indent=f"{INDENT}  ")
        case Command(text):
            yield Text(f"{INDENT}  $ {setting.page.glyphs.shown(text)}", style=HEADER)
        case Prose(markdown):
            shown = fitted(markdown, setting.page.glyphs.encoding)
            yield from (
                Text(f"{INDENT if line.plain else ''}").append_text(line)
                for line in statement_lines(shown, setting.room)
            )


def _wrapped(words: Words, setting: Setting, style: str = "", indent: str = INDENT) -> Iterator[Text]:
    for line in wrapped(setting.text(words), setting.room + len(INDENT) - len(indent)):
        yield Text(indent).append(line, style=style)


def _facts(items: list[tuple[str, str]], setting: Setting) -> Iterator[Text]:
    """Names and values in two columns; each value beneath its name where the names leave no room."""
    widest = max((width(name) for name, _ in items), default=0)
    beside = widest + 2 + VALUE_CELLS <= setting.room
    for name, value in items:
        if beside:
            yield from _hanging(Text(f"{name}{' ' * (widest - width(name))}  ", style=QUIET), value, setting)
            continue
        yield from (Text(INDENT).append(line, style=QUIET) for line in wrapped(name, setting.room))
        yield from (Text(f"{INDENT}  {line}") for line in wrapped(value, setting.room - 2))


def _hanging(lead: Text, text: str, setting: Setting) -> Iterator[Text]:
    """A sign or a name, and the text beside it, wrapped in its own column where there is room for one."""
    cells = width(lead.plain)
    for k, line in enumerate(wrapped(text, max(16, setting.room - cells))):
        yield Text(INDENT).append_text(lead if k == 0 else Text(" " * cells)).append(line)


def _worked(text: str, setting: Setting) -> Iterator[Text]:
    """A worked line; one too long for the page is broken before each equals sign."""
    room = setting.page.width - len(INDENT)
    if width(text) <= room:
        yield Text(f"{INDENT}{text}", style="bold")
        return
    first, *others = text.split(" = ")
    yield Text(f"{INDENT}{first}", style="bold")
    for other in others:
        for k, line in enumerate(wrapped(f"= {other}", room - 4)):
            yield Text(f"{INDENT}  {'  ' * (k > 0)}{line}", style="bold")


def _shape(name: str, axes: tuple[tuple[str, int], ...]) -> str:
    return f"{name} ({', '.join(f'{letter}={size}' for letter, size in axes)})"
