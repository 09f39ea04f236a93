"""What was done, in one line each: shapes, scale, mask and every setting that is not the default."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sdpa_cli.attention.masks import Mask
from sdpa_cli.computing import Computed, Matrix, shape_of
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.numbers import brief

LEADING = {0: (), 1: ("N",), 2: ("B", "H")}
LETTERS = {"Q": ("Tq", "d_k"), "K": ("Tk", "d_k"), "V": ("Tk", "d_v")}


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
    yield "shapes", "   ".join(_shape(name, attention.shapes) for name in LETTERS)
    yield "scale", _scale(computed, glyphs)
    if case.softcap is not None:
        yield "softcap", f"{brief(case.softcap)}, before bias and mask"
    if case.bias is not None:
        yield "bias", f"added to the scores, shape ({_joined(case.bias.shape)})"
    yield "mask", _mask(computed)
    if attention.dtype.name != "float64":
        yield "dtype", attention.dtype.name
    if case.block_size is not None:
        yield "block", f"{case.block_size} keys at a time"


def formula(computed: Computed, name: Matrix, glyphs: Glyphs) -> str:
    """How a matrix comes about, in the case's own terms."""
    case = computed.case
    if name == "weights":
        return "A = softmax(S), row by row"
    if name == "output":
        return f"O = A{glyphs.times}V"
    scores = f"QK{glyphs.transposed}"
    if case.scale is None:
        scores = f"{scores}/{glyphs.root.format('d_k')}"
    else:
        scores = f"{brief(case.scale)}{glyphs.times}{scores}"
    if case.softcap is not None:
        cap = brief(case.softcap)
        scores = f"{cap}{glyphs.times}tanh({scores}/{cap})"
    return f"S = {scores}{' + bias' if case.bias is not None else ''}"


def place_words(computed: Computed, leading: tuple[int, ...]) -> list[str]:
    """Which batch entry and head, counted from 1; nothing for a single matrix."""
    sizes = shape_of(computed.attention, "output")[:-2]
    names = {0: (), 1: ("batch",), 2: ("batch", "head")}[len(sizes)]
    return [f"{name} {i + 1} of {size}" for name, i, size in zip(names, leading, sizes, strict=True)]


def _shape(name: str, shapes: dict[str, tuple[int, ...]]) -> str:
    shape = shapes[name]
    letters = [*LEADING[len(shape) - 2], *LETTERS[name]]
    if len(shape) == 4 and shape[1] != shapes["Q"][1]:
        letters[1] = "H_kv"
    return f"{name} ({', '.join(f'{letter}={size}' for letter, size in zip(letters, shape, strict=True))})"


def _scale(computed: Computed, glyphs: Glyphs) -> str:
    value = brief(computed.attention.scale)
    if computed.case.scale is not None:
        return value
    return f"1/{glyphs.root.format(computed.attention.shapes['Q'][-1])} = {value}"


def _mask(computed: Computed) -> str:
    words = "; ".join(_mask_parts(computed.case.mask)) or "none"
    cells = math.prod(shape_of(computed.attention, "scores"))
    if words == "none":
        return words
    return f"{words}: {computed.forbidden} of {cells} cells forbidden"


def _mask_parts(mask: Mask) -> Iterator[str]:
    if mask.causal:
        yield "causal"
    if mask.window is not None:
        left, right = ("unlimited" if side is None else str(side) for side in (mask.window.left, mask.window.right))
        yield f"window {left} left, {right} right"
    if mask.query_offset is not None:
        yield f"first query at position {mask.query_offset}"
    if mask.key_lengths is not None:
        yield f"key lengths {_lengths(mask)}"
    if mask.forbidden is not None:
        yield f"given cell by cell, shape ({_joined(mask.forbidden.shape)})"


def _lengths(mask: Mask) -> str:
    import numpy as np

    lengths = np.ravel(np.asarray(mask.key_lengths))
    shown = [str(length) for length in lengths[:8]]
    return ", ".join([*shown, f"and {len(lengths) - 8} more"] if len(lengths) > 8 else shown)


def _joined(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape))
