"""Submissions that say the same in nearly the same words: something to look at, and never a verdict.

Winnowing, after S. Schleimer, D. Wilkerson and A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting",
SIGMOD 2003. Only the text is looked at, word by word: nothing is parsed, compiled or run.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

_WORDS = re.compile(r"#[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|\d[\w.]*|\w+|[^\s\w]")
_MOST_CHARACTERS = 1 << 16
_WORDS_IN_A_SHINGLE = 8
_POWERS = np.array([pow(0x9E3779B97F4A7C15, power, 1 << 64) for power in range(_WORDS_IN_A_SHINGLE)], np.uint64)
_WINDOW = 4
_LEAST_SHARED = 6
"""Fingerprints that two submissions must share: a few lines that everybody writes are no likeness."""
LIKENESS = 0.8
"""The share of fingerprints in common from which on two submissions are pointed out."""
_COMMON = 0.1
"""A fingerprint that so large a part of the class has, at least `_COMMON_LEAST`, tells nothing about two of them."""
_COMMON_LEAST = 10

Fingerprint = frozenset[int]


def fingerprint(source: bytes) -> Fingerprint:
    r"""What is typical of a text, whatever its comments, spaces, strings and numbers.

    Examples
    --------
    >>> one = b"def f(x):\n    return [x + 1, x + 2, x + 3]  # mine\n"
    >>> fingerprint(one) == fingerprint(b"def f( x ): return [x+5,x+6,x+7]\n")
    True
    """
    words = list(map(_hashed, _words(source.decode("utf-8", "replace")[:_MOST_CHARACTERS])))
    if not words:
        return frozenset()
    length = min(_WORDS_IN_A_SHINGLE, len(words))
    # Unsigned arithmetic wraps around: a polynomial in the words' hashes modulo 2⁶⁴.
    hashes = (sliding_window_view(np.array(words, np.uint64), length) * _POWERS[:length]).sum(axis=-1)
    chosen = sliding_window_view(hashes, min(_WINDOW, len(hashes))).min(axis=-1)
    return frozenset(chosen.tolist())


def alike(prints: Mapping[int, Fingerprint], given: Fingerprint = frozenset()) -> tuple[tuple[int, ...], ...]:
    """Groups of submissions that are nearly the same.

    Parameters
    ----------
    prints
        The fingerprints, by number.
    given
        What everybody was given to begin with, and does not count.

    Returns
    -------
    tuple of tuple of int
        Each group in ascending order, the groups by their first.
    """
    own = {number: found - given for number, found in prints.items()}
    holders: dict[int, list[int]] = defaultdict(list)
    for number, found in own.items():
        for one in found:
            holders[one].append(number)
    most = max(_COMMON_LEAST, int(_COMMON * len(own)))
    pairs = {pair for numbers in holders.values() if len(numbers) <= most for pair in combinations(numbers, 2)}
    near = [(one, other) for one, other in pairs if _are_alike(own[one], own[other])]
    return _groups([*near, *_copies(own)])


def _are_alike(one: Fingerprint, other: Fingerprint) -> bool:
    shared = len(one & other)
    return shared >= _LEAST_SHARED and shared >= LIKENESS * len(one | other)


def _copies(own: Mapping[int, Fingerprint]) -> Iterator[tuple[int, int]]:
    """Texts with all fingerprints in common, however many there are of them."""
    first: dict[Fingerprint, int] = {}
    for number, found in own.items():
        if len(found) >= _LEAST_SHARED and first.setdefault(found, number) != number:
            yield first[found], number


def _groups(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    leader: dict[int, int] = {}

    def head(number: int) -> int:
        while leader.setdefault(number, number) != number:
            number = leader[number]
        return number

    for one, other in pairs:
        low, high = sorted((head(one), head(other)))
        leader[high] = low
    members: dict[int, list[int]] = defaultdict(list)
    for number in sorted(leader):
        members[head(number)].append(number)
    return tuple(tuple(group) for _, group in sorted(members.items()))


def _words(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text):
        if word[0] == "#":
            continue
        yield "0" if word[0].isdigit() else "''" if word[0] in "\"'" else word


@lru_cache(1 << 16)
def _hashed(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
