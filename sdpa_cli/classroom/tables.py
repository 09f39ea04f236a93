"""CSV files as LMSs and spreadsheets write them: any usual encoding and separator, kept for writing them back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdpa_cli.errors import InputError, Problem

MOST_BYTES = 32 << 20
_SEPARATORS = ",;\t"
_ZIPPED = b"PK\x03\x04"
"""How .xlsx and .ods begin."""
_NORDIC, _HUNGARIAN = b"\xc5\xc6\xd8\xe5\xe6\xf8", b"\xd5\xdb\xf5\xfb"
"""Å Æ Ø å æ ø in the code page of western Windows, and Ő Ű ő ű in that of central Europe."""


@dataclass(frozen=True)
class Table:
    """A header and rows of as many cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str = ","

    def column(self, matches: Callable[[str], bool]) -> int | None:
        """The first column whose name matches."""
        return next((at for at, name in enumerate(self.header) if matches(name)), None)

    def filled(self, rows: Iterable[Sequence[str]], header: Sequence[str] | None = None) -> Table:
        """The same table with other rows, and perhaps another header."""
        return replace(self, header=tuple(header or self.header), rows=tuple(map(tuple, rows)))

    def text(self) -> str:
        """The table as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.separator, lineterminator="\r\n")
        writer.writerows([self.header, *self.rows])
        return out.getvalue()


def read_table(path: Path) -> Table:
    """Read a CSV file.

    Raises
    ------
    InputError
        When it cannot be read, is too long, or has no header.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(Problem("roster", f"{path} is larger than {MOST_BYTES >> 20} MiB", "a class's CSV file"))
        data = path.read_bytes()
    except OSError as error:
        raise InputError(Problem("cannot-read", f"{path} cannot be read: {error.strerror}")) from None
    if data.startswith(_ZIPPED):
        raise InputError(Problem("roster", f"{path} is a spreadsheet's own file", "CSV: save the sheet as that"))
    table = parse_table(data)
    if table is None:
        raise InputError(Problem("roster", f"{path} holds no table", "CSV whose first line names the columns"))
    return table


def parse_table(data: bytes) -> Table | None:
    r"""The table in a file's bytes; None where there is none.

    Examples
    --------
    >>> parse_table("Név;Neptun\r\nKovács Anna;ABC123\r\n".encode("cp1250"))
    Table(header=('Név', 'Neptun'), rows=(('Kovács Anna', 'ABC123'),), separator=';')
    """
    text = _decoded(data).lstrip("\r\n")
    first = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error:
        return None
    filled = [line for line in lines if any(cell.strip() for cell in line)]
    if not filled or not first.strip():
        return None
    header, *rows = filled
    width = len(header)
    return Table(tuple(header), tuple(tuple((*row, *[""] * width)[:width]) for row in rows), separator)


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    for encoding in ("utf-8-sig", _code_page(data)):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _code_page(data: bytes) -> str:
    """What is no UTF-8 was saved by a spreadsheet; in which code page, the letters tell that two pages disagree on."""
    nordic, hungarian = (sum(map(data.count, letters)) for letters in ([*_NORDIC], [*_HUNGARIAN]))
    return "cp1252" if nordic > hungarian else "cp1250"
