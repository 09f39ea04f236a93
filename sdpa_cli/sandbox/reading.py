"""Opening a file that a stranger handed in, and refusing it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sdpa_cli.errors import InputError, Worded

MAX_SOURCE = 256 << 10


def read_source(path: Path, most: int = MAX_SOURCE) -> bytes:
    """The bytes of a regular file of at most 256 KiB, or `most` bytes.

    Raises
    ------
    InputError
        It is missing, a link, a device, a folder, a pipe, or too long. Nothing is waited for.
    """
    # O_NONBLOCK: a pipe without a writer would wait for ever; the two are absent on Windows, as are such files
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    name = path.name
    if path.is_symlink():
        raise unreadable(name, "unreadable.link", "is a symbolic link", "hand in the file itself")
    try:
        descriptor = os.open(path, flags)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise unreadable(name, "unreadable.special", "is not a regular file", "hand in a plain Python file")
            data = os.read(descriptor, most + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise unreadable(name, "unreadable.not-opened", f"cannot be opened: {why}", error=why) from None
    if len(data) > most:
        long, hint = f"is longer than {most >> 10} KiB", "hand in the source file only"
        raise unreadable(name, "unreadable.too-long", long, hint, most=most >> 10)
    return data


def unreadable(name: str, key: str, english: str, hint: str | None = None, **values: str | int) -> InputError:
    """The refusal of a file, an archive or a folder that was handed in.

    Parameters
    ----------
    name
        What it is called.
    key
        Of the text that says why, in each language.
    english
        What that text says in English after the name.
    hint
        What to do.
    **values
        What fills the text, besides the name.

    Examples
    --------
    >>> raise unreadable("attention.py", "unreadable.too-long", "is longer than 256 KiB", most=256)
    Traceback (most recent call last):
    sdpa_cli.errors.InputError: attention.py is longer than 256 KiB
    """
    filled = (("name", name), *values.items())
    return InputError(Worded("unreadable-source", f"{name} {english}", hint=hint, key=key, values=filled))
