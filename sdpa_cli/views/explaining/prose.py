"""From the keys and values of a trace to sentences, in pieces that each form sets in its own way."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sdpa_cli.explaining.maths import Maths
from sdpa_cli.explaining.trace import Bytes, Code, Link, Position, Value, Words
from sdpa_cli.languages import Texts
from sdpa_cli.views.explaining.notation import Notation

MATHS = get_args(Maths)


@dataclass(frozen=True)
class Piece:
    """A run of a sentence that is set in one way."""

    kind: Literal["text", "code", "maths", "foreign", "link"]
    """``foreign`` is what somebody else wrote: a label, a title."""
    content: str | Maths
    url: str = ""


@dataclass(frozen=True)
class Voice:
    """One language speaking: its texts and its numbers."""

    texts: Texts
    notation: Notation

    def pieces(self, value: Value) -> Iterator[Piece]:
        """Anything that may fill a placeholder or a table cell, in pieces."""
        match value:
            case Words(key, values):
                yield from self._sentence(key, dict(values))
            case Code(text):
                yield Piece("code", text)
            case Link(title, url):
                yield Piece("link", title, url)
            case Position(index):
                yield Piece("text", str(index + 1))
            case Bytes(count):
                yield Piece("text", self.notation.memory(count))
            case bool() | str():
                yield Piece("foreign", str(value))
            case int():
                yield Piece("text", self.notation.count(value))
            case float():
                yield Piece("text", self.notation.number(value))
            case tuple():
                yield from self._list(value)
            case _:
                yield Piece("maths", value)

    def table(self, rows: Sequence[Sequence[Value]]) -> list[list[list[Piece]]]:
        """The cells of a table; numbers of one column have the same number of decimals."""
        columns = [self._column(column) for column in zip(*rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    def _column(self, values: Sequence[Value]) -> list[list[Piece]]:
        numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
        if all(number == int(number) for number in numbers):
            return [list(self.pieces(value)) for value in values]
        fixed = self.notation.decimals
        return [
            [Piece("text", self.notation.fixed(value, fixed))] if isinstance(value, float) else list(self.pieces(value))
            for value in values
        ]

    def _sentence(self, key: str, values: dict[str, Value]) -> Iterator[Piece]:
        for literal, name, _, _ in string.Formatter().parse(self.texts.entries[key]):
            yield from _literal(literal)
            if name is not None:
                yield from self.pieces(values[name])

    def _list(self, values: Iterable[Value]) -> Iterator[Piece]:
        for k, value in enumerate(values):
            if k:
                # A semicolon keeps numbers with a decimal comma apart; words need none.
                yield Piece("text", ", " if isinstance(value, Words) else self.notation.separator)
            yield from self.pieces(value)


def _literal(text: str) -> Iterator[Piece]:
    """Text with code in backticks."""
    for k, run in enumerate(text.split("`")):
        if run:
            yield Piece("code" if k % 2 else "text", run)
