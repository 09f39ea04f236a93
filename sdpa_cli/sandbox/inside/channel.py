"""The child's end of the wire: one request at a time, and everything printed sent as it is written."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, NoReturn

from sdpa_cli.sandbox.inside import wire

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

NOBODY = bytes(16)
"""The id before the first request."""
_PIECE = 1 << 16


class Channel:
    """Reads requests from one descriptor and writes replies to another, or to the same.

    The submission shares this process and may do as it likes with this object: it can then say anything in its own
    name, which is what returning a value is, and answer no request before it has seen that request's random id.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._id = NOBODY

    def request(self) -> tuple[bytes, Any]:
        """The next request's kind and value, in the parent's form. When the parent hangs up the process ends."""
        data = self._at_least(wire.HEADER.size, b"")
        self._id, kind, size = wire.HEADER.unpack_from(data)
        data = self._at_least(wire.HEADER.size + size, data)
        return kind, wire.decode(data[wire.HEADER.size :])  # one request at a time: nothing comes after it

    def reply(self, kind: bytes, body: bytes) -> None:
        """One frame under the current request's id."""
        data = memoryview(wire.HEADER.pack(self._id, kind, len(body)) + body)
        while data:
            data = data[os.write(self._sink, data) :]

    def _at_least(self, size: int, data: bytes) -> bytes:
        """What has been read and what comes after it, until it is so many bytes."""
        if len(data) >= size:  # as a rule a request comes in one piece
            return data
        longer = bytearray(data)
        while len(longer) < size:
            longer += os.read(self._source, _PIECE) or leave(0)
        return bytes(longer)


class Printed(io.RawIOBase):
    """The bottom of the submission's ``sys.stdout``: what is printed before a hang or a crash has been sent by then."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Buffer) -> int:
        """Send what fits into a frame."""
        text = bytes(memoryview(data)[: wire.MAX_PRINTED])
        self._channel.reply(wire.PRINTED, text)
        return len(text)


def text_stream(channel: Channel) -> io.TextIOWrapper:
    """A ``sys.stdout`` that sends each line."""
    raw = io.BufferedWriter(Printed(channel))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def leave(status: int) -> NoReturn:
    """End the process at once: no ``atexit``, no ``finally`` of the submission."""
    os._exit(status)
