"""Serving one submission from behind the lock: load it, call it, list its tests, until the parent hangs up."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType, TracebackType
from typing import Any, NoReturn

import numpy as np

from sdpa_cli.sandbox.inside import pytesting, wire
from sdpa_cli.sandbox.inside.channel import Channel, leave, text_stream
from sdpa_cli.sandbox.inside.loading import Shelf, Stub

MAX_TESTS = 200
BROKEN = 70
"""Exit status when the submission broke the loop around it."""


class Service:
    """The loop around a submission. Made before the fork, whose child then only runs it.

    Parameters
    ----------
    channel
        Where the requests of that child will come from.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._streams = (text_stream(channel), text_stream(channel))
        self._actions = {wire.OPEN: self._open, wire.CALL: self._call, wire.LIST: self._list}
        self._files: Mapping[str, bytes] = {}
        self._module: ModuleType | None = None
        self._limit = 0

    def run(self) -> NoReturn:
        """Say that the lock is closed, then answer until the parent ends it."""
        self._channel.reply(wire.JAILED, b"")
        sys.stdout, sys.stderr = self._streams
        try:
            while True:
                self.answer_one()
        except BaseException:
            leave(BROKEN)

    def answer_one(self) -> None:
        """Wait for a request, and reply to it after all that it printed."""
        kind, body = self._channel.request()
        answer = self._answer(kind, body)
        for stream in self._streams:
            stream.flush()
        self._channel.reply(*answer)

    def _answer(self, kind: bytes, body: Any) -> tuple[bytes, bytes]:
        try:
            return self._actions[kind](body)
        except wire.TooBigError:
            return wire.TOO_BIG, b""
        except BaseException as error:
            return wire.RAISED, _described(error, self._files)

    def _open(self, body: Any) -> tuple[bytes, bytes]:
        names, sources, provided, most_sent, self._limit = body
        self._files = dict(zip(names, sources, strict=True))
        stubs: dict[str, dict[str, Stub]] = {}
        for target in provided:
            module, _, function = target.partition(".")
            stubs.setdefault(module, {})[function] = _stub(self._channel, target, most_sent)
        shelf = Shelf(self._files, stubs)
        sys.meta_path.insert(0, shelf)
        self._module = shelf.main()
        return wire.RETURNED, wire.encode((None, ()))

    def _list(self, _: Any) -> tuple[bytes, bytes]:
        names = list(pytesting.tests_of(vars(self._module)))[:MAX_TESTS]
        return wire.RETURNED, wire.encode((tuple(names), ()), self._limit)

    def _call(self, body: Any) -> tuple[bytes, bytes]:
        name, sent_args, sent_kwargs = body
        function = pytesting.find(vars(self._module), name)
        if function is None:
            return wire.MISSING, b""
        args = [_own(value) for value in sent_args]
        kwargs = {key: _own(value) for key, value in sent_kwargs}
        inputs = [*zip(range(len(args)), args, sent_args, strict=True)]
        inputs += [(key, kwargs[key], sent) for key, sent in sent_kwargs]
        result = function(*args, **kwargs)
        changed = tuple(key for key, now, sent in inputs if _differs(now, sent))
        return wire.RETURNED, wire.encode((result, changed), self._limit)


def _own(value: object) -> object:
    return value.copy() if isinstance(value, np.ndarray) else value


def _differs(now: object, sent: object) -> bool:
    # The submission could forge this answer. It would gain what a copy of its input gives it, at more trouble.
    if not isinstance(now, np.ndarray) or not isinstance(sent, np.ndarray):
        return False
    return now.shape != sent.shape or now.tobytes() != sent.tobytes()  # bytes: a NaN differs from itself


def _stub(channel: Channel, target: str, most: int) -> Stub:
    def provided(*args: object, **kwargs: object) -> object:
        sent = (target, _arrays(args), tuple(_items(kwargs)))
        channel.reply(wire.CALLBACK, _sendable(sent, most))
        kind, value = channel.request()
        if kind == wire.ANSWER:
            return _unframed(value)
        name, message = value
        error = getattr(builtins, str(name), RuntimeError)
        raise error(message)

    provided.__name__ = provided.__qualname__ = target.rpartition(".")[2]
    return provided


def _sendable(sent: object, most: int) -> bytes:
    """A call as bytes, or the student's own error: a longer frame would be taken for a disturbance of the channel."""
    with suppress(wire.TooBigError):
        body = wire.encode(sent, most)
        if len(body) <= most:  # the frames around the values count, too
            return body
    raise ValueError(f"a test may send at most {most >> 10} KiB in one call; this is more")


def _arrays(args: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(np.asarray(value) if isinstance(value, list) else value for value in args)


def _items(kwargs: dict[str, object]) -> list[tuple[str, object]]:
    return list(zip(kwargs, _arrays(tuple(kwargs.values())), strict=True))


def _unframed(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_unframed(item) for item in value)
    return _own(value)


def _described(error: BaseException, files: Mapping[str, bytes]) -> bytes:
    kind = type(error).__name__[:80]
    bases = tuple(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)[:500]
    except BaseException:  # an exception may fail at being printed, too
        message = "(its message cannot be printed)"
    file, line = _where(error.__traceback__, files)
    if isinstance(error, SyntaxError) and error.filename in files:
        file, line = error.filename, error.lineno
    return wire.encode((kind, message, file, line, bases), wire.MAX_ERROR)


def _where(trace: TracebackType | None, files: Mapping[str, bytes]) -> tuple[str | None, int | None]:
    place: tuple[str | None, int | None] = (None, None)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return place
