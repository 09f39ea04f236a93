"""How a problem travels to another process: mapped arrays by their file, repeated ones once, all others by value."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class MappedArray:
    """Where in a file an array lies, so that another process maps it too, and no data is sent.

    The file must be there for that process, under the same path.
    """

    path: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def open(self) -> Array:
        """The array, mapped read-only."""
        whole = np.memmap(self.path, np.uint8, mode="r")
        return np.ndarray(self.shape, self.dtype, whole, self.offset, self.strides)


@dataclass(frozen=True)
class RepeatedArray:
    """An array that is broadcast to a shape: its own data are sent once."""

    array: Any
    shape: tuple[int, ...]

    def open(self) -> Array:
        """The array, broadcast."""
        return np.broadcast_to(opened(self.array), self.shape)


def packed(value: Any) -> Any:
    """A value as it travels: unchanged, unless it is an array that need not be sent whole."""
    if not isinstance(value, np.ndarray):
        return value
    repeated = [stride == 0 and length > 1 for stride, length in zip(value.strides, value.shape, strict=True)]
    if any(repeated):
        own = value[tuple(slice(0, 1) if again else slice(None) for again in repeated)]
        return RepeatedArray(packed(own), value.shape)
    source = _source(value)
    if source is None:
        return np.ascontiguousarray(value)
    offset = source.offset + value.__array_interface__["data"][0] - source.__array_interface__["data"][0]
    return MappedArray(str(source.filename), value.dtype, value.shape, value.strides, offset)


def opened(value: Any) -> Any:
    """A value as it was before it was `packed`."""
    return value.open() if isinstance(value, MappedArray | RepeatedArray) else value


def _source(array: Array) -> np.memmap[Any, Any] | None:
    """The memory map that an array is a view of, if others see the same data in its file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and isinstance(base.base, mmap.mmap):
            return base if base.filename is not None and base.mode != "c" else None
        base = base.base
    return None


class Shipped:
    """A dataclass of arrays that travels as `packed` says."""

    def but(self, **changes: Any) -> Self:
        """`dataclasses.replace`, in a quarter of the time: it is done for each call and for each region."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changes)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: packed(value) for name, value in self.__dict__.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, opened(value))
