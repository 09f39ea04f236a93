"""What a case gives under another library's habits: what True means, where causality starts, what empty rows give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.rule import MaskRule
from sdpa_cli.cases import Case
from sdpa_cli.explaining.comparing.faults import refuse, walked
from sdpa_cli.explaining.comparing.sides import Sides, parting
from sdpa_cli.explaining.trace import Check, Facts, Link, Part, Step, Table, Trace, Value, words
from sdpa_cli.faults import Recipe
from sdpa_cli.faults.recipe import Array, Given, forbid


@dataclass(frozen=True)
class Library:
    """The habits of a library's attention function."""

    function: str
    url: str
    true_means: Literal["attend", "no-mask"]
    """What a boolean mask's True says; or that it takes no mask but its own flags."""
    causal: Literal["top-left", "bottom-right"]
    empty_rows: Literal["zero", "mean"]


LIBRARIES = {
    "torch": Library(
        "torch.nn.functional.scaled_dot_product_attention",
        "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
        "attend",
        "top-left",
        "zero",
    ),
    "flash": Library(
        "flash_attn.flash_attn_func",
        "https://github.com/Dao-AILab/flash-attention#21-change-behavior-of-causal-flag",
        "no-mask",
        "bottom-right",
        "zero",
    ),
    "onnx": Library(
        "onnx Attention", "https://onnx.ai/onnx/operators/onnx__Attention.html", "attend", "top-left", "zero"
    ),
    "jax": Library(
        "jax.nn.dot_product_attention",
        "https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html",
        "attend",
        "top-left",
        "mean",
    ),
}


def explain_as(name: str, case: Case) -> Trace:
    """Compute a case as another library would if it were handed the case as it is written.

    Parameters
    ----------
    name
        A key of `LIBRARIES`.
    case
        The case.

    Raises
    ------
    InputError
        If the case cannot be computed, or is too large to be walked side by side.
    """
    library = LIBRARIES[name]
    # Rows without a live key are let through: what becomes of them is one of the questions here.
    inputs = replace(case, empty_rows="zero").attend().inputs
    refuse(inputs)
    theirs = Recipe(forbid=lambda given: forbid(handed_over(given, library)), finish=_finish(library))
    titles = (words("side.here"), words("side.there", library=library.function))
    sides = Sides(inputs, Recipe().run(inputs), theirs.run(inputs), titles, (case.query_labels, case.key_labels))
    where = parting(sides)
    steps = [_habits(library, inputs, case)]
    if where is None:
        held = Check(words("as.same", library=library.function), True)
        steps.append(Step("difference", words("as.same-title"), (held,)))
    else:
        steps += walked(sides, where)
    steps.append(Step("translation", words("as.translation"), _translation(library, inputs)))
    return Trace("conventions", name, words("as.title", library=library.function), tuple(steps))


def handed_over(inputs: Inputs, library: Library) -> Inputs:
    """The same problem as a library with other habits understands it."""
    rule = inputs.rule
    if rule.given is not None and library.true_means == "attend":
        rule = replace(rule, given=~rule.given)
    if rule.causal:
        rule = replace(rule, offset=_offset(inputs, library))
    return replace(inputs, rule=rule)


def _offset(inputs: Inputs, library: Library) -> int:
    return 0 if library.causal == "top-left" else inputs.keys - inputs.queries


def _finish(library: Library) -> Callable[[Array, Given], Array]:
    def finish(weights: Array, given: Given) -> Array:
        mean = np.full_like(weights, 1 / weights.shape[-1])
        return np.where(given.alive, weights, mean) if library.empty_rows == "mean" else weights

    return finish


def _habits(library: Library, inputs: Inputs, case: Case) -> Step:
    """The three questions libraries disagree on, and which of them this case raises."""
    rows = (
        (
            "polarity",
            words("as.polarity.here"),
            words(f"as.polarity.{library.true_means}"),
            inputs.rule.given is not None,
        ),
        (
            "causal",
            words("as.causal.here", offset=inputs.rule.offset),
            words(f"as.causal.{library.causal}", offset=_offset(inputs, library)),
            inputs.rule.causal and inputs.rule.offset != _offset(inputs, library),
        ),
        (
            "empty",
            words(f"as.empty.here-{case.empty_rows}"),
            words(f"as.empty.{library.empty_rows}"),
            _any_empty(inputs),
        ),
    )
    columns = tuple(words(f"as.column.{name}") for name in ("question", "here", "there", "matters"))
    answers: tuple[tuple[Value, ...], ...] = tuple(
        (words(f"as.question.{name}"), here, there, words("as.does" if matters else "as.does-not"))
        for name, here, there, matters in rows
    )
    parts: tuple[Part, ...] = (
        words("as.why", library=library.function),
        Table(columns, answers),
        Facts(((words("as.documented"), Link(library.function, library.url)),)),
    )
    return Step("habits", words("as.habits"), parts)


def _any_empty(inputs: Inputs) -> bool:
    return bool(forbid(inputs).all(axis=-1).any())


def _translation(library: Library, inputs: Inputs) -> tuple[Part, ...]:
    """How to hand over this case so that the same comes out."""
    found = _matrix(inputs, library) if library.true_means == "attend" else _flags(inputs, library)
    if _any_empty(inputs):
        found.append(words("as.do.empty"))
    return tuple(found) or (words("as.do.nothing"),)


def _matrix(inputs: Inputs, library: Library) -> list[Part]:
    """For a function that takes a mask matrix, which can say anything, and a causal flag, which says one thing."""
    rule = inputs.rule
    if _beyond_flag(rule) or (rule.causal and rule.given is not None):
        return [words("as.do.matrix")]
    if rule.given is not None:
        return [words("as.do.polarity-attend")]
    return [words("as.do.causal-attend")] if rule.causal and rule.offset != _offset(inputs, library) else []


def _flags(inputs: Inputs, library: Library) -> list[Part]:
    """For a function that takes no mask matrix, but a causal flag and a window."""
    rule, found = inputs.rule, list[Part]()
    if rule.given is not None:
        found.append(words("as.do.polarity-no-mask"))
    if rule.window is not None:
        left, right = (-1 if reach is None else reach for reach in (rule.window.left, rule.window.right))
        found.append(words("as.do.window", left=left, right=right))
    if rule.patterns or rule.starts is not None or rule.lengths is not None:
        found.append(words("as.do.packed"))
    if (rule.causal or rule.window is not None) and rule.offset != _offset(inputs, library):
        found.append(words("as.do.causal-no-mask"))
    return found


def _beyond_flag(rule: MaskRule) -> bool:
    """Whether the mask holds what neither a causal flag nor the case's own matrix says."""
    return rule.window is not None or bool(rule.patterns) or rule.starts is not None or rule.lengths is not None
