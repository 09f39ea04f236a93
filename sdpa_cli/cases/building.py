"""From the values of a document to a `Case`: what its fields say together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sdpa_cli.attention import Mask, Window
from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.attention.placement import continuing
from sdpa_cli.cases.case import Array, Case, Expectation
from sdpa_cli.cases.expecting import expectation_problems
from sdpa_cli.cases.lowering import ARRAYS, Lowered, lower, score_function
from sdpa_cli.cases.nodes import named
from sdpa_cli.cases.numbers import decimal_comma
from sdpa_cli.cases.schema import CASE, default
from sdpa_cli.cases.source import Source, Steps
from sdpa_cli.errors import InputError, Problem

Values = dict[str, Any]

_PLAIN = ("title", "scale", "softcap", "block_size")
_CHOICES = ("dtype", "empty_rows", "nonfinite")
_NEVER_TOO_WIDE = ("mask", "V", "memory", "position_ids")
"""Fields that decimal commas cannot be the matter with: any number of columns fits, or the entries are whole."""
_NAMED = 20
"""Numbers too large for float32 that are named, of each matrix."""


def build(source: Source, values: Values) -> tuple[Case | None, list[Problem]]:
    """Put a case together, and say everything that is wrong with it.

    Parameters
    ----------
    source
        The document.
    values
        What could be read of its fields. Without Q, K or V there is no case, and nothing more to say.

    Returns
    -------
    case, problems
        The case is worth nothing while there are problems.
    """
    if not any(all(name in values for name in names) for names in CASE.alternatives):
        return None, []
    dtype = values.get("dtype", default("dtype"))
    wide = {name: values[name] for name in ARRAYS if name in values}
    arrays = dict(zip(wide, in_dtype(tuple(wide.values()), dtype), strict=True))
    problems = [*_overflows(arrays, wide, dtype), *_mask_means_problems(values)]
    try:
        case = _assembled(source, values, lower(values, arrays, _mask(values)))
    except InputError as error:
        return None, problems + [_in_file(problem, source, values) for problem in error.problems]
    problems += _label_problems(case, values)
    fitting = _attention_problems(case, values)
    return case, problems + (fitting or list(expectation_problems(case)))


def _assembled(source: Source, values: Values, lowered: Lowered) -> Case:
    heads, cached = lowered.heads, lowered.cached
    chosen: dict[str, Any] = {name: values.get(name, default(name)) for name in _CHOICES}
    chosen |= {name: values.get(name) for name in _PLAIN}
    tokens = values.get("tokens")
    return Case(
        source=source,
        q=heads.q,
        k=heads.k,
        v=heads.v,
        mask=continuing(_mask(values), cached),
        query_labels=values.get("queries", tokens and tokens[cached:]),
        key_labels=values.get("keys", tokens),
        bias=values.get("bias"),
        expect=_expectation(values.get("expect")),
        alibi=values.get("alibi", False),
        score=score_function(values),
        placement=lowered.placement,
        layer=lowered.layer,
        cached=cached,
        decode=values.get("decode", False),
        **chosen,
    )


def in_dtype(arrays: tuple[Array, ...], dtype: str) -> tuple[Array, ...]:
    """Make attention compute these arrays in a dtype, converting as little as possible.

    The engine computes in float64 as soon as one of its inputs needs that, and converts the others tile by tile. So
    one input decides for float64, and the smallest costs least; float32 needs all of them.
    """
    if dtype == "float32":
        with np.errstate(over="ignore"):
            return tuple(a if a.dtype in (np.float16, np.float32) else np.asarray(a, np.float32) for a in arrays)
    if any(a.dtype.kind in "iu" or a.dtype == np.float64 for a in arrays):
        return arrays
    smallest = min(range(len(arrays)), key=lambda i: arrays[i].nbytes)
    return tuple(np.asarray(a, np.float64) if i == smallest else a for i, a in enumerate(arrays))


def _mask(values: Values) -> Mask:
    given = values.get("mask", default("mask"))
    if isinstance(given, np.ndarray):
        return Mask(forbidden=~given if values.get("mask_means") == "allowed" else given)
    if isinstance(given, str):
        return Mask(causal=given == "causal")
    parts = dict(given)
    if "allowed" in parts:
        parts["forbidden"] = ~parts.pop("allowed")
    if "window" in parts:
        parts["window"] = Window(**parts["window"])
    return Mask(**parts)


def _expectation(values: Values | None) -> Expectation | None:
    if values is None:
        return None
    bounds = {name: values[name] for name in ("atol", "rtol") if name in values}
    matrices = {name: values.get(name) for name in ("scores", "weights", "heads", "concatenated", "output")}
    return Expectation(**matrices, tolerance=Tolerance(**bounds))


def _overflows(narrow: dict[str, Array], wide: dict[str, Array], dtype: str) -> Iterator[Problem]:
    """Numbers that float64 holds and float32 does not."""
    if dtype == "float64":
        return
    for name in wide:
        if narrow[name] is wide[name]:
            continue
        for index in np.argwhere(np.isinf(narrow[name]) & np.isfinite(wide[name]))[:_NAMED]:
            steps: Steps = (name, *(int(i) for i in index))
            message = f"{named(steps)}: {wide[name][tuple(index)]:g} is too large for float32"
            yield Problem("float32-overflow", message, "a magnitude up to 3.403e38", "use dtype: float64", steps)


def _mask_means_problems(values: Values) -> Iterator[Problem]:
    given = values.get("mask")
    if values.get("mask_means") == "allowed" and given is not None and not isinstance(given, np.ndarray):
        hint = "a mapping says allowed: or forbidden: itself; leave mask_means out"
        message = "mask_means: allowed says how to read a matrix, and mask is no matrix"
        yield Problem("mask-means", message, "mask: a matrix of 0 and 1", hint, ("mask_means",))


def _label_problems(case: Case, values: Values) -> Iterator[Problem]:
    queries, keys = case.q.shape[-2], case.k.shape[-2]
    if "tokens" in values and queries + case.cached != keys:
        message = f"tokens label queries and keys alike, but Tq = {queries} and Tk = {keys}"
        yield Problem("labels", message, hint="use queries: and keys: instead", path=("tokens",))
        return
    for name, letters, count in (("tokens", "Tk", keys), ("queries", "Tq", queries), ("keys", "Tk", keys)):
        labels = values.get(name, ())
        if name in values and len(labels) != count:
            letters = letters if case.cached or name != "tokens" else "Tq"
            message = f"{name} has {len(labels)} labels, but {letters} = {count}"
            yield Problem("labels", message, f"{count} labels", path=(name,))


def _attention_problems(case: Case, values: Values) -> list[Problem]:
    """What attention itself has against the values."""
    try:
        inputs = case.inputs()
    except InputError as error:
        # Q and K are what a layer made of X, and what was cached counts.
        computed_with = values | {"Q": case.q, "K": case.k}
        return [_in_file(problem, case.source, computed_with) for problem in error.problems]
    if not case.decode:
        return []
    from sdpa_cli.attention.decoding import order_problems

    return order_problems(inputs)


def _in_file(problem: Problem, source: Source, values: Values) -> Problem:
    """A problem of the engine, in the words of the case file."""
    mask = values.get("mask")
    if problem.path == ("mask", "forbidden") and isinstance(mask, dict) and "allowed" in mask:
        problem = replace(problem, path=("mask", "allowed"))
    if problem.path[:1] == ("score",) and isinstance(values.get("score"), dict) and "additive" in values["score"]:
        problem = replace(problem, path=("score", "additive", *problem.path[1:]))
    if problem.code == "query-offset":
        problem = replace(problem, hint=f"{problem.hint}; write {_with_offset(mask)}")
    if problem.code == "shape-mismatch" and (suspects := _perhaps_too_wide(problem, values)):
        places = source.locate_all(suspects).values()
        commas = (decimal_comma(place.source[place.column - 1 :]) for place in places)
        hint = "; ".join(filter(None, (next(filter(None, commas), None), problem.hint)))
        problem = replace(problem, hint=hint or None)
    return problem


def _perhaps_too_wide(problem: Problem, values: Values) -> list[Steps]:
    """The matrices of a problem in which decimal commas may have made columns: they make no rows and no axes."""
    name = problem.path[0]
    if name in _NEVER_TOO_WIDE:
        return []
    if name == "K":
        width = {matrix: values[matrix].shape[-1] for matrix in ("Q", "K")}
        return [(matrix,) for matrix in width if width[matrix] > min(width.values())]
    if name == "bias":
        return [("bias",)] if values["bias"].shape[-1] > values["K"].shape[-2] else []
    return [problem.path, ("X",) if "X" in values else ("Q",)]


def _with_offset(mask: Any) -> str:
    """How the case file says where the queries stand: the mask that is there, with one part more."""
    if isinstance(mask, dict):
        return "query_offset: 0 among the parts of the mask"
    return f"mask: {{{'causal: true, ' if mask == 'causal' else ''}query_offset: 0}}"
