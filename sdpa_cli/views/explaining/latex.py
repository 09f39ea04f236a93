"""Formulas in LaTeX, for handouts."""

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
from sdpa_cli.views.explaining.plain import ATOM, PRODUCT, RELATION, SUM, tightness

_OPERATORS = {"=": "=", "←": r"\leftarrow", "+": "+", "−": "-", "·": r"\cdot", "": r"\,"}
_LEVELS = {"+": SUM, "−": SUM, "·": PRODUCT, "": PRODUCT}
_SIGNS = {
    "−∞": r"-\infty",
    "∞": r"\infty",
    "Δ": r"\Delta",
    "|i − j|": "|i - j|",
    "Tq": "T_q",
    "Tk": "T_k",
    "d_model": r"d_{\mathrm{model}}",
}
_FUNCTIONS = {"exp": r"\exp", "max": r"\max", "tanh": r"\tanh", "sin": r"\sin", "cos": r"\cos", "log": r"\log"}


def latex(formula: Maths, notation: Notation) -> str:
    r"""A formula in LaTeX, without its dollar signs.

    Examples
    --------
    >>> from sdpa_cli.explaining.maths import entry, equal, over, plus, root, times
    >>> print(latex(equal(entry("S", 0, 1), over(plus(times(1, 2), times(0, 0)), root(2))), Notation(".")))
    S_{1,2} = \frac{1 \cdot 2 + 0 \cdot 0}{\sqrt{2}}
    """
    return _Latex(notation).write(formula)


def symbol(name: str) -> str:
    """A letter or a word as LaTeX has it."""
    if name in _SIGNS:
        return _SIGNS[name]
    base, mark, index = name.partition("_")
    prime = base.endswith("′")
    base = base.removesuffix("′")
    shown = base if len(base) == 1 and base.isascii() else _SIGNS.get(base, rf"\mathrm{{{base}}}")
    shown += "'" if prime else ""
    return f"{shown}_{{{index}}}" if mark else shown


class _Latex:
    def __init__(self, notation: Notation) -> None:
        self.notation = notation

    def write(self, formula: Maths) -> str:
        match formula:
            case Number(value):
                return self.number(value)
            case Symbol(name):
                return symbol(name)
            case Dots():
                return r"\ldots"
            case Entry(of, indices):
                shown = ",".join(str(i + 1) if isinstance(i, int) else i.replace("−", "-") for i in indices)
                return f"{self.within(of, ATOM)}_{{{shown}}}"
            case Vector(items):
                separator = r",\; " if self.notation.decimal == "." else r";\; "
                return rf"\left({separator.join(map(self.write, items))}\right)"
            case Transposed(of):
                return f"{self.within(of, ATOM)}^{{\\top}}"
            case Infix(operator, terms):
                return self.joined(operator, terms)
            case _:
                return self.compound(formula)

    def compound(self, formula: Maths) -> str:
        match formula:
            case Fraction(top, bottom):
                return rf"\frac{{{self.write(top)}}}{{{self.write(bottom)}}}"
            case Root(of):
                return rf"\sqrt{{{self.write(of)}}}"
            case Power(base, exponent):
                return f"{self.within(base, ATOM)}^{{{self.write(exponent)}}}"
            case Call(function, argument):
                name = _FUNCTIONS.get(function, rf"\operatorname{{{function}}}")
                inner = self.write(argument)
                return name + (inner if isinstance(argument, Vector) else rf"\left({inner}\right)")
            case Total(operator, index, body):
                sign = r"\sum" if operator == "Σ" else r"\max"
                return f"{sign}_{{{index}}} {self.within(body, PRODUCT)}"
        raise TypeError(f"no formula: {formula!r}")

    def joined(self, operator: str, terms: tuple[Maths, ...]) -> str:
        level = _LEVELS.get(operator, RELATION)
        parts = []
        for k, term in enumerate(terms):
            part = self.within(term, level + (operator == "−" and k > 0))
            parts.append(rf"\left({part}\right)" if k and part.startswith("-") and level > RELATION else part)
        if operator == "" and all(len(part.replace(r"^{\top}", "")) == 1 for part in parts):
            return " ".join(parts)
        return f" {_OPERATORS[operator]} ".join(parts)

    def within(self, formula: Maths, least: int) -> str:
        written = self.write(formula)
        loose = tightness(formula) < least and not isinstance(formula, Fraction)
        return rf"\left({written}\right)" if loose else written

    def number(self, value: float) -> str:
        shown = self.notation.number(value).replace("−", "-").replace("∞", r"\infty").replace(",", "{,}")
        if shown == "NaN":
            return r"\mathrm{NaN}"
        mantissa, mark, exponent = shown.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if mark else shown
