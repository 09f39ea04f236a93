"""A fresh interpreter for each submission, where a process cannot safely fork: macOS, Windows."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from sdpa_cli.sandbox.children import Ending, left_until, locked
from sdpa_cli.sandbox.inside.lock import Rations
from sdpa_cli.sandbox.levels import SANDBOX_EXEC, Level
from sdpa_cli.sandbox.program import Interpreter, environment, interpreter, settings_frame

_PIECE = 1 << 18
_END_SECONDS = 2.0


class Fresh:
    """Starts an interpreter per submission, each with its own locks; costs an import of NumPy every time."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._python = interpreter()

    def wait_until_ready(self) -> None:
        """Try one, as nothing else says whether the level holds."""
        locked(self.spawn(Rations(cpu_seconds=10, memory_bytes=1 << 30, open_files=32))).end()

    def spawn(self, rations: Rations) -> PipeChild:
        """Start an interpreter."""
        before = [str(SANDBOX_EXEC), "-p", _profile(self._python)] if self._level >= Level.L1 else []
        process = subprocess.Popen(  # noqa: S603 # no shell, and every word of it is ours
            [*before, *self._python.command(None)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 # the root, on Windows the drive's
            env=environment(),
            start_new_session=sys.platform != "win32",
            bufsize=0,
        )
        child = PipeChild(process)
        settings = {
            "rations": [rations.cpu_seconds, rations.memory_bytes, rations.open_files],
            "parent": os.getpid(),
            "fenced": self._level >= Level.L1,
            "reads": True,
        }
        child.send(settings_frame(settings), time.monotonic() + 1)
        return child

    def close(self) -> None:
        """Nothing is kept between submissions."""


class PipeChild:
    """A child at the end of two pipes, which no system call of Windows waits for: threads do."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._sink: IO[bytes] = process.stdin
        self._pieces: queue.Queue[bytes] = queue.Queue(maxsize=16)
        self._ahead = bytearray()
        self._reader = threading.Thread(target=self._pump, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _pump(self, source: IO[bytes]) -> None:
        with source:
            while piece := source.read(_PIECE):
                self._pieces.put(piece)
        self._pieces.put(b"")

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of it; killing the child is what ends a write that it does not read."""
        guard = threading.Timer(left_until(deadline), self._process.kill)
        guard.start()
        try:
            view = memoryview(data)
            while view:
                view = view[self._sink.write(view) :]
        except OSError:
            if time.monotonic() >= deadline:
                raise TimeoutError from None
            raise EOFError from None
        finally:
            guard.cancel()

    def receive(self, size: int, deadline: float) -> bytes:
        """Exactly `size` bytes."""
        while len(self._ahead) < size:
            try:
                piece = self._pieces.get(timeout=left_until(deadline))
            except queue.Empty:
                raise TimeoutError from None
            if not piece:
                self._pieces.put(b"")  # it stays ended
                raise EOFError
            self._ahead += piece
        data = bytes(self._ahead[:size])
        del self._ahead[:size]
        return data

    def end(self, patience: float = 0.0) -> Ending:
        """Kill and clear away, both threads' worth."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.kill()
        deadline = time.monotonic() + _END_SECONDS  # for a process of the child's that still holds the pipe
        while self._reader.is_alive() and time.monotonic() < deadline:
            with suppress(queue.Empty):  # the reader may be waiting for room
                self._pieces.get(timeout=0.05)
        self._sink.close()
        return Ending(self._process.wait())


def _profile(python: Interpreter) -> str:
    """The sandbox language of macOS: read Python, NumPy and the system's libraries; write, start and reach nothing."""
    system = [Path("/usr/lib"), Path("/System/Library"), Path("/dev")]
    rules = [
        "(version 1)(deny default)(allow process-exec)(allow sysctl-read)(allow file-read-metadata)",
        f"(allow file-read* {_subpaths(python.prefix, python.executable, *system)})",
        '(deny file-read* (regex #"/(site|dist)-packages/"))',  # the last rule that matches decides
        f"(allow file-read* {_subpaths(python.numpy, python.inside)})",
    ]
    return "".join(rules)


def _subpaths(*paths: Path) -> str:
    return " ".join(f"(subpath {json.dumps(str(path))})" for path in paths)
