"""From a file or standard input to text: every way this can go wrong, in one sentence each."""

from __future__ import annotations

import codecs
import re
import stat
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sdpa_cli.errors import InputError, Place, Problem

MAX_BYTES = 32 * 2**20
STDIN = "-"
_CHUNK = 2**20
_LISTED = 1000
"""Files of a directory among which a near name is looked for."""

_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order marks, the longer ones first, since UTF-32's begins like UTF-16's."""

_BINARY = {
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "a zip or npz archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "an image",
    b"\x1f\x8b": "a gzip archive",
}
# What YAML allows in no text: binary data, which would reach a terminal as a command. A byte order mark within a text
# comes from files that were put together, and would be part of a word. (All that is allowed would compile slowly.)
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Wanted:
    """What a text must be, for whoever gives a binary file in its place."""

    expected: str
    hint: str | None = None
    """What to do with a file of another format."""


YAML = Wanted("a YAML text")
CASES = Wanted(YAML.expected, "a matrix in a file of its own is used with Q: {file: q.npy}")


def read_text(path: Path, name: str, wanted: Wanted = YAML) -> str:
    """The text of a file.

    Parameters
    ----------
    path
        The file.
    name
        What messages call it.
    wanted
        What it must hold.

    Raises
    ------
    InputError
        When it is missing, unreadable, no regular file, too large or no text.
    """
    check_file(path, name)
    try:
        with path.open("rb") as stream:
            return decode(_bounded(stream, name), name, wanted)
    except OSError as error:
        raise refusal(path, name, error) from None


def read_standard_input() -> str:
    """The text of the cases on standard input.

    Raises
    ------
    InputError
        When there is none, too much of it, or no text.
    """
    if sys.stdin is None:
        raise InputError(Problem("stdin", "there is no standard input to read from"))
    return decode(_bounded(sys.stdin.buffer, "<stdin>"), "<stdin>", CASES)


def check_file(path: Path, name: str) -> None:
    """Refuse what cannot be opened and read as a regular file: a pipe or device could make the tool wait for ever.

    Raises
    ------
    InputError
        Saying what it is, or which file has nearly that name.
    """
    if not name:
        raise InputError(Problem("missing-file", "the name of the file is empty"))
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise refusal(path, name, error) from None
    if stat.S_ISDIR(mode):
        raise InputError(Problem("directory", f"'{name}' is a directory", "a file"))
    if not stat.S_ISREG(mode):
        hint = "to read from a pipe, give - and send it to standard input"
        raise InputError(Problem("not-a-file", f"'{name}' is a pipe or device", "a regular file", hint))


def refusal(path: Path, name: str, error: Exception) -> InputError:
    """What to tell the user when the operating system refuses a file."""
    if isinstance(error, FileNotFoundError):
        return InputError(Problem("missing-file", f"'{name}' does not exist", hint=_near(path)))
    if isinstance(error, PermissionError):
        return InputError(Problem("unreadable-file", f"'{name}' may not be read: permission denied"))
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(Problem("unreadable-file", f"'{name}' cannot be read: {reason}"))


def decode(data: bytes, name: str, wanted: Wanted = YAML) -> str:
    """The text that some bytes are, in UTF-8 or whatever their byte order mark says.

    Raises
    ------
    InputError
        With the place of the first byte or character that is no text.
    """
    kind = next((kind for magic, kind in _BINARY.items() if data.startswith(magic)), None)
    mark = next((mark for mark in _ENCODINGS if data.startswith(mark)), None)
    if kind or (mark is None and b"\0" in data):
        hint = wanted.hint if kind else "if it is text in UTF-16, save it as UTF-8"
        raise InputError(Problem("binary-file", f"'{name}' is {kind or 'a binary file'}", wanted.expected, hint))
    encoding = "utf-8" if mark is None else _ENCODINGS[mark]
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(_undecodable(data, name, error)) from None
    if found := _NOT_TEXT.search(text):
        message = f"the control character U+{ord(found[0]):04X} is not allowed"
        advice = (
            "a byte order mark stands at most at the very beginning; delete this one" if found[0] == "\ufeff" else None
        )
        place = _place_of(text, found.start(), name)
        raise InputError(Problem("control-character", message, hint=advice, place=place))
    return text


def _bounded(stream: BinaryIO, name: str) -> bytes:
    data = bytearray()
    while len(data) <= MAX_BYTES:
        chunk = stream.read(_CHUNK)
        if not chunk:
            return bytes(data)
        data += chunk
    hint = "keep large matrices in .npy files and write Q: {file: q.npy}"
    raise InputError(Problem("too-large", f"'{name}' is larger than {MAX_BYTES >> 20} MiB", "a smaller text", hint))


def _near(path: Path) -> str | None:
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _LISTED)]
    except OSError:
        return f"there is no directory {path.parent}"
    near = get_close_matches(path.name, names, n=1)
    return f"did you mean {path.parent / near[0]}?" if near else None


def _undecodable(data: bytes, name: str, error: UnicodeDecodeError) -> Problem:
    # Python decodes what follows UTF-8's byte order mark, but UTF-16's with its mark.
    decoded = error.object
    before = decoded[: error.start].decode(error.encoding, "replace").lstrip("\ufeff")
    line = decoded[error.start :].split(b"\n", 1)[0].decode(error.encoding, "replace")
    place = _place_of(before + line, len(before), name)
    offset = len(data) - len(decoded) + error.start
    message = f"byte 0x{data[offset]:02X} at offset {offset} is not {error.encoding.upper()}"
    return Problem("encoding", message, hint="save the file as UTF-8", place=place)


def _place_of(text: str, offset: int, name: str) -> Place:
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:].split("\n", 1)[0].rstrip("\r")
    return Place(name, text.count("\n", 0, offset) + 1, offset - start + 1, line)
