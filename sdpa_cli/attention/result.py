"""What an attention gives: outputs, and a view of any window of a score matrix that is never built whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.attention.regions import Region
from sdpa_cli.attention.rule import Bools, Ints
from sdpa_cli.attention.scores import Selection, logits, scaled_queries

Array = NDArray[Any]
_EVERY = slice(None)
_CELLS = 1 << 18
"""Weights that `Attention.row_sums` holds at a time."""


@dataclass(frozen=True, eq=False)
class Attention:
    """The result of `sdpa_cli.attend`. Indices are 0-based.

    Scores and weights are computed when asked for, from the inputs and the row's log-sum-exp: a window of 8 × 8 cells
    costs 64 exponentials, whatever the size of the whole. They are read from the caller's arrays, which must not change
    meanwhile.

    Attributes
    ----------
    output : ndarray
        ``(…, Tq, d_v)``.
    lse : ndarray
        Log-sum-exp of each row of scores, natural logarithm, ``(…, Tq)``. −inf for a row without any live key.
    """

    output: Array
    lse: Array
    _inputs: Inputs
    _reference: Array
    """``m`` of each row's softmax state, ``(B, H_kv, G, Tq)``."""
    _total: Array
    """``l`` of each row's softmax state."""

    @property
    def inputs(self) -> Inputs:
        """What it was computed from, in the engine's axes: for those who walk the same tiles."""
        return self._inputs

    @property
    def dtype(self) -> np.dtype[Any]:
        """What was computed in: float32 or float64."""
        return self._inputs.dtype

    @property
    def scale(self) -> float:
        """What the dot products were multiplied by."""
        return self._inputs.scale

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of Q, K, V, of the scores S and of the output O."""
        inputs, lead = self._inputs, self._inputs.lead
        kv = (*lead[:-1], inputs.k.shape[1]) if lead else ()
        return {
            "Q": (*lead, *inputs.q.shape[-2:]),
            "K": (*kv, *inputs.k.shape[-2:]),
            "V": (*kv, *inputs.v.shape[-2:]),
            "S": (*lead, inputs.queries, inputs.keys),
            "O": (*lead, inputs.queries, inputs.d_v),
        }

    def scores(self, rows: Selection = _EVERY, cols: Selection = _EVERY) -> Array:
        """The logits as they enter the softmax: scaled, capped, biased, −inf where forbidden.

        Parameters
        ----------
        rows, cols
            Which queries and keys, each a slice or a vector of indices.

        Returns
        -------
        ndarray
            ``(…, rows, cols)``.
        """
        return self._public(self._scores(self._rows(rows), self._cols(cols)))

    def weights(self, rows: Selection = _EVERY, cols: Selection = _EVERY) -> Array:
        """The attention weights, exactly 0 where forbidden.

        Parameters
        ----------
        rows, cols
            Which queries and keys, each a slice or a vector of indices.

        Returns
        -------
        ndarray
            ``(…, rows, cols)``.
        """
        return self._public(self._weights(self._rows(rows), self._cols(cols)))

    def forbidden(self, rows: Selection = _EVERY, cols: Selection = _EVERY) -> Bools:
        """Where the mask forbids: ``(…, rows, cols)``, True = forbidden."""
        return self._public(self._forbidden(self._rows(rows), self._cols(cols)))

    def reasons(self, rows: Selection = _EVERY, cols: Selection = _EVERY) -> dict[str, Bools]:
        """Which parts of the mask forbid each cell: ``causal``, ``window``, ``padding``, ``given``, those in use."""
        at, to = self._rows(rows), self._cols(cols)
        found = self._inputs.rule.reasons(at, to)
        return {name: self._public(np.broadcast_to(cells, self._full(at, to))) for name, cells in found.items()}

    def live_counts(self, rows: Selection = _EVERY) -> Ints:
        """How many keys each query may look at, ``(…, rows)``; read off positions where no mask array is given."""
        at = self._rows(rows)
        counts = np.broadcast_to(self._inputs.rule.live_counts(at), (*self._inputs.q.shape[:3], len(at)))
        return counts.reshape(*self._inputs.lead, len(at))

    def at(self, *leading: int) -> Attention:
        """The attention of one entry of the leading axes alone, of rank 2: nothing of the others is read.

        Parameters
        ----------
        *leading
            One 0-based index for each leading axis of Q.
        """
        inputs = self._inputs
        batch = leading[0] if len(leading) == 2 else 0
        kv_head, member = divmod(leading[-1], inputs.q.shape[2]) if leading else (0, 0)
        one = (slice(batch, batch + 1), slice(kv_head, kv_head + 1), slice(member, member + 1))
        part = inputs.part(Region(*one, slice(0, inputs.queries), slice(0, inputs.keys)))
        alone = part.but(lead=(), group=1, origin=(0, 0, 0, 0, 0))
        return Attention(self.output[leading], self.lse[leading], alone, self._reference[one], self._total[one])

    def row_sums(self, rows: Selection = _EVERY) -> Array:
        """The sum of each row of weights, as computed: 1 but for rounding, 0 for a row without any live key.

        Returns
        -------
        ndarray
            ``(…, rows)``.
        """
        at = self._rows(rows)
        sums = np.zeros((*self._inputs.q.shape[:3], len(at)), self.dtype)
        heads = max(1, int(np.prod(sums.shape[:3])))
        tall = max(1, min(len(at), 512))
        wide = max(1, _CELLS // (tall * heads))
        for i in range(0, len(at), tall):
            for j in range(0, self._inputs.keys, wide):
                cols = np.arange(j, min(j + wide, self._inputs.keys))
                sums[..., i : i + tall] += self._weights(at[i : i + tall], cols).sum(axis=-1)
        return sums.reshape(*self._inputs.lead, len(at))

    def _scores(self, rows: Ints, cols: Ints) -> Array:
        with np.errstate(all="ignore"):
            found = logits(self._inputs, scaled_queries(self._inputs, rows), rows, cols)
        np.copyto(found, -np.inf, where=self._inputs.rule.forbidden(rows, cols))
        return found

    def _weights(self, rows: Ints, cols: Ints) -> Array:
        m, total = self._reference[..., rows], self._total[..., rows]
        forbidden = self._forbidden(rows, cols)
        with np.errstate(all="ignore"):
            found: Array = np.exp(self._scores(rows, cols) - np.where(m == -np.inf, 0, m)[..., None]) / total[..., None]
        # A row with one live key has weight 1 by definition; recomputed scores could miss that by a rounding.
        alone = (self._inputs.rule.live_counts(rows) == 1)[..., None]
        np.copyto(found, 1, where=alone & np.isfinite(found))
        np.copyto(found, 0, where=forbidden)
        return found

    def _forbidden(self, rows: Ints, cols: Ints) -> Bools:
        cells: Bools = np.broadcast_to(self._inputs.rule.forbidden(rows, cols), self._full(rows, cols))
        return cells

    def _full(self, rows: Ints, cols: Ints) -> tuple[int, ...]:
        return *self._inputs.q.shape[:3], len(rows), len(cols)

    def _public(self, cells: Array) -> Array:
        """From the engine's axes to the caller's."""
        public: Array = cells.reshape(*self._inputs.lead, *cells.shape[-2:])
        return public

    def _rows(self, rows: Selection) -> Ints:
        return np.atleast_1d(np.arange(self._inputs.queries)[rows])

    def _cols(self, cols: Selection) -> Ints:
        return np.atleast_1d(np.arange(self._inputs.keys)[cols])
