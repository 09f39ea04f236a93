"""Formulas as small trees, so that plain text, LaTeX and MathML are three writings of one definition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Number:
    """A number of the case, at full precision; a view rounds it."""

    value: float


@dataclass(frozen=True)
class Symbol:
    """A letter with a meaning of its own: ``Q``, ``d_k``, ``lse``."""

    name: str


@dataclass(frozen=True)
class Entry:
    """One entry of a matrix or vector. An integer index counts from 0 and is shown counted from 1."""

    of: Maths
    indices: tuple[int | str, ...]


@dataclass(frozen=True)
class Infix:
    """Terms joined by one operator."""

    operator: Literal["=", "←", "+", "−", "·", ""]
    terms: tuple[Maths, ...]


@dataclass(frozen=True)
class Fraction:
    """One thing over another."""

    top: Maths
    bottom: Maths


@dataclass(frozen=True)
class Root:
    """A square root."""

    of: Maths


@dataclass(frozen=True)
class Power:
    """A base with an exponent."""

    base: Maths
    exponent: Maths


@dataclass(frozen=True)
class Call:
    """A named function of something."""

    function: str
    argument: Maths


@dataclass(frozen=True)
class Total:
    """An operator over an index: a sum Σ or a maximum."""

    operator: Literal["Σ", "max"]
    index: str
    body: Maths


@dataclass(frozen=True)
class Transposed:
    """A matrix, rows and columns exchanged."""

    of: Maths


@dataclass(frozen=True)
class Vector:
    """A few components in parentheses."""

    items: tuple[Maths, ...]


@dataclass(frozen=True)
class Dots:
    """What is left out of a long sum."""


Maths: TypeAlias = Number | Symbol | Entry | Infix | Fraction | Root | Power | Call | Total | Transposed | Vector | Dots

Term = Maths | str | float
"""What the functions below take: a formula, a symbol's name, or a number."""

TERMS = 6
"""A sum with more terms than this is written with dots."""


def maths(term: Term) -> Maths:
    """A formula from anything that stands for one.

    Examples
    --------
    >>> maths("d_k"), maths(2)
    (Symbol(name='d_k'), Number(value=2.0))
    """
    if isinstance(term, str):
        return Symbol(term)
    return Number(float(term)) if isinstance(term, int | float) else term


def equal(*sides: Term) -> Infix:
    """``a = b = c``."""
    return Infix("=", _all(sides))


def becomes(side: Term, value: Term) -> Infix:
    """``a ← b``: the entry is replaced."""
    return Infix("←", (maths(side), maths(value)))


def plus(*terms: Term) -> Maths:
    """``a + b + c``; a single term is itself."""
    return _joined("+", terms)


def minus(a: Term, b: Term) -> Infix:
    """``a − b``."""
    return Infix("−", (maths(a), maths(b)))


def times(*factors: Term) -> Maths:
    """``a · b``."""
    return _joined("·", factors)


def product(*factors: Term) -> Infix:
    """``a b``, set side by side."""
    return Infix("", _all(factors))


def over(top: Term, bottom: Term) -> Fraction:
    """A fraction."""
    return Fraction(maths(top), maths(bottom))


def root(of: Term) -> Root:
    """A square root."""
    return Root(maths(of))


def power(base: Term, exponent: Term) -> Power:
    """A power."""
    return Power(maths(base), maths(exponent))


def call(function: str, *arguments: Term) -> Call:
    """``function(a)``, or ``function(a, b)``."""
    return Call(function, maths(arguments[0]) if len(arguments) == 1 else Vector(_all(arguments)))


def entry(of: Term, *indices: int | str) -> Entry:
    """``S[i, j]``; integers count from 0."""
    return Entry(maths(of), indices)


def total(index: str, body: Term) -> Total:
    """A sum over an index."""
    return Total("Σ", index, maths(body))


def largest(index: str, body: Term) -> Total:
    """A maximum over an index."""
    return Total("max", index, maths(body))


def transposed(of: Term) -> Transposed:
    """A transpose."""
    return Transposed(maths(of))


def vector(items: Iterable[Term]) -> Vector:
    """A row of numbers, shortened with dots where it is long."""
    return Vector(shortened([maths(item) for item in items]))


def long_sum(terms: Iterable[Term]) -> Maths:
    """A sum, shortened with dots where it is long."""
    return _joined("+", shortened([maths(term) for term in terms]))


def shortened(terms: list[Maths]) -> tuple[Maths, ...]:
    """All terms, or the first few, dots and the last one."""
    return tuple(terms) if len(terms) <= TERMS else (*terms[: TERMS - 2], Dots(), terms[-1])


def _joined(operator: Literal["+", "·"], terms: Iterable[Term]) -> Maths:
    given = _all(terms)
    return given[0] if len(given) == 1 else Infix(operator, given)


def _all(terms: Iterable[Term]) -> tuple[Maths, ...]:
    return tuple(maths(term) for term in terms)


QK = product("Q", transposed("K"))
"""The matrix of all dot products."""
