"""A Dask cluster as an executor: the one way past this machine, for computing and for grading."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from sdpa_cli.errors import InputError, Problem

LOCAL = "local"
"""The address that stands for a cluster started here, for as long as it is used: a worker per core."""
PATIENCE = 10
"""Seconds until a scheduler that does not answer is given up."""


@contextmanager
def executor_on(address: str) -> Iterator[Executor]:
    """An executor whose tasks run on a Dask cluster.

    What a lost worker had in hand is done again by another: that is Dask's doing.

    Parameters
    ----------
    address
        A scheduler's, such as ``tcp://10.0.0.5:8786``; or ``local``.

    Yields
    ------
    concurrent.futures.Executor
        Usable until the context ends.

    Raises
    ------
    InputError
        If Dask is not installed, nothing answers at the address, its workers do not see the files, or it loses one
        worker after another over the same task.

    References
    ----------
    .. [1] M. Rocklin, "Dask: Parallel Computation with Blocked algorithms and Task Scheduling", SciPy 2015.
    """
    with _client(address) as client, _told():
        # Not pure: a submission graded twice must run twice, and hashing large arrays to find out would cost more.
        yield client.get_executor(pure=False)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        # By name, because Dask comes without types.
        distributed: Any = import_module("distributed")
    except ImportError:
        hint = "pip install distributed"
        raise InputError(Problem("no-dask", "a cluster needs Dask, which is not installed", hint=hint)) from None
    # Dask tells of lost and leaving workers in its log; whoever uses the cluster gets the result, or an error.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if address == LOCAL:
            quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
            address = stack.enter_context(distributed.LocalCluster(threads_per_worker=1, **quiet)).scheduler_address
        yield stack.enter_context(_connected(distributed.Client, address))


def _connected(client: Any, address: str) -> Any:
    try:
        return client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).split("\n")[0]
        raise InputError(
            Problem(
                "no-scheduler",
                f"no Dask scheduler answers at {address}: {reason}",
                expected="an address such as tcp://10.0.0.5:8786, or local",
                hint="start one with: dask scheduler",
            )
        ) from None


@contextmanager
def _told() -> Iterator[None]:
    """What went wrong over there, in words of ours."""
    killed_worker = import_module("distributed.scheduler").KilledWorker
    try:
        yield
    except killed_worker as error:
        message = f"the cluster lost {error.allowed_failures + 1} workers over the same task"
        hint = "see the workers' own logs; the usual cause is too little memory"
        raise InputError(Problem("workers-lost", message, hint=hint)) from None
    except RuntimeError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        message = f"a worker of the cluster cannot read a file of the case: {error.__cause__.strerror}"
        hint = "keep the files where every worker finds them under the same path"
        raise InputError(Problem("file-not-shared", message, hint=hint)) from None
