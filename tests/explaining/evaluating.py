"""Formulas calculated: what the numbers in them make, so that a worked line is proved and not believed."""

import math

import numpy as np

from sdpa_cli.explaining.maths import Call, Dots, Entry, Fraction, Infix, Number, Root, Symbol, Vector

_FUNCTIONS = {"exp": math.exp, "tanh": math.tanh, "sin": math.sin, "cos": math.cos, "log": math.log}


class NoNumberError(Exception):
    """There is something in the formula that has no number."""


def value(formula):
    match formula:
        case Number(number):
            return number
        case Symbol("−∞"):
            return -math.inf
        case Vector(items):
            return np.array([value(item) for item in items])
        case Fraction(top, bottom):
            return value(top) / value(bottom)
        case Root(of):
            return math.sqrt(value(of))
        case Infix("+", terms):
            return sum(value(term) for term in terms[1:]) + value(terms[0])
        case Infix("−", (a, b)):
            return value(a) - value(b)
        case Infix("·", terms):
            found = 1.0
            for term in terms:
                found = found * value(term)
            return found
        case Call("max", Vector(items)):
            return max(value(item) for item in items)
        case Call(name, argument) if name in _FUNCTIONS:
            return _FUNCTIONS[name](value(argument))
        case Dots() | Entry() | Symbol():
            raise NoNumberError
    raise AssertionError(f"a worked line holds {formula!r}")


def sides(formula):
    """The values of the sides of an equation, those that have one."""
    assert isinstance(formula, Infix)
    found = []
    for side in formula.terms if formula.operator == "=" else [formula]:
        try:
            found.append(value(side))
        except NoNumberError:
            continue
    return found
