import csv
import io

import numpy as np

from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.sheets import csv_pieces
from sdpa_cli.views.windows import selection

CAUSAL = "title: '=1+1'\nQ: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1], [0]]\nmask: causal\ntokens: ['=x', '@y']\n"
HEADS = (
    "Q: {random: normal, shape: [2, 4, 3, 2], seed: 1}\nK: {random: normal, shape: [2, 2, 5, 2], seed: 2}\n"
    "V: {random: normal, shape: [2, 2, 5, 3], seed: 3}\n"
)

LINES = """\
case,matrix,batch,head,row,col,value
0,scores,,,0,0,0.7071067811865475
0,scores,,,0,1,-inf
0,scores,,,1,0,0.7071067811865475
0,scores,,,1,1,0.0
0,output,,,0,0,1.0
0,output,,,1,0,#
0,lse,,,0,,0.7071067811865475
0,lse,,,1,,#
"""


def test_one_line_for_each_number(computed):
    results = computed(CAUSAL)
    text = "".join(csv_pieces(results, Shown(("scores", "output"))))
    for value in (results[0].attention.output[1, 0], results[0].attention.lse[1]):
        text = text.replace(repr(float(value)), "#")
    assert text == LINES


def test_every_number_is_there_under_its_indices(computed):
    (result,) = computed(HEADS)
    rows = list(csv.DictReader(io.StringIO("".join(csv_pieces([result], Shown())))))
    attention = result.attention
    for name, values in (("weights", attention.weights()), ("output", attention.output), ("lse", attention.lse)):
        found = np.full(values.shape, np.nan)
        for row in rows:
            if row["matrix"] == name:
                index = [int(row[axis]) for axis in ("batch", "head", "row", "col") if row[axis]]
                found[tuple(index)] = float(row["value"])
        np.testing.assert_allclose(found, values, rtol=1e-14)
    assert len(rows) == 2 * attention.weights().size + attention.output.size + attention.lse.size


def test_rows_and_columns_restrict(computed):
    lines = "".join(csv_pieces(computed(CAUSAL), Shown(("weights",), selection("2"), selection("1")))).splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines[1:]] == ["0,weights,,,1,0", "0,lse,,,1,"]


def test_nothing_of_it_is_a_formula(computed):
    text = "".join(csv_pieces(computed(CAUSAL), Shown()))
    assert "=" not in text
    assert "@" not in text
