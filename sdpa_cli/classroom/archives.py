"""Zip archives read without unpacking them: no path leads outside, no link is followed, no bomb goes off."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sdpa_cli.classroom.entries import MOST_ENTRIES, Entry, ignored, most_bytes, too_many
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.sandbox import unreadable

_MOST_EXPORT_BYTES = 4 << 30
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_LONGEST_NAME = 255
"""As in a folder. An archive's names may be much longer, and to look for patterns in those could take for ever."""
_Objection = tuple[str, str]
"""Why something is not to be read: the key of the text that says it, and what English says after the name."""


def archive_entries(path: Path) -> tuple[Entry, ...]:
    """The files of an exported archive. Each is read from it when it is wanted.

    Raises
    ------
    InputError
        When it is no zip archive, or too large for one.
    """
    if path.stat().st_size > _MOST_EXPORT_BYTES:
        message = f"{path.name} is larger than {_MOST_EXPORT_BYTES >> 30} GiB"
        raise InputError(Problem("unreadable-source", message, hint="unpack it, and name the folder"))
    return _entries(path.name, path)


def nested_entries(name: str, data: bytes) -> tuple[Entry, ...]:
    """The files of an archive that was handed in."""
    return _entries(name, io.BytesIO(data))


def _entries(name: str, source: Path | IO[bytes]) -> tuple[Entry, ...]:
    try:
        archive = zipfile.ZipFile(source)  # stays open for the entries, and closes with the last of them
        members = [one for one in archive.infolist() if one.filename and not one.is_dir()]
    except _BROKEN as error:
        what, hint = f"is no zip archive that can be read: {error}", "zip the files again"
        raise unreadable(name, "unreadable.no-zip", what, hint, error=str(error)) from None
    if len(members) > MOST_ENTRIES:
        raise too_many(name)
    found = []
    placed = [(_path(member), member) for member in members]
    counts = Counter(path for path, _ in placed)
    for path, member in placed:
        if path and not any(ignored(part) for part in path):
            found.append(Entry(path, _reader(archive, member, _objection(member, path, counts[path]))))
    return tuple(sorted(found, key=lambda entry: entry.path))


def _path(member: zipfile.ZipInfo) -> tuple[str, ...]:
    """Where a member says it lies. Windows' separators count, too; empty steps do not, and long ones are cut."""
    steps = _name(member).replace("\\", "/").split("/")
    return tuple(step[:_LONGEST_NAME] for step in steps if step not in ("", "."))


def _name(member: zipfile.ZipInfo) -> str:
    """Its name as it was meant: macOS writes UTF-8 and does not say so."""
    if member.flag_bits & _UTF8_FLAG:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _objection(member: zipfile.ZipInfo, path: tuple[str, ...], copies: int) -> _Objection | None:
    """Why a member is not to be read."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if ".." in path or path[0].endswith(":") or _name(member).startswith(("/", "\\")):
        return "unreadable.leads-out", "has a path that leads out of the archive"
    if kind == stat.S_IFLNK:
        return "unreadable.link", "is a symbolic link"
    if kind not in (0, stat.S_IFREG):
        return "unreadable.special", "is not a regular file"
    if member.flag_bits & _ENCRYPTED_FLAG:
        return "unreadable.encrypted", "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # the others cannot be unpacked a bounded piece at a time
        return "unreadable.compression", "is compressed in an unusual way"
    return ("unreadable.twice", "is in the archive more than once") if copies > 1 else None


def _reader(archive: zipfile.ZipFile, member: zipfile.ZipInfo, objection: _Objection | None) -> Callable[[], bytes]:
    def read() -> bytes:
        name = _path(member)[-1]
        if objection is not None:
            raise unreadable(name, *objection, "hand in the file itself")
        most = most_bytes(name)
        try:
            # Never more than is allowed is unpacked, whatever the archive says about sizes.
            with archive.open(member) as inside:
                data = inside.read(most + 1)
        except _BROKEN as error:
            what, hint = f"is damaged in the archive: {error}", "zip the files again"
            raise unreadable(name, "unreadable.damaged", what, hint, error=str(error)) from None
        if len(data) > most:
            long, hint = f"is longer than {most >> 10} KiB", "hand in the source files only"
            raise unreadable(name, "unreadable.too-long", long, hint, most=most >> 10)
        return data

    return read
