"""Where results go: standard output, or a file that is replaced once they are complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import IO, TextIO

from sdpa_cli.errors import InputError, Problem


class ReaderLeft(Exception):  # noqa: N818 - nothing went wrong
    """Whoever read standard output has seen enough, as ``head`` does."""


def overwriting(targets: Mapping[str, Path | None], reading: Iterable[Path]) -> list[Problem]:
    """The problems of writing over what is being read.

    Parameters
    ----------
    targets
        What is to be written, by the option that says so.
    reading
        What is read.
    """
    files = list(reading)
    return [
        Problem("overwrite", f"{option} {target} is a file that is being read", hint="choose another name")
        for option, target in targets.items()
        if target is not None and any(_same(target, file) for file in files)
    ]


def _same(target: Path, file: Path) -> bool:
    try:
        return target.samefile(file)
    except OSError:
        # Most often the target does not exist yet. Whatever else it is, writing will tell.
        return False


@contextmanager
def writing(path: Path | None) -> Iterator[tuple[TextIO, Callable[[str], object]]]:
    """Where text goes: a stream to be looked at for its kind, and what writes to it.

    Parameters
    ----------
    path
        A file; None, and ``-`` as for input, is standard output.

    Raises
    ------
    InputError
        Where it cannot be written.
    ReaderLeft
        Where nobody reads it.
    """
    if path is None or str(path) == "-":
        with _standard_output() as stream:
            yield stream, stream.write
        return
    with replacing_if_asked(path) as file:
        assert file is not None
        yield StringIO(), lambda piece: file.write(piece.encode("utf-8", "replace"))


@contextmanager
def replacing_if_asked(path: Path | None) -> Iterator[IO[bytes] | None]:
    """The file to write in place of another, as `files.replacing` gives it; None where there is to be none."""
    if path is None:
        yield None
        return
    from sdpa_cli.views.files import replacing

    with replacing(path) as file:
        yield file


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Standard output, for which no character is a reason to fail."""
    if sys.stdout is None:
        raise InputError(Problem("cannot-write", "standard output is closed"))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        refusal = refused_output(error)
        raise (ReaderLeft if isinstance(error, BrokenPipeError) else refusal) from None


def refused_output(error: OSError) -> InputError:
    """What to tell when standard output takes no more, and an end to all further attempts.

    Parameters
    ----------
    error
        What it was refused with.
    """
    # Whatever is still to be written has no place to go; it must not be tried again when the process ends.
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return InputError(Problem("cannot-write", f"cannot write to standard output: {error.strerror}"))


def tell(text: str) -> None:
    """Say something on standard error; where nobody can hear it, the exit status must do."""
    with suppress(OSError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()
