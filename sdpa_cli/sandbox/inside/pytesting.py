"""Finding and naming the tests of a student's file, and the few words of ``pytest`` that such a file uses.

pytest itself is not behind the wall; a file that imports it gets this module's `stand_in`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

Test = Callable[..., object]


def tests_of(names: Mapping[str, object]) -> Iterator[str]:
    """The names of a module's tests in their order: ``test_x``, ``TestY.test_z``, ``test_x[0]`` when parametrised."""
    for name, value in list(names.items()):
        if name.startswith("test") and callable(value):
            yield from _numbered(name, value)
        elif isinstance(value, type) and (name.startswith("Test") or _is_case(value)):
            for method in dir(value):
                if method.startswith("test"):
                    yield from _numbered(f"{name}.{method}", getattr(value, method))


def _numbered(name: str, test: object) -> Iterator[str]:
    if not _is_fixture(test):
        rows = getattr(test, "_rows", None)
        yield from [name] if rows is None else [f"{name}[{index}]" for index in range(len(rows))]


def find(names: Mapping[str, object], name: str) -> Test | None:
    """The function of that name, ready to be called; a test comes with its fixtures, set-up and tear-down."""
    name, _, index = name.removesuffix("]").partition("[")
    owner, _, method = name.partition(".")
    value = names.get(owner)
    if method:
        return partial(_run_in_class, value, method, index, names) if isinstance(value, type) else None
    if not callable(value):
        return None
    return partial(_run, value, _row(value, index), names) if name.startswith("test") else value


def _is_case(value: type) -> bool:
    unittest = sys.modules.get("unittest")
    return unittest is not None and issubclass(value, unittest.TestCase)


def _run_in_class(owner: type, method: str, index: str, names: Mapping[str, object]) -> None:
    case = owner(method) if _is_case(owner) else owner()
    test = getattr(case, method)
    getattr(case, "setUp", getattr(case, "setup_method", _nothing))()
    try:
        _run(test, _row(test, index), names)
    finally:
        getattr(case, "tearDown", getattr(case, "teardown_method", _nothing))()


def _nothing() -> None: ...


def _row(test: Test, index: str) -> Mapping[str, object]:
    """What a parametrised test is given."""
    row: Mapping[str, object] = test._rows[int(index)] if index else {}  # type: ignore[attr-defined]
    return row


def _run(test: Test, row: Mapping[str, object], names: Mapping[str, object], *args: object, **kwargs: object) -> object:
    """Call a test, with a fixture for each argument that is not given, made once and ended after it.

    A function that is asked for may have the name of a test, too: it is given its arguments.
    """
    made: dict[str, object] = {}
    given = {**row, **kwargs}

    def fixture(name: str) -> object:
        if name not in made:
            own = getattr(getattr(test, "__self__", None), name, None)
            source = own if _is_fixture(own) else names.get(name)
            if not (callable(source) and _is_fixture(source)):
                raise LookupError(f"fixture {name!r} not found")
            value = source(**{one: fixture(one) for one in _needed(source)})
            if inspect.isgeneratorfunction(source):
                after.callback(next, value, None)
                value = next(value)
            made[name] = value
        return made[name]

    with ExitStack() as after:
        wanted = [name for name in _needed(test)[len(args) :] if name not in given]
        return test(*args, **given, **{name: fixture(name) for name in wanted})


def _needed(function: Test) -> list[str]:
    """The arguments that a function, or the one that it wraps, cannot be called without."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind in by_name and one.default is one.empty]


def _is_fixture(value: object) -> bool:
    return getattr(value, "_fixture", False) is True


class Raises:
    """``with pytest.raises(ValueError, match=…) as info``."""

    def __init__(self, expected: type[BaseException] | tuple[type[BaseException], ...], match: str | None) -> None:
        self._expected = expected
        self._match = match
        self.value: BaseException | None = None

    def __enter__(self) -> Raises:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> bool:
        import re

        assert kind is not None, f"DID NOT RAISE {self._expected}"
        self.value = value
        if not issubclass(kind, self._expected):
            return False
        assert self._match is None or re.search(self._match, str(value)), f"{self._match!r} not found in the message"
        return True


def raises(
    expected: type[BaseException] | tuple[type[BaseException], ...], *call: object, match: str | None = None
) -> Raises | None:
    """As a context, or with a function and its arguments."""
    if not call:
        return Raises(expected, match)
    with Raises(expected, match):
        call[0](*call[1:])  # type: ignore[operator]
    return None


class Approx:
    """``value == pytest.approx(expected, rel=1e-6, abs=1e-12)``, number or array."""

    __array_ufunc__ = None  # so that array == approx asks us
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expected: object, rel: float = 1e-6, abs: float = 1e-12) -> None:
        self._expected, self._rel, self._abs = np.asarray(expected), rel, abs

    def __eq__(self, actual: object) -> bool:
        array = np.asarray(actual)
        allowed = np.maximum(self._rel * np.abs(self._expected), self._abs)
        return array.shape == self._expected.shape and bool(np.all(np.abs(array - self._expected) <= allowed))


def parametrize(names: str | Iterable[str], rows: Iterable[Any], **_: object) -> Callable[[Test], Test]:
    """``@pytest.mark.parametrize("a, b", [(1, 2), …])``, once per test."""
    keys = [key.strip() for key in names.split(",")] if isinstance(names, str) else list(names)

    def mark(test: Test) -> Test:
        named = [dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)) for row in rows]
        test._rows = [{**before, **after} for before in getattr(test, "_rows", [{}]) for after in named]  # type: ignore[attr-defined]
        return test

    return mark


def fixture(function: Test | None = None, *, scope: str = "function") -> Any:
    """``@pytest.fixture``. Whatever its scope, it is made anew for each test that names it."""
    if function is None:
        return fixture
    function._fixture = True  # type: ignore[attr-defined]
    return function


def stand_in() -> ModuleType:
    """A module to be imported as ``pytest``."""
    module = ModuleType("pytest")
    mark = ModuleType("pytest.mark")
    mark.parametrize = parametrize  # type: ignore[attr-defined]
    vars(module).update(raises=raises, approx=Approx, fixture=fixture, mark=mark)
    return module
