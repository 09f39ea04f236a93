"""The frames and values that cross the wall, the same on both sides: never ``.npy``, never pickle.

A frame is a 16-byte id, a kind, a length and a body; a body is one value. Whoever decodes trusts nothing: every length
is checked in Python's own integers before anything is made from it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

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

DTYPES = {code: np.dtype(f"<{code}") for code in ("f2", "f4", "f8", "i4", "i8")} | {
    "b1": np.dtype("?"),
    "u1": np.dtype("u1"),
}
_INT64 = struct.Struct("<q")
_FLOAT64 = struct.Struct("<d")
_COUNT = struct.Struct("<I")


class WireError(ValueError):
    """Bytes that no honest side would have sent."""


class TooBigError(ValueError):
    """A value larger than the frame it should go into."""


@dataclass(frozen=True)
class Opaque:
    """Something that is not sent, only described: ``an object of type Tensor``."""

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

    def add(self, value: object, depth: int) -> None:
        """Append the pieces of one value, its tag first."""
        if isinstance(value, np.ndarray | np.generic):
            self._array(np.asarray(value))
        elif isinstance(value, tuple | list):
            self._sequence(value, depth)
        elif value is None:
            self.parts.append(b"N")
        elif isinstance(value, bool):
            self.parts.append(b"1" if value else b"0")
        elif isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
            self.parts += (b"I", _INT64.pack(value))
        elif isinstance(value, float):
            self.parts += (b"F", _FLOAT64.pack(value))
        elif isinstance(value, str):
            self._text(b"S", value)
        elif isinstance(value, bytes):
            self._bytes(b"Y", value)
        elif isinstance(value, Opaque):
            self._describe(value.description)
        else:
            self._describe(f"an object of type {type(value).__name__:.80}")

    def _sequence(self, value: tuple[object, ...] | list[object], depth: int) -> None:
        items = tuple(value)  # a student's subclass may say another length than it has items
        if depth == MAX_DEPTH or len(items) > self._nodes:
            return self._describe(f"a deep or long {type(value).__name__:.80}")
        self._nodes -= len(items)
        self.parts += (b"T" if isinstance(value, tuple) else b"L", _COUNT.pack(len(items)))
        for item in items:
            self.add(item, depth + 1)
        return None

    def _array(self, array: np.ndarray) -> None:
        code = array.dtype.str[1:]
        if code not in DTYPES or array.ndim > MAX_NDIM:
            return self._describe(f"an array of dtype {array.dtype!s:.80} and shape {array.shape}")
        self._take(array.nbytes)
        self.parts += (
            b"A" + code.encode() + bytes((array.ndim,)),
            struct.pack(f"<{array.ndim}Q", *array.shape),
            array.astype(DTYPES[code], copy=False).tobytes(),
        )
        return None

    def _describe(self, description: str) -> None:
        self.described = description
        self._text(b"O", description)

    def _text(self, tag: bytes, text: str) -> None:
        data = text[:MAX_TEXT].encode("utf-8", "backslashreplace")[: self._text_room]
        self._text_room -= len(data)
        self._bytes(tag, data)

    def _bytes(self, tag: bytes, data: bytes) -> None:
        self._take(len(data))
        self.parts += (tag, _COUNT.pack(len(data)), data)

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            raise TooBigError("the value is too big to be sent")


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
        if size > len(self.data) - self.at:
            raise WireError("fewer bytes than announced")
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise WireError("a value too deep")
        tag = self.take(1)
        if tag == b"A":
            return self._array()
        if tag in b"TL":
            count = self._count(self.nodes)
            self.nodes -= count
            items = [self.value(depth + 1) for _ in range(count)]
            return tuple(items) if tag == b"T" else items
        if tag in b"N01":
            return {b"N": None, b"0": False, b"1": True}[tag]
        if tag == b"I":
            return int(_INT64.unpack(self.take(8))[0])
        if tag == b"F":
            return float(_FLOAT64.unpack(self.take(8))[0])
        if tag in b"SYO":
            return self._chars(tag)
        raise WireError("an unknown kind of value")

    def _count(self, limit: int) -> int:
        count = int(_COUNT.unpack(self.take(4))[0])
        if count > limit:
            raise WireError("too many values")
        return count

    def _chars(self, tag: bytes) -> str | bytes | Opaque:
        if tag == b"Y":
            return self.take(self._count(len(self.data)))
        data = self.take(self._count(self.text_room))
        self.text_room -= len(data)
        text = data.decode("utf-8", "replace")
        return text if tag == b"S" else Opaque(text)

    def _array(self) -> np.ndarray:
        dtype = DTYPES.get(self.take(2).decode("latin-1"))
        ndim = self.take(1)[0]
        if dtype is None or ndim > MAX_NDIM:
            raise WireError("an unknown kind of array")
        shape = struct.unpack(f"<{ndim}Q", self.take(8 * ndim))
        if any(size > MAX_AXIS for size in shape):
            raise WireError("an axis too long")
        raw = self.take(math.prod(shape) * dtype.itemsize)
        try:
            array = np.frombuffer(raw, np.uint8 if dtype.kind == "b" else dtype).reshape(shape)
        except ValueError:  # an empty array whose other axes multiply past the address space
            raise WireError("an impossible shape") from None
        return np.asarray(array != 0) if dtype.kind == "b" else array  # a byte of 2 is no boolean that NumPy knows
