"""The settings of a case in words: its layer, shapes, score function, mask and cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from sdpa_cli.attention import Additive, Dot, General, Linear, Mask
from sdpa_cli.attention.score_functions import Score
from sdpa_cli.cases import Case
from sdpa_cli.computing import Cache, Computed, axes_of
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.numbers import brief, counted

AXES = {"batch": "B", "head": "H"}
LETTERS = {"Q": ("Tq", "d_k"), "K": ("Tk", "d_k"), "V": ("Tk", "d_v")}
SHOWN = 8
"""Numbers of a list that are named; the others are counted."""


def shapes(computed: Computed) -> dict[str, tuple[int, ...]]:
    """The shapes of everything: of the matrices of a layer, of Q, K and V as they were given, of scores and outputs."""
    case = computed.case
    given = {"Q": case.q.shape, "K": case.k.shape, "V": case.v.shape}
    made_of = {}
    if case.layer is not None:
        embeddings = {"X": case.layer.x} | ({} if case.layer.memory is None else {"memory": case.layer.memory})
        made_of = {name: array.shape for name, array in (embeddings | case.layer.projections.arrays).items()}
    return made_of | computed.attention.shapes | given


def named_shapes(computed: Computed) -> Iterator[str]:
    """Q, K and V with a letter for each axis: ``K (H_kv=2, Tk=3, d_k=4)``."""
    case = computed.case
    lead = [AXES[axis] for axis in axes_of(computed, "scores")]
    lead = ["N"] if lead == ["B"] and case.layer is None else lead
    d_q = "d_q" if isinstance(case.score, General | Additive) and case.q.shape[-1] != case.k.shape[-1] else "d_k"
    for name, array in (("Q", case.q), ("K", case.k), ("V", case.v)):
        letters = [*lead, *LETTERS[name]]
        if name == "Q":
            letters[-1] = d_q
        if lead and lead[-1] == "H" and array.shape[-3] != case.q.shape[-3]:
            letters[len(lead) - 1] = "H_kv"
        sizes = zip(letters, array.shape, strict=True)
        yield f"{name} ({', '.join(f'{letter}={size}' for letter, size in sizes)})"


def layer_lines(case: Case) -> Iterator[tuple[str, str]]:
    """What Q, K and V were made of, and how positions were told."""
    layer, placement = case.layer, case.placement
    if layer is not None:
        heads, kv_heads = layer.projections.heads, layer.projections.kv_heads
        count = "one head" if heads is None else f"{counted(heads, 'head')}, {kv_heads} for keys and values"
        source = "" if layer.memory is None else f", memory ({joined(layer.memory.shape)})"
        yield "layer", f"X ({joined(layer.x.shape)}){source}; {count}"
    told = []
    if placement.added is not None:
        told.append("sinusoids" if isinstance(placement.added, str) else "learned vectors")
        told[-1] += " added to X"
    if (rope := placement.rope) is not None:
        part = "" if rope.dim is None else f", the first {rope.dim} components"
        told.append(f"Q and K turned, {rope.pairing} pairs{part}, base {rope.base:g}")
    if told:
        yield "place", "; ".join(told)


def score_words(score: Score) -> str:
    """What a score function is called."""
    names = {
        Dot: "dot product, not scaled",
        General: "general: a dot product through W",
        Additive: "additive: a network with one hidden layer",
        Linear: "linear attention: shares in proportion to the similarity itself, not to its exponential",
    }
    return names[type(score)]


def product(score: Score | None, glyphs: Glyphs) -> str:
    """What becomes of a query and a key before scale, cap and bias."""
    transposed = glyphs.transposed
    if isinstance(score, General):
        return f"QWK{transposed}"
    if isinstance(score, Additive):
        return f"v{glyphs.times}tanh(QW_q + KW_k)"
    return f"log elu1(Q)elu1(K){transposed}" if isinstance(score, Linear) else f"QK{transposed}"


def slope_words(computed: Computed) -> str:
    """The slopes of ALiBi, head by head."""
    slopes = computed.attention.inputs.slopes
    assert slopes is not None
    return f"slopes {_some([brief(slope) for slope in slopes[0].ravel()])}"


def mask_parts(mask: Mask) -> Iterator[str]:
    """Each part of a mask that is in use."""
    if mask.causal:
        yield "causal"
    if mask.window is not None:
        left, right = ("unlimited" if side is None else str(side) for side in (mask.window.left, mask.window.right))
        yield f"window {left} left, {right} right"
    if mask.stride is not None:
        yield f"every key at a multiple of {mask.stride}"
    if mask.global_tokens is not None:
        yield f"global tokens at {_some(map(str, mask.global_tokens))}"
    if mask.query_offset is not None:
        yield f"first query at position {mask.query_offset}"
    if mask.key_lengths is not None:
        lengths = _some(map(str, np.ravel(np.asarray(mask.key_lengths))))
        yield f"key lengths {lengths}{', padding on the left' if mask.padding_side == 'left' else ''}"
    if mask.segments is not None:
        yield f"documents {_some(map(str, np.ravel(np.asarray(mask.segments))))}"
    if mask.forbidden is not None:
        yield f"given cell by cell, shape ({joined(mask.forbidden.shape)})"


def cache_words(cache: Cache) -> str:
    """How much was cached."""
    before = f"{counted(cache.before, 'token')} before; " if cache.before else ""
    steps = (
        f"{_some(map(str, cache.kept))} at each step; "
        if len(cache.kept) > 1
        else f"{counted(cache.kept[-1], 'token')}; "
    )
    return f"{before}{steps}{cache.nbytes} bytes"


def joined(shape: tuple[int, ...]) -> str:
    """A shape, without its brackets."""
    return ", ".join(map(str, shape))


def _some(words: Iterable[str]) -> str:
    every = list(words)
    shown = every[:SHOWN]
    return ", ".join([*shown, f"and {len(every) - SHOWN} more"] if len(every) > SHOWN else shown)
