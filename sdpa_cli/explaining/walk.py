"""One head of one case, as far as it is shown: the values every step of its derivation draws on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdpa_cli.attention import Attention
from sdpa_cli.attention.scores import distances, key_rows, products, scaled_queries
from sdpa_cli.cases import Case
from sdpa_cli.explaining.maths import Term, maths
from sdpa_cli.explaining.selecting import Ints, Selectors, one_head, shown, window
from sdpa_cli.explaining.trace import Array, Axis, Bools, Matrix

_CELLS = 1 << 20
"""Scores that are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A case on its way through the steps. Numbers come from the engine, window by window, whatever the size."""

    case: Case
    whole: Attention
    attention: Attention
    """Of one head alone."""
    leading: tuple[int, ...]
    """Which head that is, 0-based."""
    rows: Ints
    """The queries shown."""
    cols: Ints
    """The keys shown."""
    focus: tuple[int, int]
    """The cell that is worked out."""

    @property
    def q(self) -> Array:
        """``(Tq, d_k)``, as the dot products take it: a score function may have projected it."""
        return np.asarray(self.attention.inputs.q[0, 0, 0])

    @property
    def k(self) -> Array:
        """``(Tk, d_k)``, likewise."""
        return np.asarray(self.attention.inputs.k[0, 0])

    @property
    def v(self) -> Array:
        """``(Tk, d_v)``."""
        return np.asarray(self.attention.inputs.v[0, 0])

    @property
    def kv_leading(self) -> tuple[int, ...]:
        """Which key/value head it reads, as an index into the case's K and V."""
        return (*self.leading[:-1], self.leading[-1] // self.whole.inputs.group) if self.leading else ()

    @property
    def sizes(self) -> dict[str, int]:
        """Tq, Tk, d_k and d_v."""
        return {"Tq": len(self.q), "Tk": len(self.k), "d_k": self.q.shape[1], "d_v": self.v.shape[1]}

    @cached_property
    def products(self) -> Array:
        """QKᵀ, of what is shown."""
        dtype = self.attention.dtype
        with np.errstate(all="ignore"):
            return np.asarray(self.q[self.rows].astype(dtype) @ self.k[self.cols].astype(dtype).T)

    @cached_property
    def scaled(self) -> Array:
        """QKᵀ times the scale; or what another score function makes of queries and keys."""
        inputs = self.attention.inputs
        with np.errstate(all="ignore"):
            if inputs.similarity is None:
                return np.asarray(self.products * inputs.scale)
            queries, keys = scaled_queries(inputs, self.rows), key_rows(inputs, self.cols)
            return np.asarray(inputs.similarity.scores(products(queries, keys), queries, keys)[0, 0, 0])

    @cached_property
    def capped(self) -> Array:
        """The scaled scores after the softcap."""
        cap = self.attention.inputs.options.softcap
        return self.scaled if cap is None else np.asarray(cap * np.tanh(self.scaled / cap))

    @cached_property
    def bias(self) -> Array | None:
        """The additive bias, of what is shown."""
        bias = self.attention.inputs.bias
        return None if bias is None else np.asarray(bias[0, 0, 0][np.ix_(self.rows, self.cols)])

    @cached_property
    def slope(self) -> float | None:
        """ALiBi's slope of this head."""
        slopes = self.attention.inputs.slopes
        return None if slopes is None else float(slopes[0, 0, 0])

    @cached_property
    def biased(self) -> Array:
        """The scores with the case's own bias."""
        return self.capped if self.bias is None else self.capped + self.bias

    @cached_property
    def unmasked(self) -> Array:
        """The scores before the mask."""
        if self.slope is None:
            return self.biased
        return np.asarray(self.biased - self.slope * distances(self.attention.inputs, self.rows, self.cols))

    @cached_property
    def logits(self) -> Array:
        """The scores as they enter the softmax, from the engine."""
        return self.attention.scores(self.rows, self.cols)

    @cached_property
    def forbidden(self) -> Bools:
        """Where the mask forbids."""
        return self.attention.forbidden(self.rows, self.cols)

    @cached_property
    def masked(self) -> bool:
        """Whether the mask forbids anything at all, be it shown or not."""
        return int(self.attention.live_counts().min()) < len(self.k)

    @cached_property
    def maximum(self) -> Array:
        """The largest live score of each row shown, over all keys; −inf where there is no live key."""
        return row_maximum(self.attention, self.rows)

    @cached_property
    def exponentials(self) -> Array:
        """exp(S − m), of what is shown."""
        with np.errstate(all="ignore"):
            return np.asarray(np.exp(self.logits - np.where(np.isneginf(self.maximum), 0, self.maximum)[:, None]))

    @cached_property
    def sums(self) -> Array:
        """The sum of each row's exponentials over all keys; 0 where there is no live key."""
        reference = np.where(np.isneginf(self.maximum), 0, self.maximum)
        return np.asarray(np.exp(self.attention.lse[self.rows] - reference))

    @cached_property
    def weights(self) -> Array:
        """The weights, of what is shown."""
        return self.attention.weights(self.rows, self.cols)

    def at(self, i: int, j: int) -> tuple[int, int]:
        """Where cell (i, j) of the whole stands in the part that is shown."""
        return int(np.flatnonzero(self.rows == i)[0]), int(np.flatnonzero(self.cols == j)[0])

    @property
    def query_axis(self) -> Axis:
        """The rows of the scores."""
        return axis("query", self.rows, len(self.q), self.case.query_labels)

    @property
    def key_axis(self) -> Axis:
        """The columns of the scores."""
        return axis("key", self.cols, len(self.k), self.case.key_labels)

    def over_keys(self, name: Term, values: Array, **look: Any) -> Matrix:
        """A matrix of queries by keys."""
        return Matrix(maths(name), values, self.query_axis, self.key_axis, **look)


def walk(case: Case, selectors: Selectors) -> Walk:
    """Compute a case and choose what of it is shown.

    Raises
    ------
    InputError
        As `Case.attend` does, or where the selectors point outside the case.
    """
    whole = case.attend()
    leading = one_head(whole, selectors)
    attention = whole.at(*leading)
    rows, cols, focus = shown(attention, selectors)
    return Walk(case, whole, attention, leading, rows, cols, focus)


def axis(kind: Any, indices: Ints, size: int, labels: tuple[str, ...] | None = None) -> Axis:
    """An axis that shows these indices."""
    chosen = tuple(int(i) for i in indices)
    return Axis(kind, chosen, size, None if labels is None else tuple(labels[i] for i in chosen))


def features(name: Term, values: Array, rows: Axis, marked: tuple[int, int] | None = None) -> Matrix:
    """A matrix whose columns are components: the first and last of them where there are many."""
    cols = window(values.shape[1])
    return Matrix(maths(name), values[:, cols], rows, axis("component", cols, values.shape[1]), marked=marked)


def row_maximum(attention: Attention, rows: Ints) -> Array:
    """The largest live score of some rows, over all keys, looked at in parts."""
    keys = attention.shapes["S"][-1]
    step = max(1, _CELLS // max(1, len(rows)))
    found = np.full(len(rows), -np.inf, attention.dtype)
    for start in range(0, keys, step):
        part = attention.scores(rows, np.arange(start, min(start + step, keys)))
        np.maximum(found, part.max(axis=-1), out=found)
    return found
