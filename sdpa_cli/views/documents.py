"""JSON and YAML: everything that was computed, at full precision, written row by row so that no part is ever large."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.computing import Computed, Matrix, Verdict, axes_of, window
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.reading import in_parts, wanted
from sdpa_cli.views.settings import shapes

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
    yield "shapes", [_value(shapes(result), notation)]
    if (shown.rows, shown.cols, shown.heads) != (None, None, None):
        yield "window", [_value(_window(result, shown), notation)]
    if {"mask", "scores", "weights"}.intersection(shown.matrices):
        yield "mask", _mask(result, shown) if result.forbidden else ["null"]
    if "mask" in shown.matrices:
        yield "reasons", [_value(_reasons(result, shown), notation)]
    for name in shown.of(result):
        if name != "mask":
            yield name, _matrix(result, name, shown, notation)
    yield "lse", [_value(_lse(result, shown), notation)]
    if result.cache is not None:
        cache = {"before": result.cache.before, "kept": result.cache.kept, "bytes": result.cache.nbytes}
        yield "cache", [_value(cache, notation)]
    yield "expect", [_value(_expectation(result), notation)]


def _matrix(result: Computed, name: Matrix, shown: Shown, notation: Notation) -> Iterator[str]:
    rows, cols = wanted(result, name, shown)

    def lines(leading: tuple[int, ...]) -> Iterator[str]:
        return (_row(row, notation) for part in in_parts(window(result, name, leading), rows, cols) for row in part)

    return _nested(shown.leading(result, name), lines)


def _mask(result: Computed, shown: Shown) -> Iterator[str]:
    rows, cols = wanted(result, "scores", shown)

    def lines(leading: tuple[int, ...]) -> Iterator[str]:
        parts = in_parts(window(result, "mask", leading), rows, cols)
        return (json.dumps(row.tolist()) for part in parts for row in part)

    return _nested(shown.leading(result, "mask"), lines)


def _reasons(result: Computed, shown: Shown) -> dict[str, Any]:
    """For each part of the mask, the cells that it forbids."""
    found = result.attention.reasons(*wanted(result, "mask", shown))
    return {name: _chosen_heads(result, shown, cells).tolist() for name, cells in found.items()}


def _lse(result: Computed, shown: Shown) -> Any:
    rows, _ = wanted(result, "output", shown)
    return _chosen_heads(result, shown, result.attention.lse[..., rows]).tolist()


def _chosen_heads(result: Computed, shown: Shown, values: NDArray[Any]) -> NDArray[Any]:
    """Values of all heads as those of the wanted ones."""
    axes = axes_of(result, "scores")
    if shown.heads is None or "head" not in axes:
        return values
    return np.take(values, shown.leading(result, "scores")[axes.index("head")], axis=axes.index("head"))


def _nested(
    axes: list[Sequence[int]], lines: Callable[[tuple[int, ...]], Iterator[str]], leading: tuple[int, ...] = ()
) -> Iterator[str]:
    """Nested lists: one level for each leading axis, then one line for each row."""
    yield "["
    if not axes:
        for number, line in enumerate(lines(leading)):
            yield f"{SEPARATOR if number else ''}{line}"
    for number, index in enumerate(axes[0] if axes else ()):
        yield SEPARATOR if number else ""
        yield from _nested(axes[1:], lines, (*leading, index))
    yield "]"


def _row(values: NDArray[Any], notation: Notation) -> str:
    if notation is JSON and np.isfinite(values).all():
        return json.dumps(values.tolist())
    return f"[{', '.join(map(notation.number, values.tolist()))}]"


def _window(result: Computed, shown: Shown) -> dict[str, Any]:
    """Which part of each matrix is written, in 0-based indices."""
    chosen = {name: wanted(result, name, shown) for name in shown.of(result)}
    written: dict[str, Any] = {
        name: {"rows": rows.tolist(), "cols": cols.tolist()} for name, (rows, cols) in chosen.items()
    }
    if shown.heads is None:
        return written
    return {"head": list(shown.leading(result, "scores")[axes_of(result, "scores").index("head")]), **written}


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
