"""Functions of the parent that a student's tests may call, without their code or answers ever being in the jail."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdpa_cli.sandbox.inside import wire
from sdpa_cli.sandbox.limits import Limits

Function = Callable[..., object]
_BYTES_OF_A_NUMBER = 8
_ROOM = 1 << 16


class Provided:
    """What the parent computes on a submission's behalf, counted and bounded.

    Parameters
    ----------
    functions
        By ``module.function``, as the submission imports it; ``attention`` alone is short for ``attention.attention``.
    """

    def __init__(self, functions: Mapping[str, Function], limits: Limits) -> None:
        self._functions = {name if "." in name else f"{name}.{name}": call for name, call in functions.items()}
        self._limits = limits
        self.calls = 0
        self.most_bytes = limits.callback_numbers * _BYTES_OF_A_NUMBER + _ROOM
        """Of one call. The other side is told, and raises before it sends more."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them as ``module.function``."""
        return tuple(self._functions)

    def answer(self, data: bytes) -> tuple[bytes, bytes]:
        """The kind and body of the answer to a call.

        Raises
        ------
        WireError
            The call is not one that the stand-in of a provided function makes.
        """
        call: Any = wire.decode(data)
        match call:
            case (str(name), tuple(args), tuple(items)) if name in self._functions and _are_keywords(items):
                self.calls += 1
                return self._answer(name, args, dict(items))
            case _:
                raise wire.WireError("a call of something that was not provided")

    def _answer(self, name: str, args: tuple[wire.Value, ...], kwargs: dict[str, wire.Value]) -> tuple[bytes, bytes]:
        numbers = sum(_numbers(value) for value in (*args, *kwargs.values()))
        if self.calls > self._limits.callbacks:
            return _refused("RuntimeError", f"more than {self._limits.callbacks} calls")
        if numbers > self._limits.callback_numbers:
            most = self._limits.callback_numbers
            return _refused("ValueError", f"a test may send at most {most} numbers in one call; these are {numbers}")
        try:
            with np.errstate(all="ignore"):  # a student's numbers are no reason to warn the teacher
                answer = self._functions[name](*args, **kwargs)
            return wire.ANSWER, wire.encode_exactly(answer, self._limits.reply_bytes)
        except Exception as error:  # whatever the right function makes of a student's arguments is the answer
            return _refused(_builtin_name(error), str(error)[:500])


def _are_keywords(items: tuple[Any, ...]) -> bool:
    return all(isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) for item in items)


def _numbers(value: wire.Value) -> int:
    if isinstance(value, tuple | list):
        return sum(_numbers(item) for item in value)
    return value.size if isinstance(value, np.ndarray) else 1


def _refused(kind: str, message: str) -> tuple[bytes, bytes]:
    return wire.REFUSAL, wire.encode((kind, message))


def _builtin_name(error: Exception) -> str:
    """The nearest class that both sides know."""
    names: list[str] = [kind.__name__ for kind in type(error).__mro__ if vars(builtins).get(kind.__name__) is kind]
    return names[0]
