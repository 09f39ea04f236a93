"""One definition, three writings: plain text that can be read back, LaTeX, and MathML that is well formed."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from explaining.evaluating import NoNumberError, value
from explaining.questions import QUESTIONS, trace
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.explaining.maths import (
    QK,
    Infix,
    becomes,
    call,
    entry,
    equal,
    largest,
    long_sum,
    maths,
    minus,
    over,
    plus,
    power,
    product,
    root,
    times,
    total,
    transposed,
    vector,
)
from sdpa_cli.explaining.trace import Formula, Worked
from sdpa_cli.views.explaining.latex import latex
from sdpa_cli.views.explaining.mathml import mathml
from sdpa_cli.views.explaining.notation import Notation
from sdpa_cli.views.explaining.plain import plain

POINT, COMMA = Notation("."), Notation(",")

WRITINGS = {
    "entry": (entry("S", 0, 1), "S[1,2]", "S_{1,2}"),
    "letters": (entry("S", "i", "j"), "S[i,j]", "S_{i,j}"),
    "product": (entry(QK, 0, 1), "(QKᵀ)[1,2]", r"\left(Q K^{\top}\right)_{1,2}"),
    "worked": (
        equal(entry("S", 0, 1), over(plus(times(1, 2), times(0, 0)), root(2)), 2**0.5),
        "S[1,2] = (1·2 + 0·0)/√2 = 1.4142",
        r"S_{1,2} = \frac{1 \cdot 2 + 0 \cdot 0}{\sqrt{2}} = 1.4142",
    ),
    "negative": (plus(times(-1, 2), times(3, -0.5)), "(−1)·2 + 3·(−0.5)", None),
    "difference": (minus(1, minus(2, 3)), "1 − (2 − 3)", r"1 - \left(2 - 3\right)"),
    "minus-negative": (minus(1, -2), "1 − (−2)", r"1 - \left(-2\right)"),
    "softmax": (call("exp", minus(0.5, 1)), "exp(0.5 − 1)", r"\exp\left(0.5 - 1\right)"),
    "maximum": (call("max", 1, 2.5), "max(1, 2.5)", r"\max\left(1,\; 2.5\right)"),
    "sum": (total("j", product(entry("A", "i", "j"), entry("v", "j"))), "Σ_j A[i,j] v[j]", None),
    "row-maximum": (largest("j", entry("S", "i", "j")), "max_j S[i,j]", r"\max_{j} S_{i,j}"),
    "angle": (over("i", power(10000, over("2r", "d"))), "i/10000^(2r/d)", None),
    "root": (over(QK, root("d_k")), "QKᵀ/√d_k", r"\frac{Q K^{\top}}{\sqrt{d_{k}}}"),
    "forbidden": (becomes(entry("S", "i", "j"), "−∞"), "S[i,j] ← −∞", r"S_{i,j} \leftarrow -\infty"),
    "primed": (entry("m′", "i"), "m′[i]", "m'_{i}"),
    "tiny": (maths(1.1e-16), "1.1e-16", r"1.1 \cdot 10^{-16}"),
    "vector": (times(0.25, vector([1, -2])), "0.25·(1, −2)", r"0.25 \cdot \left(1,\; -2\right)"),
    "long": (long_sum(range(1, 10)), "1 + 2 + 3 + 4 + … + 9", None),
    "transpose": (product(transposed("q"), "W", "k"), "qᵀWk", r"q^{\top} W k"),
}


@pytest.mark.parametrize(("formula", "text", "tex"), WRITINGS.values(), ids=WRITINGS)
def test_writings(formula, text, tex):
    assert plain(formula, POINT) == text
    assert tex is None or latex(formula, POINT) == tex


def test_the_decimal_comma():
    formula = equal(entry("o", 0), vector([0.5, -1.25]))
    assert plain(formula, COMMA) == "o[1] = (0,5; −1,25)"
    assert latex(formula, COMMA) == r"o_{1} = \left(0{,}5;\; -1{,}25\right)"
    assert "<mn>0,5</mn>" in mathml(formula, COMMA)


def formulas():
    return [
        part.maths
        for name in QUESTIONS
        for step in trace(name).steps
        for part in step.parts
        if isinstance(part, Formula | Worked)
    ]


@pytest.mark.parametrize("notation", [POINT, COMMA], ids=["point", "comma"])
def test_mathml_is_well_formed(notation):
    for formula in formulas():
        ElementTree.fromstring(
            f"<math>{mathml(formula, notation).replace('&#8290;', '').replace('&#8289;', '')}</math>"
        )


def test_latex_is_balanced():
    for formula in formulas():
        text = latex(formula, POINT)
        assert text.count("{") == text.count("}")
        assert text.count(r"\left(") == text.count(r"\right)")
        assert text.isascii() or "̃" in text or "φ" in text or "θ" in text


def read(text, decimal="."):
    """A number as people read it."""
    text = text.replace("\u202f", "").replace("−", "-").replace(decimal, ".")
    return {"∞": math.inf, "-∞": -math.inf}.get(text) if "∞" in text else float(text)


@given(st.floats(-1e12, 1e12))
def test_numbers_can_be_read_back(number):
    for notation, decimal in ((POINT, "."), (COMMA, ",")):
        written = notation.number(number)
        assert read(written, decimal) == pytest.approx(number, abs=5.1e-5, rel=6e-3 if "e" in written else 1e-9)
        assert written not in ("−0", "-0")


@given(st.floats(-1e6, 1e6), st.integers(4, 8))
def test_columns_have_one_length_of_decimals(number, decimals):
    written = COMMA.fixed(number, decimals)
    assert read(written, ",") == pytest.approx(number, abs=0.51 * 10**-decimals, rel=6e-3 if "e" in written else 1e-12)
    assert "e" in written or len(written.partition(",")[2]) == decimals


@given(st.integers(0, 10**15))
def test_counts_can_be_read_back(count):
    assert int(POINT.count(count).replace("\u202f", "")) == count


@pytest.mark.parametrize(("count", "text"), [(80, "80 B"), (1536, "1.5 KiB"), (2**40, "1 TiB"), (16777216, "16 MiB")])
def test_memory(count, text):
    assert POINT.memory(count) == text


NUMBER = r"−?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def calculated(text):
    """A plain writing without letters, calculated by Python."""
    text = re.sub(r"√(\d+(?:\.\d+)?)", r"math.sqrt(\1)", text)
    text = re.sub(r"\b(exp|tanh|sin|cos|log)\(", r"math.\1(", text).replace("∞", "math.inf")
    text = re.sub(r"(?<![\w.])\(([^()]*,[^()]*)\)", r"np.array([\1])", text.replace("·", "*").replace("−", "-"))
    return eval(text, {"math": math, "np": np, "max": max, "NaN": math.nan})


@pytest.mark.parametrize(
    "name", [name for name in QUESTIONS if name.split()[0] in ("derive", "cell", "stream", "topic")]
)
def test_what_is_printed_of_a_worked_line_can_be_calculated(name):
    """Every number printed is read back; the results agree as far as the printed digits go."""
    for formula in (part.maths for step in trace(name).steps for part in step.parts if isinstance(part, Worked)):
        for side in formula.terms if isinstance(formula, Infix) and formula.operator == "=" else [formula]:
            try:
                exact = value(side)
            except NoNumberError:
                continue
            printed = calculated(plain(side, POINT))
            # Each factor is rounded to four decimals, so a sum of products of them is off by more than that.
            np.testing.assert_allclose(printed, exact, rtol=2e-3, atol=2e-3)
