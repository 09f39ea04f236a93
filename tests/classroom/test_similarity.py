"""Submissions that say the same in nearly the same words."""

import pytest
from submissions.faults import F3, source

from sdpa_cli.classroom.similarity import alike, fingerprint

ONE = """
import numpy as np
def attention(Q, K, V, mask=None):
    width = Q.shape[1]
    similarity = np.einsum("ir,jr->ij", Q, K) * width ** -0.5
    if mask is not None:
        hidden = np.asarray(mask, dtype=bool)
        if np.any(np.all(hidden, axis=1)):
            raise ValueError("nothing to look at")
        similarity[hidden] = float("-inf")
    highest = similarity.max(axis=1)[:, np.newaxis]
    grown = np.exp(similarity - highest)
    share = grown / np.sum(grown, axis=1)[:, np.newaxis]
    return np.einsum("ij,jc->ic", share, V), share
"""
OTHER = source({})


def groups(*texts, given=""):
    return alike({at: fingerprint(text.encode()) for at, text in enumerate(texts)}, fingerprint(given.encode()))


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(ONE, id="word for word"),
        pytest.param(ONE.replace("\n", "\n\n").replace("    ", "\t"), id="other spaces"),
        pytest.param(ONE.replace("width =", "# mine, all mine\n    width ="), id="a comment more"),
        pytest.param(ONE.replace("nothing to look at", "mask hides all keys"), id="another message"),
        pytest.param(ONE + "\n\nif __name__ == '__main__':\n    print(attention)\n", id="a few lines more"),
    ],
)
def test_a_copy_is_pointed_out(copy):
    assert groups(ONE, OTHER, copy) == ((0, 2),)


def test_two_who_worked_alone_are_not():
    assert groups(ONE, OTHER) == ()


def test_what_everybody_was_given_does_not_count():
    assert groups(ONE, ONE, given=ONE) == ()


@pytest.mark.parametrize("text", ["", "x", "pass\n" * 3, "import numpy as np\n"])
def test_a_few_words_are_no_likeness(text):
    assert groups(text, text, text) == ()


def test_many_copies_are_one_group():
    assert groups(*[ONE] * 30, OTHER) == (tuple(range(30)),)


def test_whatever_the_bytes():
    assert fingerprint(bytes(range(256)) * 100) == fingerprint(bytes(range(256)) * 100)
    assert len(fingerprint(b"'" * 300_000)) < 70_000


def test_a_fault_is_not_a_copy_of_every_other():
    texts = [source(lines) for lines in F3.values()]
    assert len(groups(*texts)) < len(texts)
