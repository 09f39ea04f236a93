"""Matrices in files of their own: NumPy's npy and npz, mapped rather than read where possible, and csv.

Nothing is ever unpickled: an npy header is read for what it says about numbers, and whatever else it holds is refused.
"""

from __future__ import annotations

import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sdpa_cli.cases.cells import TRUTH_VALUES, Cell
from sdpa_cli.cases.csv_files import read_csv
from sdpa_cli.cases.files import check_file, read_text, refusal
from sdpa_cli.cases.numbers import NotUnderstood
from sdpa_cli.errors import InputError, Problem

Array = NDArray[Any]

MAX_UNPACKED = 2**30
"""Bytes that a compressed member of an npz archive may unpack to."""


def read_array_file(path: Path, name: str, member: str | None, cell: Cell) -> Array:
    """The array in a file.

    Parameters
    ----------
    path
        The file.
    name
        What messages call it.
    member
        Which array of an npz archive.
    cell
        What its entries must be.

    Returns
    -------
    ndarray
        A read-only memory map where the format allows it. Numbers keep the dtype of the file.

    Raises
    ------
    InputError
        When there is no such array. A problem without a place concerns the file as a whole.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".npy", ".npz"):
        raise _refused(f"'{name}' has an unknown ending", "a file whose name ends in .npy, .npz or .csv")
    check_file(path, name)
    if member is not None and suffix != ".npz":
        raise _refused(f"'{name}' has no members", hint="leave member out: only npz archives have them")
    if suffix == ".csv":
        return read_csv(read_text(path, name), name, cell)
    try:
        with path.open("rb") as stream:
            found = _mapped(stream) if suffix == ".npy" else _member(stream, member)
    except OSError as error:
        raise refusal(path, name, error) from None
    except NotUnderstood as problem:
        raise _refused(f"'{name}' {problem.message}", problem.expected, problem.hint) from None
    except _DAMAGED as error:
        raise _refused(f"'{name}' is damaged or no {suffix[1:]} file: {error}") from None
    return _of_cells(found, name, cell)


# Whatever the readers of zip archives and npy headers raise on bytes that are neither.
_DAMAGED = (
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def _refused(message: str, expected: str | None = None, hint: str | None = None) -> InputError:
    return InputError(Problem("array-file", message, expected, hint))


def _member(stream: BinaryIO, member: str | None) -> Array:
    """One array of an npz archive."""
    with zipfile.ZipFile(stream) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if member is None and len(names) == 1:
            member = names[0]
        if member not in names:
            which = "does not say which array is meant" if member is None else f"has no array {member}"
            raise NotUnderstood(which, f"member: one of {', '.join(names[:20])}")
        info = archive.getinfo(archive.namelist()[names.index(member)])
        if info.compress_type != zipfile.ZIP_STORED:
            with archive.open(info) as unpacked:
                return _unpacked(unpacked)
    # A stored member is a whole npy file within the archive, after its local header: it can be mapped where it is.
    stream.seek(info.header_offset + 26)
    name_length, extra_length = struct.unpack("<HH", stream.read(4))
    stream.seek(name_length + extra_length, os.SEEK_CUR)
    return _mapped(stream)


def _mapped(stream: BinaryIO) -> Array:
    """The npy array that begins here, as a read-only memory map."""
    dtype, shape, order, size = _header(stream)
    offset = stream.tell()
    there = os.fstat(stream.fileno()).st_size - offset
    if size > there:
        raise NotUnderstood(f"is truncated: {size} bytes of numbers announced, {there} found")
    if size == 0:
        return np.zeros(shape, dtype)
    return _native(np.memmap(stream, dtype, "r", offset, shape, order))


def _unpacked(stream: IO[bytes]) -> Array:
    """The npy array in a compressed member."""
    dtype, shape, order, size = _header(stream)
    if size > MAX_UNPACKED:
        hint = "save it with np.savez instead of np.savez_compressed: then it is mapped, not read"
        raise NotUnderstood(f"unpacks to more than {MAX_UNPACKED >> 20} MiB", hint=hint)
    data = stream.read(size)
    if len(data) < size:
        raise NotUnderstood(f"is truncated: {size} bytes of numbers announced, {len(data)} found")
    return _native(np.frombuffer(data, dtype).reshape(shape, order=order))


def _header(stream: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"], int]:
    """What an npy header says: dtype, shape, order and bytes of data."""
    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise NotUnderstood("is no npy file", "an array as numpy.save writes it") from None
    try:
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        if version not in readers:
            raise NotUnderstood(f"has npy version {version[0]}.{version[1]}", "version 1.0 or 2.0, as numbers have")
        with warnings.catch_warnings():
            # Headers written by Python 2 are read as well; that it took more work is nothing to tell the user.
            warnings.simplefilter("ignore")
            shape, fortran, dtype = readers[version](stream)
    except NotUnderstood:
        raise
    except (ValueError, SyntaxError, tokenize.TokenError) as error:
        raise NotUnderstood(f"is damaged: {str(error).splitlines()[0]}") from None
    if dtype.hasobject:
        hint = "save the numbers with a numeric dtype: astype(float)"
        raise NotUnderstood("holds pickled Python objects, which are never unpickled", "an array of numbers", hint)
    if min(shape, default=0) < 0:
        raise NotUnderstood(f"is damaged: it announces the shape {shape}")
    return dtype, shape, "F" if fortran else "C", math.prod(shape) * dtype.itemsize


def _native(found: Array) -> Array:
    """The array in this machine's byte order; only foreign numbers are copied for that."""
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def _of_cells(found: Array, name: str, cell: Cell) -> Array:
    """The array, if it holds what is wanted."""
    numeric = found.dtype.kind in "iu" or found.dtype in (np.float16, np.float32, np.float64)
    if cell is TRUTH_VALUES:
        return found if found.dtype == np.bool_ else _truths(found, name, numeric)
    if numeric:
        return found
    raise _refused(f"'{name}' has dtype {found.dtype}", "float16, float32, float64 or integers")


def _truths(found: Array, name: str, numeric: bool) -> Array:
    if not numeric:
        raise _refused(f"'{name}' has dtype {found.dtype}", "bool, or numbers that are all 0 or 1")
    if not all(bool(((row == 0) | (row == 1)).all()) for row in found):
        hint = "an additive mask of 0 and -inf becomes a mask with mask == -np.inf"
        raise _refused(f"'{name}' holds other values than 0 and 1", "a mask of 0 and 1, or of bool", hint)
    return np.asarray(found == 1)
