"""The command line: a module per command, which loads, computes and shows. Only this room knows Typer."""

from __future__ import annotations

import gc
import os
import signal
import sys

# What a shell reports of a process that a signal ended.
INTERRUPTED = 130
TERMINATED = 143


class Terminated(BaseException):
    """Somebody asked this process to end: what was being written is cleared away first."""


def main() -> None:
    """The ``sdpa`` command: run it and exit."""
    # Importing NumPy takes half the time when its BLAS starts no threads. What the user has set, stays.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported lives on: to look for cycles in it, now and when the process ends, takes a tenth of a short run.
    gc.set_threshold(200_000)
    signal.signal(signal.SIGTERM, _terminate)
    status = run(sys.argv[1:])
    gc.freeze()
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Run one command line, and say all there is to say.

    Parameters
    ----------
    arguments
        As the shell gives them, without the program's name.

    Returns
    -------
    int
        The exit status.
    """
    try:
        # Typer is imported here, so that an interrupt is as clean in that moment as in any other.
        from sdpa_cli.cli.application import invoke

        return invoke(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Terminated:
        return TERMINATED


def _terminate(_: int, __: object) -> None:
    raise Terminated
