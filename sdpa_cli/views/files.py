"""Files written whole or not at all: the old one stays until the new one is complete."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sdpa_cli.errors import InputError, Problem


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in place of another, which is replaced only when the block ends without an error.

    The new file stands beside the old one until then, is brought to the disk before it takes the old one's name, and
    keeps its permissions. A link stays a link; a device or pipe, which cannot be replaced, is written to.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        Where it cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        # Asked of the path itself: what /dev/stdout leads to may have no name.
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                yield device
            return
        if target.is_dir():
            raise IsADirectoryError(None, "it is a directory")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(None, "it is write-protected")
        with _written_beside(target) as file:
            yield file
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        raise InputError(Problem("cannot-write", message, "a file in a folder that may be written to")) from error


@contextmanager
def _written_beside(target: Path) -> Iterator[IO[bytes]]:
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.tmp")
    try:
        # "x", and thus the usual permissions of a new file; those of an old one are put on before it holds anything.
        with beside.open("xb") as file:
            with suppress(FileNotFoundError):
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
