"""A case as the text of a case file, so that what failed can be computed and explained."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.cases import Case


def case_text(case: Case, title: str) -> str:
    """The text of a file that holds a case.

    Examples
    --------
    >>> from sdpa_cli.attention import Mask
    >>> from sdpa_cli.cases import Source
    >>> one = np.array([[1.0, -0.5]])
    >>> print(case_text(Case(Source("", ""), one, one, one, Mask(causal=True)), "an example"), end="")
    title: "an example"
    Q: [[1.0, -0.5]]
    K: [[1.0, -0.5]]
    V: [[1.0, -0.5]]
    mask: {causal: true}
    """
    return "".join(f"{key}: {value}\n" for key, value in _fields(case, title))


def _fields(case: Case, title: str) -> Iterator[tuple[str, str]]:
    yield "title", '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'
    yield "Q", _matrix(case.q)
    yield "K", _matrix(case.k)
    yield "V", _matrix(case.v)
    if parts := ", ".join(f"{key}: {value}" for key, value in _mask_parts(case)):
        yield "mask", f"{{{parts}}}"
    if case.bias is not None:
        yield "bias", _matrix(case.bias)
    for name, value, usual in (
        ("scale", case.scale, None),
        ("softcap", case.softcap, None),
        ("block_size", case.block_size, None),
        ("dtype", case.dtype, "float64"),
        ("empty_rows", case.empty_rows, "error"),
        ("nonfinite", case.nonfinite, "error"),
    ):
        if value != usual:
            yield name, str(value)


def _mask_parts(case: Case) -> Iterator[tuple[str, str]]:
    mask = case.mask
    if mask.causal:
        yield "causal", "true"
    if mask.query_offset is not None:
        yield "query_offset", str(mask.query_offset)
    if mask.window is not None:
        sides = {"left": mask.window.left, "right": mask.window.right}
        yield "window", f"{{{', '.join(f'{side}: {reach}' for side, reach in sides.items() if reach is not None)}}}"
    if mask.key_lengths is not None:
        yield "key_lengths", str(np.asarray(mask.key_lengths).tolist())
    if mask.padding_side != "right":
        yield "padding_side", mask.padding_side
    for name in ("segments", "query_segments", "stride", "global_tokens"):
        if (value := getattr(mask, name)) is not None:
            yield name, str(np.asarray(value).tolist())
    if mask.forbidden is not None:
        yield "forbidden", _matrix(mask.forbidden)


def _matrix(array: NDArray[Any]) -> str:
    return _nested(np.asarray(array).tolist())


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return repr(value)
