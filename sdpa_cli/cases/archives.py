"""NumPy's npz archives: npy arrays in a zip file, mapped where stored and unpacked where compressed."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import BinaryIO

from sdpa_cli.cases.npy_files import Array, mapped, unpacked
from sdpa_cli.cases.numbers import NotUnderstood

# Whatever `zipfile` raises on bytes that are no archive, or one that is locked, damaged or packed in a rare way.
_DAMAGED = (
    EOFError,
    KeyError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def read_member(stream: BinaryIO, member: str | None) -> Array:
    """One array of an npz archive.

    Parameters
    ----------
    stream
        The archive, a file on disk.
    member
        Which array; None where there is only one.

    Raises
    ------
    NotUnderstood
        When there is no such array, or no archive.
    """
    try:
        return _read(stream, member)
    except NotUnderstood:
        raise
    except _DAMAGED as error:
        raise NotUnderstood(f"is damaged or no npz file: {error}") from None


def _read(stream: BinaryIO, member: str | None) -> Array:
    with zipfile.ZipFile(stream) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if not names:
            raise NotUnderstood("holds no array")
        if member is None and len(names) == 1:
            member = names[0]
        if member not in names:
            which = "does not say which array is meant" if member is None else f"has no array {member}"
            raise NotUnderstood(which, f"member: one of {', '.join(names[:20])}")
        info = archive.getinfo(archive.namelist()[names.index(member)])
        if info.compress_type != zipfile.ZIP_STORED:
            with archive.open(info) as content:
                return unpacked(content)
    # A stored member is a whole npy file within the archive, after its local header: it can be mapped where it is.
    stream.seek(info.header_offset + 26)
    name_length, extra_length = struct.unpack("<HH", stream.read(4))
    stream.seek(name_length + extra_length, os.SEEK_CUR)
    return mapped(stream, stream.tell() + info.file_size)
