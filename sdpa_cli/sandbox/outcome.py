"""What came of one thing asked of a submission."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from sdpa_cli.sandbox.inside.wire import Value


class Kind(StrEnum):
    """How it ended."""

    RETURNED = "returned"
    RAISED = "raised"
    EXITED = "exited"
    """It ended its process, or tried to (`SystemExit`)."""
    CRASHED = "crashed"
    """A signal ended its process: a segmentation fault, an abort."""
    TIMEOUT = "timeout"
    FLOODED = "flooded"
    """It printed more than the limit."""
    TOO_BIG = "too-big"
    """What it returned is larger than the limit."""
    GARBLED = "garbled"
    """It wrote to the channel what no honest submission writes."""
    MISSING = "missing"
    """It defines no such function."""
    GONE = "gone"
    """Not asked: an earlier outcome had ended the submission, or it had not loaded."""


@dataclass(frozen=True)
class Fault:
    """An exception in a submission. Every text in it is the student's, cleaned."""

    type: str
    message: str
    file: str | None = None
    line: int | None = None
    """The last line of the submission's own files on the way to it, from 1."""
    bases: tuple[str, ...] = ()
    """Python's own exceptions that it is a kind of, by the submission's word: ``ValueError``, ``Exception``, …"""


@dataclass(frozen=True)
class Outcome:
    """What came of loading a submission, or of one call. The parent judges it; nothing in it is a verdict."""

    kind: Kind
    value: Value = None
    """What was returned: arrays (read-only), numbers, text, None, tuples and lists of these, `Opaque` for the rest."""
    error: Fault | None = None
    detail: str = ""
    """More about the end, in the tool's words: ``signal SIGSEGV``, ``exit status 3``."""
    printed: str = ""
    """Standard output and standard error as they came, cleaned and cut."""
    changed: tuple[int | str, ...] = ()
    """Arguments whose array was changed in place, by position (from 0) or name."""
    callbacks: int = 0
    """How often it called the functions provided to it; counted by the parent."""

    @property
    def arrays(self) -> tuple[np.ndarray, ...] | None:
        """The value as a tuple of arrays, one array being a tuple of one; None when it is anything else."""
        import numpy as np

        values = self.value if isinstance(self.value, tuple | list) else (self.value,)
        arrays = tuple(value for value in values if isinstance(value, np.ndarray))
        return arrays if len(arrays) == len(values) else None
