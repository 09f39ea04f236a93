"""The gradebook: every grade is on the disk as soon as it is known, so that nothing ends a run but a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from sdpa_cli.errors import InputError, Problem

FILE = "gradebook.sqlite3"
_VERSION = 1
_TABLE = "CREATE TABLE IF NOT EXISTS grades (key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, record TEXT NOT NULL)"


class Gradebook:
    """Records by the key of what they depend on. A context manager.

    Parameters
    ----------
    path
        The database, made when it is not there.

    Raises
    ------
    InputError
        When it is none, is damaged or another version's, or cannot be written to; now or later.

    Examples
    --------
    >>> with Gradebook(Path(":memory:")) as book:
    ...     book.keep("key", "sha256", "record")
    ...     book.find("key"), book.find("another key")
    ('record', None)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder {path.parent} cannot be made: {error.strerror}"
            raise InputError(
                Problem("cannot-write", message, "--output with a folder that may be written to")
            ) from None
        with self._told():
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            # WAL: a write is one append, and a kill at any moment loses at most the one that was being written.
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            found = self._database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, _VERSION):
                raise InputError(Problem("gradebook", f"{path} was written by another version of sdpa", hint="move it"))
            self._database.execute(_TABLE)
            self._database.execute(f"PRAGMA user_version = {_VERSION}")

    def find(self, key: str) -> str | None:
        """The record under a key."""
        with self._told():
            found = self._database.execute("SELECT record FROM grades WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def keep(self, key: str, sha256: str, record: str) -> None:
        """Write a record down, for good."""
        with self._told():
            self._database.execute("INSERT OR REPLACE INTO grades VALUES (?, ?, ?)", (key, sha256, record))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            message = f"{self._path} cannot be used as a gradebook: {error}"
            hint = "make room, or move it where it is damaged; then run the same command again"
            raise InputError(Problem("gradebook", message, hint=hint)) from None

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
