"""What the signals that end a process are called."""

from __future__ import annotations

from signal import Signals


def signal_name(number: int) -> str:
    """The name of a signal, or its number where it has none, as a real-time signal.

    Examples
    --------
    >>> signal_name(11), signal_name(40)
    ('SIGSEGV', '40')
    """
    return Signals(number).name if number in set(Signals) else str(number)
