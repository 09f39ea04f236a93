"""The zygote: holds NumPy, never sees a submission, and forks one locked child for each.

It is the only thread of its process, so that a fork copies a process at rest.
"""

from __future__ import annotations

import gc
import os
import select
import socket
from collections.abc import Callable
from dataclasses import dataclass

from sdpa_cli.sandbox.inside import kernel, landlock, lock, orders
from sdpa_cli.sandbox.inside.channel import Channel
from sdpa_cli.sandbox.inside.serve import Service

_CHANNEL = 3
_MOST_FILES = 4096
_IDLE_SECONDS = 0.05


@dataclass(frozen=True)
class Walls:
    """What every child is locked behind besides its rations."""

    fence: int | None
    """A Landlock ruleset's descriptor."""
    program: bytes
    """A seccomp program, empty for none."""


def try_out(walls: Walls) -> None:
    """Lock a child that serves nobody, and have it try the door: what holds for it holds for all that follow.

    Where the lock cannot be closed, or does not hold, that child says so and the zygote ends.
    """
    zygote = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _lock(zygote, None, lock.Rations(cpu_seconds=10, memory_bytes=1 << 30, open_files=32), walls)
            if walls.program:
                lock.try_the_door()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(orders.UNSAFE)
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(orders.UNSAFE)


def run(control: socket.socket, walls: Walls, warm_up: Callable[[], bool]) -> None:
    """Serve the parent's orders until it hangs up; `warm_up` works a bit in idle time, False when done."""
    service = Service(Channel(_CHANNEL, _CHANNEL))
    control.send(orders.READY)
    gc.collect()
    gc.freeze()  # or the first collection in each child would copy every page
    while True:
        while not select.select([control], [], [], _IDLE_SECONDS)[0] and warm_up():
            gc.freeze()
        order, passed, _, _ = socket.recv_fds(control, 64, 1)
        if order[:1] == orders.SPAWN:
            _spawn(control, passed[0], lock.Rations(*orders.RATIONS.unpack(order[1:])), walls, service)
        elif order[:1] == orders.REAP:
            _, status, used = os.wait4(int(order[1:]), 0)
            control.send(orders.ENDING.pack(status, int(1e6 * (used.ru_utime + used.ru_stime))))
        else:
            return


def _spawn(control: socket.socket, channel: int, rations: lock.Rations, walls: Walls, service: Service) -> None:
    zygote = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            _lock(zygote, channel, rations, walls)
            service.run()
        finally:
            os._exit(orders.UNSAFE)
    os.close(channel)
    handle = os.pidfd_open(child)  # nobody else reaps it, so its number cannot have passed to another
    socket.send_fds(control, [b"%d" % child], [handle])
    os.close(handle)


def _lock(zygote: int, channel: int | None, rations: lock.Rations, walls: Walls) -> None:
    lock.die_with(zygote)
    if walls.fence is not None or walls.program:
        kernel.no_new_privileges()
    if walls.fence is not None:
        landlock.restrict(walls.fence)
    if channel is not None:
        os.dup2(channel, _CHANNEL)
    os.closerange(_CHANNEL + 1, _MOST_FILES)
    lock.ration(rations)
    if walls.program:
        kernel.load_filter(walls.program)
