"""One submission in its locked process: load it, call it, run its tests. Whatever it does, an `Outcome` comes back."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from sdpa_cli.sandbox.callbacks import Provided
from sdpa_cli.sandbox.children import Child, Ending
from sdpa_cli.sandbox.inside import wire
from sdpa_cli.sandbox.limits import Limits
from sdpa_cli.sandbox.outcome import Fault, Kind, Outcome
from sdpa_cli.sandbox.program import SandboxError
from sdpa_cli.sandbox.text import clean
from sdpa_cli.signals import signal_name

MAX_TESTS = 200
_DYING_SECONDS = 1.0
"""From the end of its words to its own end; by then it has crashed or exited, or it has only closed the channel."""
_MAX_REQUEST = 1 << 30
_ROOM = 1 << 16
"""Bytes for the frames' own words around a value of the largest size."""
_MAX_NAME = 200
_MAX_MESSAGE = 2000


class _FloodError(Exception):
    pass


class _TooBigError(Exception):
    pass


class Submission:
    """A loaded submission. Made by `Sandbox.open`; a context manager, at whose end its process is no more.

    Parameters
    ----------
    child
        A process that has said that it is locked.
    files
        Source by file name; the first is loaded, called and tested, the others are there for it to import.
    provided
        Functions of the parent that the files may import.
    """

    def __init__(self, child: Child, files: Mapping[str, bytes], provided: Provided, limits: Limits) -> None:
        self._child = child
        self._files = files
        self._provided = provided
        self._limits = limits
        self._left = limits.submission_seconds
        self._ending: Ending | None = None
        self._printed = bytearray()
        self._printed_size = 0
        self._most = {
            wire.PRINTED: wire.MAX_PRINTED,
            wire.CALLBACK: provided.most_bytes,
            wire.RETURNED: limits.reply_bytes + _ROOM,
            wire.RAISED: wire.MAX_ERROR,
            wire.MISSING: 0,
            wire.TOO_BIG: 0,
        }
        names = tuple(files)
        body = (names, tuple(files.values()), tuple(provided.names), provided.most_bytes, limits.reply_bytes)
        self.load = self._ask(wire.OPEN, body)
        """What came of loading it."""
        if self.load.kind is not Kind.RETURNED:
            self.close()

    def call(
        self, function: str, args: Sequence[wire.Value] = (), kwargs: Mapping[str, wire.Value] | None = None
    ) -> Outcome:
        """Call a function of the first file. It gets copies of the arrays, which it may change.

        Raises
        ------
        TypeError
            An argument is of a kind that cannot be sent.
        """
        return self._ask(wire.CALL, (function, tuple(args), tuple((kwargs or {}).items())))

    def tests(self) -> tuple[str, ...]:
        """The names of the first file's tests, in their order; none when it could not be asked."""
        names = self._ask(wire.LIST, None).value
        if not isinstance(names, tuple):
            return ()
        return tuple(
            dict.fromkeys(name for name in names[:MAX_TESTS] if isinstance(name, str) and len(name) < _MAX_NAME)
        )

    def run_tests(self) -> dict[str, Outcome]:
        """Run each test of the first file: RETURNED is a test that passed, RAISED one that failed."""
        return {clean(name): self.call(name) for name in self.tests()}

    def close(self) -> None:
        """End its process."""
        if self._ending is None:
            self._ending = self._child.end()

    def __enter__(self) -> Submission:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except SandboxError:
            if error is None:  # otherwise that error, Ctrl-C say, is the one to be told
                raise

    def _ask(self, kind: bytes, body: object) -> Outcome:
        if self._ending is not None:
            return Outcome(Kind.GONE, detail="an earlier outcome had ended it")
        self._printed, self._printed_size = bytearray(), 0
        before = self._provided.calls
        started = time.monotonic()
        deadline = started + min(self._limits.call_seconds, self._left)
        outcome = self._exchange(kind, wire.encode_exactly(body, _MAX_REQUEST), deadline)
        self._left -= time.monotonic() - started
        printed = clean(self._printed.decode("utf-8", "replace")) if self._printed else ""
        return replace(outcome, printed=printed, callbacks=self._provided.calls - before)

    def _exchange(self, kind: bytes, body: bytes, deadline: float) -> Outcome:
        try:
            request = secrets.token_bytes(16)  # no reply can be made before the question is known
            self._child.send(wire.HEADER.pack(request, kind, len(body)) + body, deadline)
            return self._answer(request, deadline)
        except TimeoutError:
            self.close()
            return Outcome(Kind.TIMEOUT, detail=f"no answer after {self._limits.call_seconds:g} s")
        except EOFError:
            self._ending = self._child.end(_DYING_SECONDS)
            return _of_ending(self._ending, self._limits)
        except _FloodError:
            self.close()
            return Outcome(Kind.FLOODED, detail=f"printed more than {self._limits.printed_bytes} bytes")
        except _TooBigError:
            self.close()
            return Outcome(Kind.TOO_BIG, detail=f"more than {self._limits.reply_bytes} bytes")
        except wire.WireError as error:
            self.close()
            return Outcome(Kind.GARBLED, detail=str(error))

    def _answer(self, request: bytes, deadline: float) -> Outcome:
        while True:
            kind, data = self._frame(request, deadline)
            if kind == wire.PRINTED:
                self._keep(data)
            elif kind == wire.CALLBACK:
                answer_kind, answer = self._provided.answer(data)
                self._child.send(wire.HEADER.pack(request, answer_kind, len(answer)) + answer, deadline)
            elif kind == wire.RETURNED:
                return _returned(data)
            elif kind == wire.RAISED:
                return _raised(data, self._files)
            elif kind == wire.MISSING:
                return Outcome(Kind.MISSING)
            else:
                raise _TooBigError

    def _frame(self, request: bytes, deadline: float) -> tuple[bytes, bytes]:
        got, kind, size = wire.HEADER.unpack(self._child.receive(wire.HEADER.size, deadline))
        if got != request or kind not in self._most:
            raise wire.WireError("a frame that answers nothing")
        if size > self._most[kind]:
            if kind == wire.RETURNED:
                raise _TooBigError
            raise wire.WireError("a frame too long")
        return kind, self._child.receive(size, deadline)

    def _keep(self, data: bytes) -> None:
        self._printed_size += wire.HEADER.size + len(data)  # empty frames are a flood, too
        self._printed += data[: max(0, self._limits.shown_bytes - len(self._printed))]
        if self._printed_size > self._limits.printed_bytes:
            raise _FloodError


def _returned(data: bytes) -> Outcome:
    reply: Any = wire.decode(data)
    match reply:
        case (value, ()):
            return Outcome(Kind.RETURNED, _tidy(value))
        case (value, tuple(changed)) if all(isinstance(key, int | str) for key in changed):
            return Outcome(Kind.RETURNED, _tidy(value), changed=changed)
        case _:
            raise wire.WireError("a reply without its parts")


def _raised(data: bytes, files: Mapping[str, bytes]) -> Outcome:
    reply: Any = wire.decode(data)
    match reply:
        case (str(kind), str(message), file, line, tuple(bases)):
            known = isinstance(file, str) and file in files and type(line) is int and 0 < line < 1 << 20
            kinds = tuple(clean(base, 80) for base in bases if isinstance(base, str))
            fault = Fault(clean(kind, 80), clean(message, _MAX_MESSAGE), bases=kinds)
            fault = replace(fault, file=file, line=line) if known else fault
            if "SystemExit" in (kind, *kinds):
                return Outcome(Kind.EXITED, error=fault, detail="SystemExit")
            return Outcome(Kind.RAISED, error=fault)
        case _:
            raise wire.WireError("an error without its parts")


def _tidy(value: wire.Value) -> wire.Value:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, wire.Opaque):
        return wire.Opaque(clean(value.description, 200))
    if isinstance(value, tuple):
        return tuple(map(_tidy, value))
    return list(map(_tidy, value)) if isinstance(value, list) else value


def _of_ending(ending: Ending, limits: Limits) -> Outcome:
    if ending.code >= 0:
        return Outcome(Kind.EXITED, detail=f"exit status {ending.code}")
    name = signal_name(-ending.code)
    spent = ending.cpu_seconds is not None and ending.cpu_seconds >= limits.cpu_seconds - 0.1
    if name == "SIGXCPU" or (name == "SIGKILL" and spent):
        return Outcome(Kind.TIMEOUT, detail=f"more than {limits.cpu_seconds} s of processor time")
    return Outcome(Kind.CRASHED, detail=f"signal {name}")
