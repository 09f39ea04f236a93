"""An explanation as one self-contained HTML file: no script, no network, every step a fold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby

from sdpa_cli.explaining.maths import Maths
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
    words,
)
from sdpa_cli.views import pages
from sdpa_cli.views.explaining.html_tables import matrix_table, plain_table, reasons_table
from sdpa_cli.views.explaining.mathml import mathml
from sdpa_cli.views.explaining.prose import Piece, Voice

# A letter with an index in running text, such as d_k.
_INDEXED = re.compile(r"\b([A-Za-z]{1,4})_([A-Za-z]{1,5})\b")


def page(trace: Trace, voice: Voice) -> str:
    """A whole explanation as one file."""
    writer = _Html(voice)
    style = files("sdpa_cli.views.explaining").joinpath("page.css").read_text("utf-8")
    plain = "".join(piece.content for piece in voice.pieces(trace.title) if isinstance(piece.content, str))
    body = f"<h1>{writer.text(trace.title)}</h1>\n{''.join(writer.body(trace))}"
    return pages.page(plain, voice.texts.language, style, body)


@dataclass(frozen=True)
class _Html:
    voice: Voice

    def body(self, trace: Trace) -> Iterator[str]:
        """Notes, the list of steps, and the steps."""
        for note in trace.notes:
            yield f"<p class='note'>{self.text(note)}</p>\n"
        if len(trace.steps) > 2:
            links = "".join(
                f"<li><a href='#step-{number}'>{self.text(step.title)}</a></li>"
                for number, step in enumerate(trace.steps, 1)
            )
            yield f"<nav aria-label='{self.text(words('page.steps'))}'><ol>{links}</ol></nav>\n"
        for number, step in enumerate(trace.steps, 1):
            yield self.step(number, step)

    def step(self, number: int, step: Step) -> str:
        """One step, unfolded."""
        inner = "\n".join(self.blocks(step.parts))
        title = f"<summary><h2>{number}. {self.text(step.title)}</h2></summary>"
        return f"<details open id='step-{number}'>{title}\n{inner}\n</details>\n"

    def blocks(self, parts: tuple[Part, ...]) -> Iterator[str]:
        """The parts; checks that follow each other are one list, and matrices stand side by side."""
        for kind, run in groupby(parts, key=type):
            shown = [self.part(part) for part in run]
            if kind is Check:
                yield f"<ul class='checks'>{''.join(shown)}</ul>"
            elif kind is Matrix:
                yield f"<div class='side'>{''.join(shown)}</div>"
            else:
                yield from shown

    def part(self, part: Part) -> str:
        """One part."""
        match part:
            case Words():
                return f"<p>{self.text(part)}</p>"
            case Formula(maths):
                return f"<div class='formula'>{self.maths(maths, 'block')}</div>"
            case Worked(maths):
                return f"<div class='worked'>{self.maths(maths, 'block')}</div>"
            case Shapes(items):
                return f"<p class='note'>{', '.join(self.shape(name, axes) for name, axes in items)}</p>"
            case Matrix():
                return matrix_table(part, self.voice.notation, self.text)
            case Pair(right, other, titles):
                sides = zip(titles, (right, other), strict=True)
                return f"<div class='pair'>{''.join(self.side(title, matrix) for title, matrix in sides)}</div>"
            case Reasons():
                return reasons_table(part, self.text)
            case Check():
                return self.check(part)
            case _:
                return self.listed(part)

    def listed(self, part: Part) -> str:
        """Tables, facts and whatever is a list of things."""
        match part:
            case Table(columns, rows):
                body = [[self.joined(cell) for cell in row] for row in self.voice.table(rows)]
                sentences = any(isinstance(value, Words) for row in rows for value in row)
                return plain_table([self.text(column) for column in columns], body, sentences)
            case Facts(items):
                pairs = "".join(f"<dt>{self.text(name)}</dt><dd>{self.text(value)}</dd>" for name, value in items)
                return f"<dl>{pairs}</dl>"
            case Question(asked, answer):
                return f"<h3>{self.text(asked)}</h3><p>{self.text(answer)}</p>"
            case Catalogue(entries):
                return "\n".join(
                    f"<h3 id='{entry.name}'><code>{entry.name}</code></h3>"
                    + "".join(f"<p>{self.text(told)}</p>" for _, told in entry.parts)
                    + f"<p class='note'>{self.text(words('page.source'))}: {self.text(entry.source)}</p>"
                    for entry in entries
                )
            case Command(text):
                return f"<pre><code>{escape(text)}</code></pre>"
            case Prose(markdown):
                return _rendered(markdown)
        raise TypeError(f"cannot be shown: {part!r}")

    def check(self, check: Check) -> str:
        """A check as an item of a list."""
        name, sign = ("holds", "✓") if check.holds else ("fails", "✗")
        unseen = f"<span class='unseen'>{self.text(words(f'page.{name}'))} </span>"
        seen = f"<span class='sign' aria-hidden='true'>{sign}</span>"
        return f"<li class='{name}'>{seen}{unseen}{self.text(check.words)}</li>"

    def side(self, title: Words, matrix: Matrix) -> str:
        """One of two matrices."""
        return f"<div><h3>{self.text(title)}</h3>{matrix_table(matrix, self.voice.notation, self.text)}</div>"

    def text(self, value: Value) -> str:
        """A value inline."""
        return self.joined(self.voice.pieces(value))

    def joined(self, pieces: Iterable[Piece]) -> str:
        """Pieces inline."""
        return "".join(map(self.piece, pieces))

    def piece(self, piece: Piece) -> str:
        """One piece inline."""
        if not isinstance(piece.content, str):
            return self.maths(piece.content, "inline")
        text = escape(piece.content)
        if piece.kind == "code":
            return f"<code>{text}</code>"
        if piece.kind == "link":
            return f"<a href='{escape(piece.url)}' rel='noreferrer'>{text}</a>"
        return text if piece.kind == "foreign" else _indexed(text)

    def maths(self, formula: Maths, display: str) -> str:
        """A formula, in a line of its own or not."""
        return f"<math display='{display}'>{mathml(formula, self.voice.notation)}</math>"

    def shape(self, name: Maths, axes: tuple[tuple[str, int], ...]) -> str:
        """A matrix and the lengths of its axes."""
        lengths = ", ".join(f"{_indexed(letter)} = {size}" for letter, size in axes)
        return f"{self.maths(name, 'inline')} ({lengths})"


def _indexed(text: str) -> str:
    return _INDEXED.sub(r"<i>\1</i><sub>\2</sub>", text)


def _rendered(markdown: str) -> str:
    """A document that came with the tool, its own HTML taken as text."""
    from markdown_it import MarkdownIt

    lines = markdown.splitlines()
    body = lines[1:] if lines and lines[0].startswith("# ") else lines
    rendered: str = MarkdownIt("commonmark", {"html": False}).enable("table").render("\n".join(body))
    return rendered.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
