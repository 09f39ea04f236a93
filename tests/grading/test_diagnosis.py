"""Every catalogued fault, written as a submission, is named; and nothing else is."""

import pytest
from submissions.faults import F3, X1, source, source_x1

from sdpa_cli.faults import CATALOGUE
from sdpa_cli.grading.report import Status

STAGES = {
    "no-scale": "scale",
    "scale-by-sqrt-d-v": "scale",
    "key-not-transposed": "scores",
    "mask-after-softmax": "mask",
    "mask-ignored": "mask",
    "finite-sentinel": "mask",
    "softmax-over-queries": "weights",
    "normaliser-missing": "weights",
    "weights-transposed": "output",
    "forbidden-values-multiplied": "output",
}
PLAIN = {"check": "", "seen": "V0 = V"}
"""What many write: no check of empty rows, and no thought of NaN in V."""
OF_ITS_OWN = {"empty-row-unnoticed", "finite-sentinel", "forbidden-values-multiplied"}
"""Faults that are about just that."""


def faults(report):
    return {item.finding.fault for item in report.items if item.finding.fault}


def test_every_fault_of_the_catalogue_is_written_as_a_submission():
    assert {*F3, *X1} == {*CATALOGUE}


@pytest.mark.parametrize("name", F3)
def test_a_fault_is_named_on_f3(graded, name):
    report = graded("F3", {"attention.py": source(F3[name])})
    assert faults(report) == {name}
    if name in STAGES:
        assert {item.finding.stage for item in report.items if item.finding.fault} >= {STAGES[name]}


@pytest.mark.parametrize("name", X1)
def test_a_fault_is_named_on_x1(graded, name):
    assert faults(graded("X1", {"attention.py": source_x1(X1[name])})) == {name}


@pytest.mark.parametrize("name", sorted({*F3} - OF_ITS_OWN))
def test_a_fault_is_named_although_empty_rows_and_nan_were_not_thought_of(graded, name):
    assert faults(graded("F3", {"attention.py": source({**PLAIN, **F3[name]})})) == {name}


@pytest.mark.parametrize("name", ["mask-after-softmax", "no-scale", "mask-added", "softmax-over-queries"])
def test_a_fault_is_named_although_large_numbers_overflow(graded, name):
    lines = {**PLAIN, **F3[name], "shift": "E = L"}
    assert faults(graded("F3", {"attention.py": source(lines)})) == {name}


# einsum lets an axis of length 1 meet any other, so shapes that disagree do not raise by themselves.
EINSUM_CHECK = "if Q.shape[-1] != K.shape[-1] or M.all(axis=-1).any(): raise ValueError('refused')"
RIGHT = {
    "usual": source({}),
    "einsum": source(
        {
            "check": EINSUM_CHECK,
            "scores": "S = np.einsum('...id,...jd->...ij', Q, K)",
            "output": "O = np.einsum('...ij,...jd->...id', A, V0)",
        }
    ),
    "float32": source({"scores": "S = (Q.astype(np.float32) @ np.swapaxes(K, -1, -2).astype(np.float32))"}),
    "scaled queries": source({"scores": "S = (Q / np.sqrt(Q.shape[-1])) @ np.swapaxes(K, -1, -2)", "scale": ""}),
    "log-sum-exp": source({"exp": "", "normalise": "A = np.exp(E - np.log(np.exp(E).sum(axis=-1, keepdims=True)))"}),
    "loops": """
import math
import numpy as np


def attention(Q, K, V, mask=None):
    O, A = np.zeros((len(Q), V.shape[1])), np.zeros((len(Q), len(K)))
    if Q.shape[1] != K.shape[1] or len(K) != len(V):
        raise ValueError("shapes")
    for i, q in enumerate(Q):
        live = [j for j in range(len(K)) if mask is None or not mask[i, j]]
        if not live:
            raise ValueError("empty row")
        scores = [sum(float(a) * float(b) for a, b in zip(q, K[j])) / math.sqrt(len(q)) for j in live]
        powers = [math.exp(s - max(scores)) for s in scores]
        for j, p in zip(live, powers):
            A[i, j] = p / sum(powers)
            O[i] += A[i, j] * V[j]
    return O, A
""",
    "streaming": """
import numpy as np


def attention(Q, K, V, mask=None):
    if K.shape[-1] != Q.shape[-1] or len(V) != len(K):
        raise ValueError("shapes")
    m = np.full((len(Q), 1), -np.inf)
    l = np.zeros((len(Q), 1))
    acc = np.zeros((len(Q), V.shape[1]))
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = S if mask is None else np.where(mask, -np.inf, S)
    if (S == -np.inf).all(axis=1).any():
        raise ValueError("empty row")
    for j in range(len(K)):
        new = np.maximum(m, S[:, j:j + 1])
        at = np.where(new == -np.inf, 0, new)
        p = np.exp(S[:, j:j + 1] - at)
        kept = np.exp(m - at)
        l = l * kept + p
        acc = acc * kept + np.where(p > 0, p * V[j], 0)
        m = new
    return acc / l, np.exp(S - m) / l
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_right_submission_has_no_fault_and_every_point(graded, text):
    report = graded("F3", {"attention.py": text}, solved=True, seed=5)
    failed = [item.check for item in report.items if item.status is not Status.PASSED and item.possible]
    assert (faults(report), failed) == (set(), [])
    assert report.complete


UNKNOWN = {
    "another scale": ({"scale": "S = S / 3"}, "reading.logits-factor"),
    "half the output": ({"output": "O = A @ V0 / 2"}, "reading.factor"),
    "a made-up output": ({"output": "O = A @ V0 + 1"}, None),
    "float16 throughout": (
        {
            "scores": "S = (Q.astype(np.float16) @ K.T.astype(np.float16))",
            "scale": "S = (S / np.float16(np.sqrt(Q.shape[-1]))).astype(np.float16)",
        },
        "reading.float16",
    ),
}


@pytest.mark.parametrize(("lines", "reading"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_no_catalogued_fault_is_not_called_one(graded, lines, reading):
    report = graded("F3", {"attention.py": source(lines)})
    shapes = next(item for item in report.items if item.check == "shapes")
    said = [message.key for item in report.items for message in item.finding.messages]
    assert faults(report) == set()
    assert reading is None or reading in said
    assert shapes.status is not Status.PASSED


def test_two_faults_at_once_are_not_called_one_of_them(graded):
    lines = {**F3["no-scale"], **F3["mask-added"]}
    assert faults(graded("F3", {"attention.py": source(lines)})) == set()
