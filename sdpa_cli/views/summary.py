"""What was done, in one line each: shapes, scale, mask and every setting that is not the default."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sdpa_cli.attention import Additive, Linear
from sdpa_cli.computing import Computed, Matrix, axes_of, deciding_axes, shape_of
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.numbers import brief, counted
from sdpa_cli.views.settings import (
    cache_words,
    joined,
    layer_lines,
    mask_parts,
    named_shapes,
    product,
    score_words,
    slope_words,
)
from sdpa_cli.views.wrapping import BETWEEN_PARTS

ALL_OF = {"batch": "batch entries", "head": "heads"}


def title(computed: Computed, glyphs: Glyphs) -> str:
    """What the case is called: its own title, or else the file it is in."""
    case = computed.case
    if case.title is not None:
        return glyphs.shown(case.title)
    document = f", case {case.source.document}" if case.source.document > 1 else ""
    return f"{glyphs.shown(case.source.name)}{document}"


def summary(computed: Computed, glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """Names of the settings and what they are, as they are to be shown.

    Parameters
    ----------
    computed
        What was computed.
    glyphs
        The signs that may be used.
    """
    case, attention = computed.case, computed.attention
    yield from layer_lines(case)
    yield "shapes", BETWEEN_PARTS.join(named_shapes(computed))
    if case.score is not None:
        yield "score", score_words(case.score)
    if not isinstance(case.score, Additive | Linear):
        yield "scale", _scale(computed, glyphs)
    if case.softcap is not None:
        yield "softcap", f"{brief(case.softcap)}, before bias and mask"
    if case.bias is not None:
        yield "bias", f"added to the scores, shape ({joined(case.bias.shape)})"
    if case.alibi:
        yield "alibi", f"slope {glyphs.times} distance taken off the scores; {slope_words(computed)}"
    yield "mask", _mask(computed)
    if computed.cache is not None:
        yield "cache", cache_words(computed.cache)
    if attention.dtype.name != "float64":
        yield "dtype", attention.dtype.name
    if case.block_size is not None:
        yield "block", f"{counted(case.block_size, 'key')} at a time"


def formula(computed: Computed, name: Matrix, glyphs: Glyphs) -> str:
    """How a matrix comes about, in the case's own terms."""
    layer = computed.case.layer
    of_heads = {
        "mask": f"why a key is forbidden; {glyphs.tick} where it is allowed",
        "scores": f"S = {_scores(computed, glyphs)}",
        "weights": "A = softmax(S), row by row",
        "heads": f"O = A{glyphs.times}V",
        "concatenated": "C = the heads side by side",
    }
    if name != "output":
        return of_heads[name]
    if layer is None:
        return f"O = A{glyphs.times}V"
    heads = "A V" if layer.projections.heads is None else "C"
    made = f"{heads.replace(' ', glyphs.times)}{'' if layer.projections.W_O is None else f'{glyphs.times}W_O'}"
    return f"O = {made}{'' if layer.projections.b_O is None else ' + b_O'}"


def _scores(computed: Computed, glyphs: Glyphs) -> str:
    case = computed.case
    scores = product(case.score, glyphs)
    if case.score is None and case.scale is None:
        scores = f"{scores}/{glyphs.root.format('d_k')}"
    elif case.scale is not None:
        scores = f"{brief(case.scale)}{glyphs.times}{scores}"
    if case.softcap is not None:
        cap = brief(case.softcap)
        scores = f"{cap}{glyphs.times}tanh({scores}/{cap})"
    scores = f"{scores}{' + bias' if case.bias is not None else ''}"
    return f"{scores} - slope{glyphs.times}distance" if case.alibi else scores


def place_words(computed: Computed, name: Matrix, leading: tuple[int, ...]) -> list[str]:
    """Which batch entry and head, counted from 1; nothing for a single matrix."""
    places = list(zip(axes_of(computed, name), leading, shape_of(computed, name), strict=False))
    deciding = deciding_axes(computed, name)
    shared = [ALL_OF[axis] for n, (axis, _, size) in enumerate(places) if n not in deciding and size > 1]
    words = [f"{axis} {i + 1} of {size}" for n, (axis, i, size) in enumerate(places) if n in deciding or size == 1]
    return [*words, f"the same for all {' and '.join(shared)}"] if shared else words


def _scale(computed: Computed, glyphs: Glyphs) -> str:
    value = brief(computed.attention.scale)
    if computed.case.scale is not None or computed.case.score is not None:
        return value
    return f"1/{glyphs.root.format(computed.attention.shapes['Q'][-1])} = {value}"


def _mask(computed: Computed) -> str:
    words = "; ".join(mask_parts(computed.case.mask)) or "none"
    cells = math.prod(shape_of(computed, "scores"))
    if words == "none":
        return words
    return f"{words}: {computed.forbidden} of {cells} cells forbidden"
