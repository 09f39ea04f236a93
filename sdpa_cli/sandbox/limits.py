"""What one submission may use up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Ends of patience. A submission that passes one is stopped, and its outcome says which."""

    call_seconds: float = 5.0
    """Wall time of loading, and of each call."""
    submission_seconds: float = 60.0
    """Wall time of all of them together; the parent's own time in between does not count."""
    cpu_seconds: int = 10
    """Processor time of the whole submission; the kernel counts it."""
    memory_bytes: int = 1 << 30
    """Address space, with the interpreter's and NumPy's share (about 300 MiB)."""
    open_files: int = 32
    reply_bytes: int = 64 << 20
    """The largest value that may come back."""
    printed_bytes: int = 1 << 20
    """Printed text by which a call is a flood."""
    shown_bytes: int = 1 << 16
    """Printed text that is kept."""
    callbacks: int = 1000
    """Calls of provided functions in the whole submission."""
    callback_numbers: int = 8192
    """Numbers in one such call's arguments: T of them can make the parent compute T² / 4 scores."""
