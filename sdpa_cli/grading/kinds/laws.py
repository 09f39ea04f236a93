"""Laws that every attention obeys: a submission is held against itself, and no answer key is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdpa_cli.attention import Mask
from sdpa_cli.attention.difference import Tolerance, compare
from sdpa_cli.cases import Case
from sdpa_cli.grading.attempt import Attempt
from sdpa_cli.grading.comparing import cell, first_where, not_returned, returned, shown_index
from sdpa_cli.grading.quantities import SHAPES, forbidden, has_mask, per_case, right
from sdpa_cli.grading.report import Finding, failed, passed, say
from sdpa_cli.sandbox import Outcome

Array = NDArray[Any]
Arrays = Mapping[str, Array]
TOLERANCE = Tolerance(1e-5, 1e-5)
"""Single precision passes."""


@dataclass(frozen=True, eq=False)
class LawRule:
    """The function must obey a law on these cases."""

    law: str
    cases: tuple[Case, ...]

    def judge(self, attempt: Attempt) -> Finding:
        """The first case on which it does not."""
        for case in self.cases:
            try:
                finding = LAWS[self.law](_Subject(attempt), case)
            except _NoAnswerError as error:
                finding = error.finding
            if finding is not None:
                return replace(finding, case=case)
        return passed()


class _NoAnswerError(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding


@dataclass(frozen=True, eq=False)
class _Subject:
    """The submission's function, as a law sees it: cases in, arrays out."""

    attempt: Attempt

    def __call__(self, case: Case) -> Arrays:
        return self._arrays(case, self.attempt.call(case))

    def again(self, case: Case) -> Arrays:
        """What it gives for a case that it was called with before."""
        return self._arrays(case, self.attempt.call_again(case))

    def _arrays(self, case: Case, outcome: Outcome) -> Arrays:
        if (message := not_returned(self.attempt, outcome)) is not None:
            raise _NoAnswerError(failed(message))
        arrays = returned(outcome, self.attempt.function)
        assert arrays is not None
        # Laws compute with what comes back: arrays of other shapes would stop the tool instead of the submission.
        for name, wanted in right(case, self.attempt.function.returns).items():
            if arrays[name].shape != wanted.shape:
                values = {"letters": SHAPES[name], "found": arrays[name].shape, "expected": wanted.shape}
                raise _NoAnswerError(failed(say("return.shape", part=name, **values), part=name))
        return arrays


Law = Callable[[_Subject, Case], Finding | None]


def _row_sums(subject: _Subject, case: Case) -> Finding | None:
    sums = subject(case)["weights"].astype(np.float64).sum(axis=-1)
    found = compare(sums, np.ones_like(sums), TOLERANCE)
    if found is None:
        return None
    return failed(say("law.row-sums", row=shown_index(found.index), sum=found.actual), part="weights")


def _zero_weights(subject: _Subject, case: Case) -> Finding | None:
    weights = subject(case)["weights"]
    index = first_where(np.broadcast_to(forbidden(case), weights.shape) & ~(weights == 0))
    if index is None:
        return None
    return failed(say("law.zero-weights", index=shown_index(index), actual=float(weights[index])), part="weights")


def _non_negative(subject: _Subject, case: Case) -> Finding | None:
    weights = subject(case)["weights"]
    index = first_where(~(weights >= 0))
    if index is None:
        return None
    return failed(say("law.non-negative", index=shown_index(index), actual=float(weights[index])), part="weights")


def _key_permutation(subject: _Subject, case: Case) -> Finding | None:
    return _same("law.key-permutation", subject(_reordered(case))["output"], subject(case)["output"])


@per_case
def _reordered(case: Case) -> Case:
    order = np.arange(case.k.shape[-2])[::-1]
    return _with(case, k=case.k[..., order, :], v=case.v[..., order, :], mask=forbidden(case)[..., order])


def _shift(subject: _Subject, case: Case) -> Finding | None:
    return _same("law.shift", subject(_shifted(case))["output"], subject(case)["output"])


@per_case
def _shifted(case: Case) -> Case:
    """K + 1·cᵀ adds q_i·c to every score of row i: one constant per row, which softmax does not see."""
    return _with(case, k=case.k + np.linspace(-1.0, 2.0, case.k.shape[-1]))


def _linearity(subject: _Subject, case: Case) -> Finding | None:
    other, mixed = _other_values(case)
    parts = 2 * subject(case)["output"] - 3 * subject(other)["output"]
    return _same("law.linearity", subject(mixed)["output"], parts)


@per_case
def _other_values(case: Case) -> tuple[Case, Case]:
    other = case.v[..., ::-1, :] + np.linspace(-1.0, 1.0, case.v.shape[-1])
    return _with(case, v=other), _with(case, v=2 * case.v - 3 * other)


def _output_range(subject: _Subject, case: Case) -> Finding | None:
    output = subject(case)["output"].astype(np.float64)
    live = ~forbidden(case)[..., None]
    values = np.broadcast_to(case.v[..., None, :, :], (*live.shape[:-1], case.v.shape[-1]))
    low = np.where(live, values, np.inf).min(axis=-2) - TOLERANCE.atol
    high = np.where(live, values, -np.inf).max(axis=-2) + TOLERANCE.atol
    index = first_where(~((low <= output) & (output <= high)))
    if index is None:
        return None
    bounds = {"actual": float(output[index]), "low": float(low[index]), "high": float(high[index])}
    return failed(say("law.output-range", index=shown_index(index), **bounds), part="output")


def _future(subject: _Subject, case: Case) -> Finding | None:
    """Under a causal mask only the last query may notice that the last key and value change."""
    changed, before = subject(_other_end(case))["output"], subject(case)["output"]
    return _same("law.future", changed[..., :-1, :], before[..., :-1, :])


@per_case
def _other_end(case: Case) -> Case:
    k, v = np.array(case.k, np.float64), np.array(case.v, np.float64)
    k[..., -1, :] += 50.0
    v[..., -1, :] -= 1000.0
    return _with(case, k=k, v=v)


def _inputs_unchanged(subject: _Subject, case: Case) -> Finding | None:
    subject(case)
    changed = subject.attempt.call(case).changed
    if not changed:
        return None
    names = subject.attempt.function.arguments
    shown = ", ".join(names[key] if isinstance(key, int) and key < len(names) else str(key) for key in changed)
    return failed(say("law.inputs-unchanged", names=shown))


def _repeatable(subject: _Subject, case: Case) -> Finding | None:
    first = subject(case)["output"]
    return _same("law.repeatable", subject.again(case)["output"], first)


def _batch(subject: _Subject, case: Case) -> Finding | None:
    """Two problems stacked along a leading axis are the two problems."""
    other, both = _stacked(case)
    together = subject(both)["output"]
    apart = np.stack([subject(case)["output"], subject(other)["output"]])
    return _same("law.batch", together, apart)


@per_case
def _stacked(case: Case) -> tuple[Case, Case]:
    reverse = [np.asarray(array)[..., ::-1, :] for array in (case.q, case.k, case.v)]
    cells = forbidden(case)
    other = _with(case, q=reverse[0], k=reverse[1], v=reverse[2], mask=cells[..., ::-1, ::-1])
    q, k, v = (np.stack([one, two]) for one, two in zip((case.q, case.k, case.v), reverse, strict=True))
    return other, _with(case, q=q, k=k, v=v, mask=np.stack([cells, cells[..., ::-1, ::-1]]))


LAWS: Mapping[str, Law] = {
    "row-sums": _row_sums,
    "zero-weights": _zero_weights,
    "non-negative": _non_negative,
    "key-permutation": _key_permutation,
    "shift": _shift,
    "linearity": _linearity,
    "output-range": _output_range,
    "future": _future,
    "inputs-unchanged": _inputs_unchanged,
    "repeatable": _repeatable,
    "batch": _batch,
}

READS = dict.fromkeys(LAWS, "output") | dict.fromkeys(("row-sums", "zero-weights", "non-negative"), "weights")
"""Which returned value each law looks at."""


def _with(
    case: Case, *, q: Array | None = None, k: Array | None = None, v: Array | None = None, mask: Array | None = None
) -> Case:
    """A case with other arrays, and the mask as an array if another is given and the case has one at all."""
    return replace(
        case,
        q=case.q if q is None else q,
        k=case.k if k is None else k,
        v=case.v if v is None else v,
        mask=Mask(forbidden=mask) if mask is not None and has_mask(case) else case.mask,
    )


def _same(key: str, one: Array, other: Array) -> Finding | None:
    for array in (other, one):
        if (index := first_where(~np.isfinite(array))) is not None:
            values = {"part": "output", "index": shown_index(index), "actual": float(array[index])}
            return failed(say("law.not-finite", **values), part="output")
    # Relative to the largest number at play: a law combines several results, each of them rounded.
    size = float(np.abs(other).max(initial=1.0))
    found = compare(one, other, Tolerance(TOLERANCE.atol * max(size, 1.0), TOLERANCE.rtol))
    return None if found is None else failed(say(key, **cell("output", found)), part="output", difference=found)
