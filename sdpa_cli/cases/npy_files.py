"""NumPy's npy format: an array mapped where it stands in its file, or read from a compressed stream.

Nothing is ever unpickled: a header is read for what it says about numbers, and whatever else it announces is refused.
"""

from __future__ import annotations

import math
import os
import sys
import tokenize
import warnings
from typing import IO, Any, BinaryIO, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sdpa_cli.cases.numbers import NotUnderstood

Array = NDArray[Any]

MAX_UNPACKED = 2**30
"""Bytes of numbers that a compressed array may unpack to."""

# Whatever NumPy's header reader raises on bytes that are no header.
_NO_HEADER = (
    EOFError,
    KeyError,
    MemoryError,
    OverflowError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)


def mapped(stream: BinaryIO, end: int = sys.maxsize) -> Array:
    """The npy array that begins here, as a read-only memory map; what follows its end is not its own."""
    dtype, shape, order, size = _header(stream)
    offset = stream.tell()
    there = min(os.fstat(stream.fileno()).st_size, end) - offset
    if size > there:
        raise NotUnderstood(f"is truncated: {size} bytes of numbers announced, {there} found")
    try:
        return np.zeros(shape, dtype) if size == 0 else _native(np.memmap(stream, dtype, "r", offset, shape, order))
    except (ValueError, OverflowError) as error:
        raise NotUnderstood(f"is damaged: {error}") from None


def unpacked(stream: IO[bytes]) -> Array:
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
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise NotUnderstood(f"has npy version {version[0]}.{version[1]}", "version 1.0 or 2.0, as numbers have")
    try:
        with warnings.catch_warnings():
            # Headers written by Python 2 are read as well; that it took more work is nothing to tell the user.
            warnings.simplefilter("ignore")
            shape, fortran, dtype = readers[version](stream)
    except _NO_HEADER as error:
        raise NotUnderstood(f"is damaged: {str(error).split(chr(10))[0]}") from None
    if dtype.hasobject:
        hint = "save the numbers with a numeric dtype: astype(float)"
        raise NotUnderstood("holds pickled Python objects, which are never unpickled", "an array of numbers", hint)
    if min(shape, default=0) < 0:
        raise NotUnderstood(f"is damaged: it announces the shape {shape}")
    return dtype, shape, "F" if fortran else "C", math.prod(shape) * dtype.itemsize


def _native(found: Array) -> Array:
    """The array in this machine's byte order; only foreign numbers are copied for that."""
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))
