"""The parent's end of a zygote: one warm interpreter behind the walls, a forked child for each submission (Linux)."""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import threading

from sdpa_cli.sandbox import bubblewrap, filters
from sdpa_cli.sandbox.children import Ending, SocketChild
from sdpa_cli.sandbox.inside import orders
from sdpa_cli.sandbox.inside.lock import Rations
from sdpa_cli.sandbox.levels import Level
from sdpa_cli.sandbox.program import SandboxError, environment, failure, interpreter, settings_frame

_START_SECONDS = 60.0
_END_SECONDS = 5.0


class Zygote:
    """Starts at once and gets ready in the background."""

    def __init__(self, level: Level) -> None:
        python = interpreter()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        command = python.command(theirs.fileno())
        if level >= Level.L3:
            command = [*bubblewrap.prefix(shutil.which("bwrap") or "bwrap", python), *command]
        self._process = subprocess.Popen(  # noqa: S603 # no shell, and every word of it is ours
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env=environment(),
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # Ctrl-C is for the parent, who then closes
        )
        theirs.close()
        # The interpreter imports NumPy meanwhile: it reads its settings after that.
        self._order(
            landlock=level >= Level.L2,
            reads=level != Level.L1,
            seccomp=filters.program(reads=level >= Level.L2).hex() if level >= Level.L1 else "",
        )

    def _order(self, **settings: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(settings_frame(settings))
            self._process.stdin.close()
        except BrokenPipeError:  # it has failed already; whoever waits for it hears why
            pass

    def wait_until_ready(self) -> None:
        """Its trial child has been locked in, and has tried the door."""
        self._control.settimeout(_START_SECONDS)
        try:
            ready = self._control.recv(64) == orders.READY
        except OSError:
            ready = False
        if not ready:
            raise self._failed()

    def spawn(self, rations: Rations) -> SocketChild:
        """Fork a child. Threads may share the zygote."""
        ours, theirs = socket.socketpair()
        spawn = orders.SPAWN + orders.RATIONS.pack(rations.cpu_seconds, rations.memory_bytes, rations.open_files)
        with self._lock, theirs:
            try:
                socket.send_fds(self._control, [spawn], [theirs.fileno()])
                answer, handles, _, _ = socket.recv_fds(self._control, 64, 1)
                child = int(answer)
            except (OSError, ValueError):
                ours.close()
                raise self._failed() from None
        return SocketChild(ours, handles[0], lambda: self._reap(child))

    def _reap(self, child: int) -> Ending:
        with self._lock:
            try:
                self._control.send(orders.REAP + b"%d" % child)
                status, microseconds = orders.ENDING.unpack(self._control.recv(64))
            except (OSError, struct.error):
                raise self._failed() from None
        return Ending(os.waitstatus_to_exitcode(status), microseconds / 1e6)

    def _failed(self) -> SandboxError:
        self._control.close()
        assert self._process.stderr is not None
        if self._process.stderr.closed:
            return failure("sandbox-closed", "the sandbox has been closed")
        said = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return failure("sandbox-failed", f"the sandbox ended: {said[-1] if said else 'it did not say why'}")

    def close(self) -> None:
        """End it. At the end of its orders it ends, and whatever lives in its walls with it."""
        self._control.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()
