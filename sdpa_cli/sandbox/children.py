"""A submission's process as the parent holds it: bytes in and out until a deadline, and its end."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sdpa_cli.sandbox.inside.lock import Rations
from sdpa_cli.sandbox.program import failure

_LOCK_SECONDS = 60.0


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

    def end(self, patience: float = 0.0) -> Ending:
        """Kill what still runs after so many seconds, and clear it away. Once."""


class Launcher(Protocol):
    """Starts locked processes."""

    def wait_until_ready(self) -> None:
        """Returns when the level has been tried out. Raises `SandboxError` when it does not hold."""

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
        channel.setblocking(False)  # with a timeout, each call would set the mode and wait, whether it has to or not
        self._channel = channel
        self._readable = select.poll()
        self._readable.register(channel, select.POLLIN)
        self._handle = handle
        self._reap = reap
        self._ahead = bytearray()

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it."""
        try:
            if (sent := self._send_at_once(data)) < len(data):
                self._channel.settimeout(left_until(deadline))
                self._channel.sendall(memoryview(data)[sent:])
                self._channel.setblocking(False)
        except (BrokenPipeError, ConnectionResetError):
            raise EOFError from None

    def _send_at_once(self, data: bytes) -> int:
        try:
            return self._channel.send(data)
        except BlockingIOError:
            return 0

    def receive(self, size: int, deadline: float) -> bytes:
        """Exactly `size` bytes."""
        while len(self._ahead) < size:
            if not self._readable.poll(1000 * left_until(deadline)):
                raise TimeoutError
            try:
                piece = self._channel.recv(1 << 16)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise EOFError
            self._ahead += piece
        data = bytes(self._ahead[:size])
        del self._ahead[:size]
        return data

    def end(self, patience: float = 0.0) -> Ending:
        """Kill, and have it reaped."""
        self._channel.close()
        select.select([self._handle], [], [], patience)
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


def locked(child: Child) -> Child:
    """The child once it has said that it is locked; what it says before it has read a submission can be believed."""
    from sdpa_cli.sandbox.inside import wire  # NumPy: by now it is needed

    with suppress(EOFError, TimeoutError):
        _, kind, _ = wire.HEADER.unpack(child.receive(wire.HEADER.size, time.monotonic() + _LOCK_SECONDS))
        if kind == wire.JAILED:
            return child
    ending = child.end()
    raise failure("sandbox-unsafe", f"the sandbox does not hold here (status {ending.code}); nothing was run in it")
