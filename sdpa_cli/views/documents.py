"""JSON and YAML: everything that was computed, at full precision, written row by row so that no part is ever large."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.computing import Computed, Matrix, Verdict, read, shape_of
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.reading import in_parts, wanted

SCHEMA_VERSION = 1
# Indented, since a YAML value must stand further in than its key.
SEPARATOR = ",\n   "
BEYOND_ASCII = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True)
class Notation:
    """How JSON and YAML differ: in how they write numbers and text."""

    number: Callable[[float], str]
    text: Callable[[str], str]


def json_pieces(results: Iterable[Computed], shown: Shown) -> Iterator[str]:
    """One JSON document, in pieces.

    Numbers that are not finite are the strings ``"inf"``, ``"-inf"`` and ``"nan"``, which Python's `float` reads.

    Parameters
    ----------
    results, shown
        What was computed, and what of it the reader asks for.
    """
    yield f'{{"schema_version": {SCHEMA_VERSION}, "cases": ['
    for number, result in enumerate(results):
        lead = ",\n{" if number else "\n{"
        for key, pieces in _entries(result, shown, JSON):
            yield f'{lead}"{key}": '
            yield from pieces
            lead = ",\n "
        yield "}"
    yield "\n]}\n"


def yaml_pieces(results: Iterable[Computed], shown: Shown) -> Iterator[str]:
    """The same content as one YAML document, in pieces; numbers that are not finite are ``.inf``, ``-.inf``, ``.nan``.

    Parameters
    ----------
    results, shown
        What was computed, and what of it the reader asks for.
    """
    yield f"schema_version: {SCHEMA_VERSION}\ncases:\n"
    for result in results:
        lead = "- "
        for key, pieces in _entries(result, shown, YAML):
            yield f"{lead}{key}: "
            yield from pieces
            yield "\n"
            lead = "  "


def _entries(result: Computed, shown: Shown, notation: Notation) -> Iterator[tuple[str, Iterable[str]]]:
    """The keys of one case and their values, each value in pieces."""
    yield "title", [_value(result.case.title, notation)]
    yield "shapes", [_value(result.attention.shapes, notation)]
    if shown.rows is not None or shown.cols is not None:
        yield "window", [_value(_window(result, shown), notation)]
    if "scores" in shown.matrices or "weights" in shown.matrices:
        yield "mask", _mask(result, shown) if result.forbidden else ["null"]
    for name in shown.matrices:
        yield name, _matrix(result, name, shown, notation)
    rows, _ = wanted(result, "output", shown)
    yield "lse", [_value(result.attention.lse[..., rows].tolist(), notation)]
    yield "expect", [_value(_expectation(result), notation)]


def _matrix(result: Computed, name: Matrix, shown: Shown, notation: Notation) -> Iterator[str]:
    rows, cols = wanted(result, name, shown)

    def lines(leading: tuple[int, ...]) -> Iterator[str]:
        one = result.attention.at(*leading)
        return (_row(row, notation) for part in in_parts(partial(read, one, name), rows, cols) for row in part)

    return _nested(shape_of(result.attention, name)[:-2], lines)


def _mask(result: Computed, shown: Shown) -> Iterator[str]:
    rows, cols = wanted(result, "scores", shown)

    def lines(leading: tuple[int, ...]) -> Iterator[str]:
        one = result.attention.at(*leading)
        return (json.dumps(row.tolist()) for part in in_parts(one.forbidden, rows, cols) for row in part)

    return _nested(shape_of(result.attention, "scores")[:-2], lines)


def _nested(
    sizes: tuple[int, ...], lines: Callable[[tuple[int, ...]], Iterator[str]], leading: tuple[int, ...] = ()
) -> Iterator[str]:
    """Nested lists: one level for each leading axis, then one line for each row."""
    yield "["
    if not sizes:
        for number, line in enumerate(lines(leading)):
            yield f"{SEPARATOR if number else ''}{line}"
    for index in range(sizes[0] if sizes else 0):
        yield SEPARATOR if index else ""
        yield from _nested(sizes[1:], lines, (*leading, index))
    yield "]"


def _row(values: NDArray[Any], notation: Notation) -> str:
    if notation is JSON and np.isfinite(values).all():
        return json.dumps(values.tolist())
    return f"[{', '.join(map(notation.number, values.tolist()))}]"


def _window(result: Computed, shown: Shown) -> dict[str, Any]:
    """Which part of each matrix is written, in 0-based indices."""
    chosen = {name: wanted(result, name, shown) for name in shown.matrices}
    return {name: {"rows": rows.tolist(), "cols": cols.tolist()} for name, (rows, cols) in chosen.items()}


def _expectation(result: Computed) -> dict[str, Any] | None:
    if result.case.expect is None:
        return None
    tolerance = result.case.expect.tolerance
    verdicts: dict[str, Any] = {verdict.name: _verdict(verdict) for verdict in result.verdicts}
    return {"holds": result.holds, "atol": tolerance.atol, "rtol": tolerance.rtol, **verdicts}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    worst = None if verdict.difference is None else asdict(verdict.difference)
    return {"holds": worst is None, "largest_error": verdict.error, "worst": worst}


def _value(value: Any, notation: Notation) -> str:
    """A small value on one line, in the syntax that JSON and YAML share."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{notation.text(key)}: {_value(item, notation)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, notation) for item in value)}]"
    if isinstance(value, float):
        return notation.number(value)
    return notation.text(value) if isinstance(value, str) else json.dumps(value)


def _json_number(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'"{value}"'


def _yaml_number(value: float) -> str:
    if not math.isfinite(value):
        return f".{value}".replace(".-", "-.")
    # Without a point, YAML 1.1 reads 1e-05 as text.
    mantissa, exponent, power = repr(value).partition("e")
    return f"{mantissa}.0{exponent}{power}" if exponent and "." not in mantissa else repr(value)


def _yaml_text(text: str) -> str:
    """Double-quoted and in ASCII. Unlike JSON, YAML does not join two surrogates into one character."""
    return BEYOND_ASCII.sub(_yaml_escape, json.dumps(text, ensure_ascii=False))


def _yaml_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


JSON = Notation(_json_number, json.dumps)
YAML = Notation(_yaml_number, _yaml_text)
