"""An explanation as Markdown with LaTeX formulas, to be pasted into a handout."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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
from sdpa_cli.views.explaining.cells import Label, WrittenCell, labels, written
from sdpa_cli.views.explaining.latex import latex, symbol
from sdpa_cli.views.explaining.prose import Piece, Voice

# What Markdown would take for markup in somebody's label.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$&])")
# A letter with an index in running text, such as d_k.
_INDEXED = re.compile(r"(√?)\b([A-Za-z]{1,4})_([A-Za-z]{1,5})\b")


def markdown(trace: Trace, voice: Voice) -> str:
    """A whole explanation as one document."""
    writer = _Markdown(voice)
    return "\n\n".join(writer.document(trace)) + "\n"


@dataclass(frozen=True)
class _Markdown:
    voice: Voice

    def document(self, trace: Trace) -> Iterator[str]:
        """The blocks of the document."""
        yield f"# {self.text(trace.title)}"
        for note in trace.notes:
            yield f"*{self.text(note)}*"
        for number, step in enumerate(trace.steps, 1):
            yield from self.step(number, step)

    def step(self, number: int, step: Step) -> Iterator[str]:
        """The blocks of one step; checks that follow each other are one list."""
        yield f"## {number}. {self.text(step.title)}"
        checks: list[str] = []
        for part in step.parts:
            if isinstance(part, Check):
                checks.append(f"- {'✓' if part.holds else '✗'} {self.text(part.words)}")
                continue
            if checks:
                yield "\n".join(checks)
                checks = []
            yield from self.part(part)
        if checks:
            yield "\n".join(checks)

    def part(self, part: Part) -> Iterator[str]:
        """The blocks of one part."""
        match part:
            case Words():
                yield self.text(part)
            case Formula(maths) | Worked(maths):
                yield f"$$\n{latex(maths, self.voice.notation)}\n$$"
            case Shapes(items):
                yield ", ".join(self.shape(name, axes) for name, axes in items)
            case Matrix():
                yield self.matrix(part)
            case Pair(right, other, titles):
                for title, matrix in zip(titles, (right, other), strict=True):
                    yield f"**{self.text(title)}**"
                    yield self.matrix(matrix)
            case Reasons():
                yield self.reasons(part)
            case _:
                yield from self.listed(part)

    def listed(self, part: Part) -> Iterator[str]:
        """Tables, facts and whatever is a list of things."""
        match part:
            case Table(columns, rows):
                body = [[self.joined(cell) for cell in row] for row in self.voice.table(rows)]
                yield _table([self.text(column) for column in columns], body)
            case Facts(items):
                yield "\n".join(f"- {self.text(name)}: {self.text(value)}" for name, value in items)
            case Question(asked, answer):
                yield f"**{self.text(asked)}** {self.text(answer)}"
            case Catalogue(entries):
                for entry in entries:
                    yield f"### {entry.name}"
                    yield from (self.text(told) for _, told in entry.parts)
                    yield f"*{self.text(words('page.source'))}: {self.text(entry.source)}*"
            case Command(text):
                yield f"```sh\n{text}\n```"
            case Prose(markdown):
                yield _deeper(markdown)

    def text(self, value: Value) -> str:
        """A value inline."""
        return self.joined(self.voice.pieces(value))

    def joined(self, pieces: Iterable[Piece]) -> str:
        """Pieces inline."""
        return "".join(map(self.piece, pieces))

    def piece(self, piece: Piece) -> str:
        """One piece inline."""
        if not isinstance(piece.content, str):
            return f"${latex(piece.content, self.voice.notation)}$"
        if piece.kind == "code":
            return f"`{piece.content}`"
        if piece.kind == "link":
            return f"[{_escaped(piece.content)}]({piece.url})"
        if piece.kind == "foreign":
            return _escaped(piece.content)
        return _INDEXED.sub(_set, piece.content.replace("*", r"\*"))

    def shape(self, name: Maths, axes: tuple[tuple[str, int], ...]) -> str:
        """A matrix and the lengths of its axes."""
        lengths = ", ".join(f"{self.text_of_letter(letter)} = {size}" for letter, size in axes)
        return f"${latex(name, self.voice.notation)}$ ({lengths})"

    def text_of_letter(self, letter: str) -> str:
        """The letter of an axis."""
        return f"${symbol(letter)}$"

    def matrix(self, matrix: Matrix) -> str:
        """A matrix as a table, its name in the corner."""
        found = written(matrix, self.voice.notation)
        head = [f"${latex(matrix.name, self.voice.notation)}$", *map(_label, found.columns)]
        if found.totals:
            head.append(self.text(words("page.sum")))
        rows = [
            [f"**{_label(label)}**", *map(_cell, cells), *([total] if found.totals else [])]
            for label, cells, total in found.rows
        ]
        return _table(head, rows)

    def reasons(self, reasons: Reasons) -> str:
        """The mask as a table of the rules that forbid."""
        rows = [
            [f"**{_label(label)}**", *(", ".join(self.text(words(f"reason.{name}")) for name in cell) for cell in row)]
            for label, row in zip(labels(reasons.rows), reasons.cells, strict=True)
        ]
        return _table(["$M$", *map(_label, labels(reasons.cols))], rows)


def _set(found: re.Match[str]) -> str:
    letter = f"{found[2]}_{{{found[3]}}}"
    return rf"$\sqrt{{{letter}}}$" if found[1] else f"${letter}$"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---:"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _label(label: Label) -> str:
    if label.number is None:
        return "…"
    return f"{label.number} {_escaped(label.token)}".rstrip()


def _cell(cell: WrittenCell) -> str:
    if cell.kind == "gap":
        return "…"
    return f"**{cell.text}**" if cell.marked else cell.text


def _escaped(text: str) -> str:
    """Somebody's text on one line, nothing in it markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def _deeper(markdown: str) -> str:
    """A document as a part of another one: its headings two levels down, its title left out."""
    lines = markdown.splitlines()
    body = lines[1:] if lines and lines[0].startswith("# ") else lines
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in body).strip()
