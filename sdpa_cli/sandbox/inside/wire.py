"""The frames and values that cross the wall, the same on both sides: never ``.npy``, never pickle.

A frame is a 16-byte id, a kind, a length and a body; a body is one value. Whoever decodes trusts nothing: every length
is checked in Python's own integers before anything is made from it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

HEADER = struct.Struct("<16scI")
JAILED, OPEN, CALL, LIST = b"J", b"O", b"C", b"L"
RETURNED, RAISED, MISSING, TOO_BIG = b"R", b"E", b"N", b"B"
PRINTED, CALLBACK, ANSWER, REFUSAL = b"P", b"K", b"A", b"X"

MAX_NDIM = 8
MAX_AXIS = 1 << 31
MAX_DEPTH = 5
MAX_NODES = 4096
MAX_TEXT = 1 << 16
"""Bytes of text that a value may hold in all: cleaning it costs the parent more than the bytes of an array do."""
MAX_ERROR = 4096
"""Bytes that an error frame may have."""
MAX_PRINTED = 1 << 16
"""Bytes of printed text in one frame."""

DTYPES = {code.encode(): np.dtype(f"<{code}") for code in ("f2", "f4", "f8", "i4", "i8", "b1", "u1")}
_CODES = {dtype: code for code, dtype in DTYPES.items()}
_INT64 = struct.Struct("<q")
_FLOAT64 = struct.Struct("<d")
_COUNT = struct.Struct("<I")
_SHAPES = [struct.Struct(f"<{ndim}Q") for ndim in range(MAX_NDIM + 1)]


class WireError(ValueError):
    """Bytes that no honest side would have sent."""


class TooBigError(ValueError):
    """A value larger than the frame it should go into."""


@dataclass(frozen=True)
class Opaque:
    """Something that is not sent, only described, as code would: ``Tensor``."""

    description: str


Value = np.ndarray | tuple["Value", ...] | list["Value"] | bool | int | float | str | bytes | Opaque | None


def encode(value: object, limit: int = 64 << 20) -> bytes:
    """A value as bytes; what has no place in the format becomes an `Opaque`.

    Raises
    ------
    TooBigError
        It needs more than `limit` bytes. Found before the bytes are made: a broadcast view may be nominally huge.
    """
    encoder = _Encoder(limit)
    encoder.add(value, 0)
    return b"".join(encoder.parts)


def encode_exactly(value: object, limit: int) -> bytes:
    """As `encode`, for values of our own, all of which must arrive.

    Raises
    ------
    TypeError
        Something in it would only be described.
    """
    encoder = _Encoder(limit)
    encoder.add(value, 0)
    if encoder.described:
        raise TypeError(f"{encoder.described} cannot be sent")
    return b"".join(encoder.parts)


class _Encoder:
    def __init__(self, limit: int) -> None:
        self.parts: list[bytes] = []
        self.described = ""
        self._room = limit
        self._nodes = MAX_NODES
        self._text_room = MAX_TEXT

    def add(self, value: Any, depth: int) -> None:
        """Append the pieces of one value, its tag first."""
        (_WRITERS.get(type(value)) or _writer(value))(self, value, depth)

    def sequence(self, value: tuple[object, ...] | list[object], depth: int) -> None:
        items = tuple(value)  # a student's subclass may say another length than it has items
        if depth == MAX_DEPTH or len(items) > self._nodes:
            return self.describe(f"{type(value).__name__:.80}(…)")
        self._nodes -= len(items)
        self.parts += (b"T" if isinstance(value, tuple) else b"L", _COUNT.pack(len(items)))
        for item in items:
            self.add(item, depth + 1)
        return None

    def array(self, value: np.ndarray | np.generic, _: int) -> None:
        array = np.asarray(value)
        code = _CODES.get(array.dtype) or _CODES.get(array.dtype.newbyteorder("<"))
        if code is None or array.ndim > MAX_NDIM:
            return self.describe(f"ndarray(dtype={array.dtype!s:.80}, shape={array.shape})")
        self._take(array.nbytes)
        data = array.astype(DTYPES[code], copy=False).tobytes()
        self.parts += (b"A" + code, b"%c" % array.ndim, _SHAPES[array.ndim].pack(*array.shape), data)
        return None

    def integer(self, value: int, _: int) -> None:
        if -(1 << 63) <= value < 1 << 63:
            self.parts += (b"I", _INT64.pack(value))
        else:
            self.unknown(value, _)

    def unknown(self, value: object, _: int) -> None:
        self.describe(type(value).__name__[:80])

    def describe(self, description: str) -> None:
        self.described = description
        self.text(b"O", description)

    def text(self, tag: bytes, text: str) -> None:
        data = text[:MAX_TEXT].encode("utf-8", "backslashreplace")[: self._text_room]
        self._text_room -= len(data)
        self.binary(tag, data)

    def binary(self, tag: bytes, data: bytes) -> None:
        self._take(len(data))
        self.parts += (tag, _COUNT.pack(len(data)), data)

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise TooBigError("the value is too big to be sent")


_Writer = Callable[[_Encoder, Any, int], None]
_WRITERS: dict[type, _Writer] = {
    np.ndarray: _Encoder.array,
    np.generic: _Encoder.array,
    tuple: _Encoder.sequence,
    list: _Encoder.sequence,
    type(None): lambda encoder, value, depth: encoder.parts.append(b"N"),
    bool: lambda encoder, value, depth: encoder.parts.append(b"1" if value else b"0"),
    int: _Encoder.integer,
    float: lambda encoder, value, depth: encoder.parts.extend((b"F", _FLOAT64.pack(value))),
    str: lambda encoder, value, depth: encoder.text(b"S", value),
    bytes: lambda encoder, value, depth: encoder.binary(b"Y", value),
    Opaque: lambda encoder, value, depth: encoder.describe(value.description),
}


def _writer(value: object) -> _Writer:
    """For a value of none of these types: one of a type that is made of one of them, or of none."""
    return next((write for kind, write in _WRITERS.items() if isinstance(value, kind)), _Encoder.unknown)


def decode(data: bytes) -> Value:
    """The one value that `data` holds. Its arrays are read-only views of `data`.

    Raises
    ------
    WireError
        The bytes are truncated, too long, too deep, or lie about a length.
    """
    decoder = _Decoder(data)
    value = decoder.value(0)
    if decoder.at != len(data):
        raise WireError("bytes after the value")
    return value


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.nodes = MAX_NODES
        self.text_room = MAX_TEXT

    def take(self, size: int) -> bytes:
        at = self.at
        self.at = end = at + size
        if end > len(self.data):
            raise WireError("fewer bytes than announced")
        return self.data[at:end]

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise WireError("a value too deep")
        read = _READERS.get(self.take(1))
        if read is None:
            raise WireError("an unknown kind of value")
        return read(self, depth)

    def count(self, limit: int) -> int:
        count: int = _COUNT.unpack(self.take(4))[0]
        if count > limit:
            raise WireError("too many values")
        return count

    def items(self, depth: int) -> list[Value]:
        count = self.count(self.nodes)
        self.nodes -= count
        return [self.value(depth + 1) for _ in range(count)]

    def text(self) -> str:
        data = self.take(self.count(self.text_room))
        self.text_room -= len(data)
        return data.decode("utf-8", "replace")

    def array(self, _: int) -> np.ndarray:
        head = self.take(3)
        dtype, ndim = DTYPES.get(head[:2]), head[2]
        if dtype is None or ndim > MAX_NDIM:
            raise WireError("an unknown kind of array")
        shape = _SHAPES[ndim].unpack(self.take(8 * ndim))
        if shape and max(shape) > MAX_AXIS:
            raise WireError("an axis too long")
        raw = self.take(math.prod(shape) * dtype.itemsize)
        try:
            array: np.ndarray = np.ndarray(shape, np.uint8 if dtype.kind == "b" else dtype, raw)
        except ValueError:  # an empty array whose other axes multiply past the address space
            raise WireError("an impossible shape") from None
        return np.asarray(array != 0) if dtype.kind == "b" else array  # a byte of 2 is no boolean that NumPy knows


_READERS: dict[bytes, Callable[[_Decoder, int], Value]] = {
    b"A": _Decoder.array,
    b"T": lambda decoder, depth: tuple(decoder.items(depth)),
    b"L": _Decoder.items,
    b"N": lambda decoder, depth: None,
    b"0": lambda decoder, depth: False,
    b"1": lambda decoder, depth: True,
    b"I": lambda decoder, depth: _INT64.unpack(decoder.take(8))[0],
    b"F": lambda decoder, depth: _FLOAT64.unpack(decoder.take(8))[0],
    b"S": lambda decoder, depth: decoder.text(),
    b"Y": lambda decoder, depth: decoder.take(decoder.count(len(decoder.data))),
    b"O": lambda decoder, depth: Opaque(decoder.text()),
}
