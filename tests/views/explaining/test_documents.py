"""Markdown that pastes into a handout, and JSON that a program can rely on."""

import json

import numpy as np
import pytest
from explaining.questions import QUESTIONS, case

from sdpa_cli.faults import CATALOGUE
from sdpa_cli.views.explaining.documents import SCHEMA_VERSION

MARKDOWN = """\
# en opgave uden titel

## 1. Vægtene

$$
A_{i,j} = \\frac{E_{i,j}}{l_{i}}
$$

Hver eksponential divideres med sin rækkes sum. Det er softmax, række for række: hver \
query deler i alt 1 ud mellem de keys, den må se på. Det, der skal gælde, og det, der blev fundet:

| $A$ | 1 the | 2 cat | sum |
| ---: | ---: | ---: | ---: |
| **1 the** | 1,0000 | · | 1,0000 |
| **2 cat** | **0,6698** | 0,3302 | 1,0000 |

$$
A_{2,1} = \\frac{1}{1{,}4931} = 0{,}6698
$$

- ✓ ingen vægt er negativ: den mindste viste er 0
- ✓ hver vist række summer til 1: den største afvigelse er 0
- ✓ en forbudt vægt er præcis 0: den største af de 1 viste er 0
"""


def test_markdown(in_form):
    assert in_form("markdown", "derive labels", "weights", language="da") == MARKDOWN


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_table_of_a_handout_has_one_width(in_form, name):
    widths = []
    for line in in_form("markdown", name).splitlines():
        if not line.startswith("|"):
            widths = []
            continue
        widths.append(line.count(" | "))
        assert len(set(widths)) == 1, line


@pytest.mark.parametrize("name", QUESTIONS)
def test_formulas_of_a_handout_are_closed(in_form, name):
    text = in_form("markdown", name)
    assert text.count("$$") % 2 == 0
    for line in text.splitlines():
        assert line == "$$" or line.count("$") % 2 == 0, line


def test_a_label_is_no_markup(in_form):
    from dataclasses import replace

    from sdpa_cli.explaining.derivation import derive
    from sdpa_cli.explaining.selecting import Selectors
    from sdpa_cli.views.explaining.forms import told
    from sdpa_cli.views.explaining.markdown import markdown

    labelled = replace(case("labels"), query_labels=("a|b", "*c*"), title="# <b>\nx")
    trace = derive(labelled, Selectors(row=0))
    text = markdown(trace, told(trace, "en"))
    assert text.startswith("# \\# \\<b\\> x\n")
    assert "| **1 a\\|b** |" in text


def test_json_is_complete_and_counts_from_0(in_form):
    found = json.loads(in_form("json", "derive given", language="hu"))
    assert (found["schema_version"], found["language"], found["kind"]) == (SCHEMA_VERSION, "hu", "case")
    steps = {step["name"]: step for step in found["steps"]}
    (matrix,) = [part for part in steps["weights"]["parts"] if part["kind"] == "matrix"]
    np.testing.assert_array_equal(matrix["values"], case("given").attend().weights())
    assert matrix["rows"] == {"kind": "query", "indices": [0, 1], "size": 2, "labels": None}
    assert matrix["forbidden"] == case("given").attend().forbidden().tolist()
    (scores,) = [part for part in steps["mask"]["parts"] if part["kind"] == "matrix"]
    assert scores["values"][0][1] == "-inf"


def test_a_worked_line_in_json_has_its_factors_and_its_result(in_form):
    found = json.loads(in_form("json", "derive two", "scale"))
    (worked,) = [part for part in found["steps"][0]["parts"] if part["kind"] == "worked"]
    assert worked["maths"]["text"] == "S[1,2] = (1·2 + 0·0)/√2 = 1.414214"
    operator, _, (entry, fraction, result) = worked["maths"]["tree"]
    assert (operator, entry) == ("infix", ["entry", ["symbol", "S"], [0, 1]])
    assert fraction[0] == "fraction"
    assert result == ["number", pytest.approx(2**0.5, rel=1e-15)]


def test_prose_in_json_keeps_its_numbers(in_form):
    found = json.loads(in_form("json", "fault mask-after-softmax", "law", language="da"))
    check = found["steps"][0]["parts"][1]
    assert check["holds"] is False
    assert check["words"]["values"]["sum"] == pytest.approx(0.3302, abs=1e-4)
    assert check["words"]["text"] == "række 1 summer til 0,3302, hvor den skulle summe til 1"


def test_the_catalogue_in_json(in_form):
    found = json.loads(in_form("json", "catalogue"))
    (entries,) = [part["entries"] for part in found["steps"][0]["parts"] if part["kind"] == "catalogue"]
    assert [entry["name"] for entry in entries] == list(CATALOGUE)
    for entry in entries:
        told_of = {name: words["text"] for name, words in entry["parts"]}
        assert set(told_of) == {"cause", "symptom", "shows", "cure"}
        assert entry["source"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_json_has_no_number_that_json_does_not_have(in_form, name):
    def refuse(constant):
        raise AssertionError(constant)

    json.loads(in_form("json", name), parse_constant=refuse)
