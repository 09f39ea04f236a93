"""Formulas on one line, for terminals and for reading aloud: ``S[1,2] = (1·2 + 0·0)/√2 = 1.4142``."""

from __future__ import annotations

from sdpa_cli.explaining.maths import (
    Call,
    Dots,
    Entry,
    Fraction,
    Infix,
    Maths,
    Number,
    Power,
    Root,
    Symbol,
    Total,
    Transposed,
    Vector,
)
from sdpa_cli.views.explaining.notation import Notation

# How tightly each thing holds together: what is looser than its surroundings needs parentheses.
RELATION, SUM, PRODUCT, TIGHT, ATOM = range(5)
_OPERATORS = {"+": SUM, "−": SUM, "·": PRODUCT, "": PRODUCT}
_SPACED = {RELATION, SUM}


def plain(formula: Maths, notation: Notation) -> str:
    """A formula as one line of text.

    Examples
    --------
    >>> from sdpa_cli.explaining.maths import entry, equal, over, plus, root, times
    >>> rule = equal(entry("S", 0, 1), over(plus(times(1, 2), times(0, 0)), root(2)), 2 ** 0.5)
    >>> plain(rule, Notation("."))
    'S[1,2] = (1·2 + 0·0)/√2 = 1.4142'
    """
    return _Plain(notation).write(formula)


def tightness(formula: Maths) -> int:
    """How tightly a formula holds together, from a relation to a single letter."""
    match formula:
        case Infix(operator, _):
            return _OPERATORS.get(operator, RELATION)
        case Fraction():
            return PRODUCT
        case Total():
            return SUM
        case Number(value):
            return ATOM if value >= 0 or value != value else SUM
        case Power() | Call() | Root() | Transposed():
            return TIGHT
        case _:
            return ATOM


class _Plain:
    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def write(self, formula: Maths) -> str:
        match formula:
            case Number(value):
                return self.notation.number(value)
            case Symbol(name):
                return name
            case Dots():
                return "…"
            case Entry(of, indices):
                shown = ",".join(str(i + 1) if isinstance(i, int) else i for i in indices)
                return f"{self.within(of, ATOM)}[{shown}]"
            case Vector(items):
                return f"({self.notation.separator.join(map(self.write, items))})"
            case Transposed(of):
                return f"{self.within(of, ATOM)}ᵀ"
            case Infix(operator, terms):
                return self.joined(operator, terms)
            case _:
                return self.compound(formula)

    def compound(self, formula: Maths) -> str:
        match formula:
            case Fraction(top, bottom):
                return f"{self.within(top, PRODUCT)}/{self.within(bottom, TIGHT)}"
            case Root(of):
                return f"√{self.within(of, ATOM)}"
            case Power(base, exponent):
                return f"{self.within(base, ATOM)}^{self.within(exponent, ATOM)}"
            case Call(function, Vector() as arguments):
                return f"{function}{self.write(arguments)}"
            case Call(function, argument):
                return f"{function}({self.write(argument)})"
            case Total(operator, index, body):
                return f"{operator}_{index} {self.within(body, PRODUCT)}"
        raise TypeError(f"no formula: {formula!r}")

    def joined(self, operator: str, terms: tuple[Maths, ...]) -> str:
        level = _OPERATORS.get(operator, RELATION)
        # In a − (b − c) and a·(b/c) the later terms must hold together more tightly than the operator does.
        later = level if operator in ("", "·", "+") or level == RELATION else level + 1
        parts = [self.within(term, level if k == 0 else later) for k, term in enumerate(terms)]
        parts = [
            f"({part})" if k and part.startswith("−") and level > RELATION else part for k, part in enumerate(parts)
        ]
        if operator == "":
            return self._beside(parts)
        return (f" {operator} " if level in _SPACED else operator).join(parts)

    def _beside(self, parts: list[str]) -> str:
        """Single letters stand beside each other, longer things need a space between them."""
        return "".join(parts) if all(len(part.rstrip("ᵀ")) == 1 for part in parts) else " ".join(parts)

    def within(self, formula: Maths, least: int) -> str:
        written = self.write(formula)
        return written if tightness(formula) >= least else f"({written})"
