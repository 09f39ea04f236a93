"""Witnesses: an input of the student's own that shows what a proof is about. Ordering blocks is not understanding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sdpa_cli.cases.kinds import Kind
from sdpa_cli.cases.matrices import Matrix
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.kinds.written import unanswered
from sdpa_cli.grading.quantities import Array
from sdpa_cli.grading.report import Finding, Message, failed, passed, say

Values = Mapping[str, Array]


@dataclass(frozen=True)
class Witness:
    """A kind of witness: the matrices it consists of, and why some matrices are none."""

    keys: tuple[str, ...]
    objection: Callable[[Values], Message | None]


@dataclass(frozen=True)
class WitnessRule:
    """Matrices of which something is to be true."""

    file: str
    witness: str
    prefix: str = ""
    """Stands before each key, where a file holds several witnesses."""

    def questions(self) -> Mapping[str, Kind]:
        """Its matrices."""
        return dict.fromkeys(self._keys().values(), Matrix(elsewhere=()))

    def judge(self, attempt: Attempt) -> Finding:
        """Try it."""
        for key in self._keys().values():
            if (finding := unanswered(attempt, self.file, key)) is not None:
                return finding
        given = attempt.answers(self.file).values
        values = {name: np.asarray(given[key], np.float64) for name, key in self._keys().items()}
        objection = WITNESSES[self.witness].objection(values)
        return passed() if objection is None else failed(objection)

    def _keys(self) -> dict[str, str]:
        return {name: f"{self.prefix}{name}" for name in WITNESSES[self.witness].keys}


def _no_distribution(values: Values) -> Message | None:
    """Q and K such that some row of QKᵀ is no distribution."""
    q, k = values["Q"], values["K"]
    if q.ndim != 2 or k.ndim != 2 or q.shape[-1] != k.shape[-1]:
        return say("witness.shapes", q=q.shape, k=k.shape)
    products = q @ k.T
    if not np.isfinite(products).all():
        return say("witness.not-finite")
    distributions = (products >= 0).all(axis=-1) & (np.abs(products.sum(axis=-1) - 1) < 1e-9)
    return say("witness.all-distributions") if distributions.all() else None


def _overflow(values: Values) -> Message | None:
    """A row of finite scores whose softmax without a shift is not finite."""
    row = values["row"]
    if (wrong := _no_row(row)) is not None or not np.isfinite(row).all():
        return wrong or say("witness.not-finite")
    with np.errstate(all="ignore"):
        exponentials = np.exp(row)
        weights = exponentials / exponentials.sum()
    if np.isfinite(weights).all():
        return say("witness.no-overflow", largest=float(row.max()), exponential=float(exponentials.max()))
    return None


def _nan_unguarded(values: Values) -> Message | None:
    """A row whose softmax with an unguarded row maximum is NaN: −inf − (−inf)."""
    row = values["row"]
    if (wrong := _no_row(row)) is not None:
        return wrong
    if np.isnan(row).any() or (row == np.inf).any():
        return say("witness.no-scores")
    with np.errstate(all="ignore"):
        exponentials = np.exp(row - row.max())
        weights = exponentials / exponentials.sum()
    return None if np.isnan(weights).any() else say("witness.no-nan", largest=float(row.max()))


def _no_row(row: Array) -> Message | None:
    return None if row.ndim == 2 and row.shape[0] == 1 and row.size else say("witness.one-row", found=row.shape)


WITNESSES: Mapping[str, Witness] = {
    "no-distribution": Witness(("Q", "K"), _no_distribution),
    "overflow": Witness(("row",), _overflow),
    "nan-unguarded": Witness(("row",), _nan_unguarded),
}
