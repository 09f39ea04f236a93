"""Formulas in MathML, which browsers set and screen readers read."""

from __future__ import annotations

from html import escape

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
from sdpa_cli.views.explaining.plain import ATOM, PRODUCT, RELATION, SUM, tightness

_LEVELS = {"+": SUM, "−": SUM, "·": PRODUCT, "": PRODUCT}
_INVISIBLE_TIMES = "&#8290;"
_APPLY = "<mo>&#8289;</mo>"


def mathml(formula: Maths, notation: Notation) -> str:
    """What stands inside a ``<math>`` element.

    Examples
    --------
    >>> from sdpa_cli.explaining.maths import entry, over, root
    >>> mathml(over("Q", root("d_k")), Notation("."))
    '<mfrac><mi>Q</mi><mrow><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mrow></mfrac>'
    """
    return _MathML(notation).write(formula)


class _MathML:
    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def write(self, formula: Maths) -> str:
        match formula:
            case Number(value):
                return _number(self.notation.number(value))
            case Symbol(name):
                return _symbol(name)
            case Dots():
                return "<mo>…</mo>"
            case Entry(Symbol(name), indices) if name.endswith("′"):
                return f"<msubsup><mi>{escape(name[:-1])}</mi>{_row(_indices(indices))}<mo>′</mo></msubsup>"
            case Entry(of, indices):
                return f"<msub>{self.within(of, ATOM)}{_row(_indices(indices))}</msub>"
            case Vector(items):
                separator = f"<mo separator='true'>{self.notation.separator.strip()}</mo>"
                return f"<mrow><mo>(</mo>{separator.join(map(self.write, items))}<mo>)</mo></mrow>"
            case Transposed(of):
                return f"<msup>{self.within(of, ATOM)}<mi mathvariant='normal'>⊤</mi></msup>"
            case Infix(operator, terms):
                return self.joined(operator, terms)
            case _:
                return self.compound(formula)

    def compound(self, formula: Maths) -> str:
        match formula:
            case Fraction(top, bottom):
                return f"<mfrac>{_row(self.write(top))}{_row(self.write(bottom))}</mfrac>"
            case Root(of):
                return f"<msqrt>{self.write(of)}</msqrt>"
            case Power(base, exponent):
                return f"<msup>{self.within(base, ATOM)}{_row(self.write(exponent))}</msup>"
            case Call(function, argument):
                inner = self.write(argument)
                shown = inner if isinstance(argument, Vector) else f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"
                return f"<mrow><mi>{escape(function)}</mi>{_APPLY}{shown}</mrow>"
            case Total(operator, index, body):
                sign = "<mo>∑</mo>" if operator == "Σ" else "<mi>max</mi>"
                return f"<munder>{sign}<mi>{escape(index)}</mi></munder>{self.within(body, PRODUCT)}"
        raise TypeError(f"no formula: {formula!r}")

    def joined(self, operator: str, terms: tuple[Maths, ...]) -> str:
        level = _LEVELS.get(operator, RELATION)
        parts = []
        for k, term in enumerate(terms):
            part = self.within(term, level + (operator == "−" and k > 0))
            negative = isinstance(term, Number) and term.value < 0
            parts.append(_fenced(part) if k and negative and level == SUM else part)
        return f"<mrow>{f'<mo>{operator or _INVISIBLE_TIMES}</mo>'.join(parts)}</mrow>"

    def within(self, formula: Maths, least: int) -> str:
        written = self.write(formula)
        loose = tightness(formula) < least and not isinstance(formula, Fraction)
        return _fenced(written) if loose else written


def _number(shown: str) -> str:
    if shown.startswith("−"):
        return f"<mrow><mo>−</mo>{_number(shown[1:])}</mrow>"
    mantissa, mark, exponent = shown.partition("e")
    if mark:
        power = _number(str(int(exponent)).replace("-", "−"))
        return f"<mrow><mn>{mantissa}</mn><mo>·</mo><msup><mn>10</mn>{power}</msup></mrow>"
    return f"<mi>{shown}</mi>" if shown in ("∞", "NaN") else f"<mn>{shown}</mn>"


def _symbol(name: str) -> str:
    if name == "−∞":
        return "<mrow><mo>−</mo><mi>∞</mi></mrow>"
    base, mark, index = name.partition("_")
    shown = f"<mi>{escape(base.removesuffix('′'))}</mi>"
    if base.endswith("′"):
        shown = f"<msup>{shown}<mo>′</mo></msup>"
    return f"<msub>{shown}<mi>{escape(index)}</mi></msub>" if mark else shown


def _indices(indices: tuple[int | str, ...]) -> str:
    shown = (f"<mn>{i + 1}</mn>" if isinstance(i, int) else f"<mi>{escape(i)}</mi>" for i in indices)
    return "<mo separator='true'>,</mo>".join(shown)


def _row(inner: str) -> str:
    return inner if inner.count("<") == 2 or inner.startswith("<mrow>") else f"<mrow>{inner}</mrow>"


def _fenced(inner: str) -> str:
    return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"
