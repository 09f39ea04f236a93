"""A submission's process as the parent holds it: bytes in and out until a deadline, and its end."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sdpa_cli.sandbox.inside.lock import Rations


@dataclass(frozen=True)
class Ending:
    """How a process ended."""

    code: int
    """Its exit status, or minus the number of the signal that ended it."""
    cpu_seconds: float | None = None
    """None where nobody counted."""


class Child(Protocol):
    """One locked process. Deadlines are points of `time.monotonic`."""

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it. Raises `TimeoutError`, or `EOFError` when nobody reads any more."""

    def receive(self, size: int, deadline: float) -> bytes:
        """Exactly `size` bytes. Raises `TimeoutError`, or `EOFError` when they end before."""

    def end(self) -> Ending:
        """Kill what still runs and clear it away. Once."""


class Launcher(Protocol):
    """Starts locked processes."""

    def spawn(self, rations: Rations) -> Child:
        """A new process. It says that it is locked in its first frame."""

    def close(self) -> None:
        """End everything that was started."""


class SocketChild:
    """A child at the other end of a socket, known by a handle that no other process can inherit.

    Parameters
    ----------
    channel
        The parent's end.
    handle
        The child's pidfd.
    reap
        Waits for the child, who is somebody else's, and tells how it ended.
    """

    def __init__(self, channel: socket.socket, handle: int, reap: Reaper) -> None:
        self._channel = channel
        self._handle = handle
        self._reap = reap
        self._ahead = bytearray()

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it."""
        self._channel.settimeout(left_until(deadline))
        try:
            self._channel.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise EOFError from None

    def receive(self, size: int, deadline: float) -> bytes:
        """Exactly `size` bytes."""
        while len(self._ahead) < size:
            self._channel.settimeout(left_until(deadline))
            try:
                piece = self._channel.recv(1 << 18)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise EOFError
            self._ahead += piece
        data = bytes(self._ahead[:size])
        del self._ahead[:size]
        return data

    def end(self) -> Ending:
        """Kill, and have it reaped."""
        self._channel.close()
        with suppress(ProcessLookupError):  # it is dead and waits to be reaped
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        os.close(self._handle)
        return self._reap()


class Reaper(Protocol):
    """Waits for one child."""

    def __call__(self) -> Ending:
        """How it ended."""


def left_until(deadline: float) -> float:
    """Seconds to go. Raises `TimeoutError` when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
