"""A submission's own files as modules, with stand-ins for the functions that the parent provides."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import io
import sys
import tokenize
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, ModuleType

Stub = Callable[..., object]


def read(source: bytes, name: str) -> CodeType:
    """Compile a file as Python would read it: any encoding and line ending that Python accepts.

    Raises
    ------
    SyntaxError
        Also for bytes that are no text, with their line and byte.
    """
    if source[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise SyntaxError("the file is saved as UTF-16; save it as UTF-8", (name, 1, 1, None))
    if b"\0" in source:
        raise _bad_byte(source, source.index(b"\0"), name, "is no text")
    encoding = "utf-8"
    try:
        if b"coding" in source or not source.isascii():
            encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
            source.decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"is not {encoding}; save the file as UTF-8, or name its encoding in line 1: # -*- coding: … -*-"
        raise _bad_byte(source, error.start + len(source) - len(error.object), name, reason) from None
    except SyntaxError as error:  # an unknown encoding, or a first line that is not UTF-8
        start = _first_undecodable(source)
        if start is None:
            raise SyntaxError(str(error), (name, 1, 1, None)) from None
        raise _bad_byte(source, start, name, "is not utf-8; save the file as UTF-8") from None
    return compile(source, name, "exec", dont_inherit=True)


def _first_undecodable(source: bytes) -> int | None:
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _bad_byte(source: bytes, at: int, name: str, reason: str) -> SyntaxError:
    lines = source[: at + 1].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    column = max(1, len(lines[-1]))
    return SyntaxError(f"byte {column} of the line, 0x{source[at]:02X}, {reason}", (name, len(lines), column, None))


class Shelf(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the submission's modules, before any other of their names.

    Parameters
    ----------
    files
        Source by file name; the first is the one to be loaded, the others are there to be imported.
    stubs
        Stand-ins by module, then by function. A module that is not among the files consists of its stand-ins; in one
        that is, they take the place of its own functions as soon as it has run.
    """

    def __init__(self, files: Mapping[str, bytes], stubs: Mapping[str, Mapping[str, Stub]]) -> None:
        self.files = files
        self._stubs = stubs

    def main(self) -> ModuleType:
        """Load the first file."""
        name = _module_of(next(iter(self.files)))
        spec = importlib.machinery.ModuleSpec(name, self)
        module = sys.modules[name] = ModuleType(name)
        module.__spec__ = spec
        self.exec_module(module)
        return module

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The import system's question."""
        known = name in self._stubs or f"{name}.py" in self.files
        return importlib.machinery.ModuleSpec(name, self) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Python's own kind of module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a file, then put the stand-ins in place."""
        file = f"{module.__name__}.py"
        if file in self.files:
            module.__file__ = file
            exec(read(self.files[file], file), module.__dict__)  # noqa: S102 # behind the lock, this is the purpose
        for name, stub in self._stubs.get(module.__name__, {}).items():
            setattr(module, name, stub)


def _module_of(file: str) -> str:
    return file.removesuffix(".py")
