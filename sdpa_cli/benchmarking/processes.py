"""One process per engine, spoken to in lines of JSON. The only place where the benchmark starts processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from threading import Thread
from types import TracebackType
from typing import IO, Any

from sdpa_cli.benchmarking.engines import Engine
from sdpa_cli.benchmarking.machine import THREAD_VARIABLES
from sdpa_cli.signals import signal_name

_PATIENCE = 2.0
"""Seconds that a process gets to end by itself."""


class LostError(Exception):
    """An engine's process ended or fell silent. Its message says how."""


class EngineProcess:
    """A fresh interpreter that serves one engine. Ends with its context.

    Parameters
    ----------
    engine
        What it serves.
    threads
        How many threads every library in it is told to use.
    """

    def __init__(self, engine: Engine, threads: int) -> None:
        self._errors: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of this package
            # -P: a torch.py in the user's folder must not stand in for PyTorch.
            [sys.executable, "-P", "-m", "sdpa_cli.benchmarking.worker", engine.module, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
        )
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")  # as at the end of a file: it has ended

    def send(self, request: Mapping[str, Any]) -> None:
        """Ask for something. The answer is had by `receive`."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:  # it has ended; `receive` says how
            pass

    def receive(self, timeout: float) -> dict[str, Any]:
        """Wait for the answer.

        Raises
        ------
        LostError
            Where the process ends, says nothing for `timeout` seconds, or says something else than JSON.
        """
        try:
            line = self._lines.get(timeout=timeout)
        except Empty:
            self._process.kill()
            raise LostError(f"no answer within {timeout:g} s") from None
        if not line:
            raise LostError(self._ending())
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise LostError(f"answered {line.strip()[:60]!r}, which is not its protocol") from None
        return answer

    def _ending(self) -> str:
        code = self._process.wait()
        ending = f"ended with signal {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(words) if line.strip()), "")
        return f"{ending}: {last}" if last else ending

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.close()  # the polite way: a worker ends when nobody can ask any more
            self._process.wait(0 if error else _PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._listener.join(_PATIENCE)
        if not self._listener.is_alive():  # else a process of the library's own still holds the other end
            self._process.stdout.close()
        self._errors.close()
