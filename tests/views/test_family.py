"""Layers of heads, drawn masks and every other setting of the family, as tables, JSON, CSV and archives."""

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from sdpa_cli.errors import InputError
from sdpa_cli.languages import load
from sdpa_cli.views.archive import save_archive
from sdpa_cli.views.documents import json_pieces
from sdpa_cli.views.excerpts import Shown
from sdpa_cli.views.markdown import markdown_pieces
from sdpa_cli.views.matrices import REASONS
from sdpa_cli.views.reading import check_selection
from sdpa_cli.views.sheets import csv_pieces
from sdpa_cli.views.terminal import table_pieces
from sdpa_cli.views.windows import selection

LAYER = """\
title: grouped queries
X: [[1, 0, 2, 1], [0, 1, 1, 0], [1, 1, 0, 2]]
W_Q: {random: normal, shape: [4, 8], seed: 1}
W_K: {random: normal, shape: [4, 4], seed: 2}
W_V: {random: normal, shape: [4, 4], seed: 3}
W_O: {random: normal, shape: [8, 3], seed: 4}
num_heads: 4
num_kv_heads: 2
rope: half
tokens: [the, cat, sat]
mask: {causal: true, window: {left: 1}}
decode: true
"""
HEAD_2 = Shown(("mask", "weights", "heads", "concatenated", "output"), heads=selection("2"), precision=2)
TABLE = """\
grouped queries
layer   X (3, 4); 4 heads, 2 for keys and values
place   Q and K turned, half pairs, base 10000
shapes  Q (H=4, Tq=3, d_k=2)   K (H_kv=2, Tk=3, d_k=2)   V (H_kv=2, Tk=3, d_v=2)
scale   1/√2 = 0.7071
mask    causal; window 1 left, unlimited right: 16 of 36 cells forbidden
cache   1, 2, 2 at each step; 128 bytes

mask  why a key is forbidden; ✓ where it is allowed   the same for all heads
  q\\k  the  cat  sat
  the    ✓    c    c
  cat    ✓    ✓    c
  sat    w    ✓    ✓
  c causal   w window

weights  A = softmax(S), row by row   head 2 of 4
  q\\k   the     cat     sat    │  sum
  the  1.00 █     ·       ·    │ 1.00
  cat  0.83 ▇  0.17 ▁     ·    │ 1.00
  sat     ·    0.63 ▅  0.37 ▃  │ 1.00

heads  O = A·V   head 2 of 4
           1     2
  the   0.03  3.42
  cat  -0.19  3.37
  sat  -0.45  0.44

concatenated  C = the heads side by side
           1      2      3     4      5      6      7      8
  the   0.03   3.42   0.03  3.42  -0.19  -1.66  -0.19  -1.66
  cat  -0.99   3.19  -0.19  3.37  -0.33  -1.57  -1.79  -0.59
  sat  -0.10  -0.65  -0.45  0.44  -2.30  -0.85  -2.69  -1.05

output  O = C·W_O
           1      2     3
  the   0.42  -2.19  4.12
  cat   1.02  -0.10  3.96
  sat  -1.02   3.53  5.63
"""


def test_a_layer_as_a_table(computed):
    console = Console(file=io.StringIO(), width=80, _environ={})
    assert "".join(table_pieces(computed(LAYER), HEAD_2, console)) == TABLE


def test_a_layer_as_json(computed):
    (result,) = computed(LAYER)
    (case,) = json.loads("".join(json_pieces([result], HEAD_2)))["cases"]
    assert case["shapes"] == {
        "X": [3, 4],
        "W_Q": [4, 8],
        "W_K": [4, 4],
        "W_V": [4, 4],
        "W_O": [8, 3],
        "Q": [4, 3, 2],
        "K": [2, 3, 2],
        "V": [2, 3, 2],
        "S": [4, 3, 3],
        "O": [4, 3, 2],
    }
    assert case["window"]["head"] == [1]
    assert case["reasons"]["window"] == [[[False] * 3, [False] * 3, [True, False, False]]]
    assert case["cache"] == {"before": 0, "kept": [1, 2, 2], "bytes": 128}
    np.testing.assert_array_equal(case["heads"], result.attention.output[1:2])
    np.testing.assert_array_equal(case["lse"], result.attention.lse[1:2])
    np.testing.assert_array_equal(case["concatenated"], result.concatenated)
    np.testing.assert_array_equal(case["output"], result.projected)


def test_a_layer_as_csv(computed):
    (result,) = computed(LAYER)
    rows = list(csv.DictReader(io.StringIO("".join(csv_pieces([result], HEAD_2)))))
    assert {(row["matrix"], row["batch"], row["head"]) for row in rows} == {
        *(("mask", "", "1"), ("weights", "", "1"), ("heads", "", "1"), ("lse", "", "1")),
        *(("concatenated", "", ""), ("output", "", "")),
    }
    assert [row["value"] for row in rows if row["matrix"] == "mask"] == list("011001100")
    assert [float(row["value"]) for row in rows if row["matrix"] == "output"] == result.projected.ravel().tolist()


def test_a_layer_as_an_archive(computed):
    (result,) = computed(LAYER)
    file = io.BytesIO()
    save_archive(result, HEAD_2, file)
    archive = np.load(io.BytesIO(file.getvalue()), allow_pickle=False)
    np.testing.assert_array_equal(archive["mask"], result.attention.forbidden())
    np.testing.assert_array_equal(archive["heads"], result.attention.output)
    np.testing.assert_array_equal(archive["output"], result.projected)


def test_a_layer_as_markdown(computed):
    text = "".join(markdown_pieces(computed(LAYER), HEAD_2))
    assert "**mask**, the same for all heads: `why a key is forbidden; ✓ where it is allowed`" in text
    assert "| **sat** | w | ✓ | ✓ |\n\nc causal; w window\n" in text
    assert "**output**: `O = C·W_O`" in text


EVERY_REASON = """\
Q: {random: normal, shape: [12, 2], seed: 1}
K: {random: normal, shape: [12, 2], seed: 2}
V: {random: normal, shape: [12, 2], seed: 3}
mask:
  causal: true
  window: {left: 2}
  stride: 5
  key_lengths: 11
  padding_side: left
  segments: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
  allowed: MATRIX
empty_rows: zero
"""


def test_a_mask_of_many_reasons_fits_a_page(computed):
    """Each reason is one letter, and only the reasons that forbid something are told."""
    console = Console(file=io.StringIO(), width=80, _environ={})
    mask = np.ones((12, 12), int)
    mask[7, 7] = 0
    text = EVERY_REASON.replace("MATRIX", str(mask.tolist()))
    lines = "".join(table_pieces(computed(text), Shown(("mask",)), console)).splitlines()
    drawn = lines[lines.index("mask  why a key is forbidden; ✓ where it is allowed") :]
    assert max(map(len, drawn)) <= 80
    assert drawn[8:10] == [
        "   7  pas   a  as  as   a   a   ✓   c   c   c   c   c",
        "   8  pas  as   a  as  as   a   ✓   g   c   c   c   c",
    ]
    assert drawn[-1] == "  c causal   p padding   g given   a another document   s sparse"


def test_a_reason_that_forbids_nothing_is_not_told(computed):
    console = Console(file=io.StringIO(), width=80, _environ={})
    wide = computed(QKV + "mask: {causal: true, window: {left: 9}}\n")
    assert "".join(table_pieces(wide, Shown(("mask",)), console)).splitlines()[-1] == "  c causal"


BATCHED = """\
Q: {random: normal, shape: [2, 2, 3, 1], seed: 1}
K: {random: normal, shape: [2, 2, 3, 1], seed: 2}
V: {random: normal, shape: [2, 2, 3, 1], seed: 3}
"""
PER_HEAD = [[[[0, 0, 0]] * 3, [[0, 0, 1]] * 3]]
PICTURES = {
    "causal": ("causal", ["the same for all batch entries and heads"]),
    "one-length": ("{key_lengths: 2}", ["the same for all batch entries and heads"]),
    "equal-lengths": ("{key_lengths: [2, 2]}", ["the same for all batch entries and heads"]),
    "lengths": ("{key_lengths: [2, 3]}", [f"batch {i} of 2, the same for all heads" for i in (1, 2)]),
    "documents": (
        "{segments: [[0, 0, 1], [0, 1, 1]]}",
        [f"batch {i} of 2, the same for all heads" for i in (1, 2)],
    ),
    "a-matrix-per-head": (str(PER_HEAD), [f"head {i} of 2, the same for all batch entries" for i in (1, 2)]),
    "lengths-per-head": (
        "{key_lengths: [[1, 2], [2, 3]]}",
        [f"batch {i} of 2, head {j} of 2" for i in (1, 2) for j in (1, 2)],
    ),
}


@pytest.mark.parametrize("others", [(), ("scores", "output")], ids=["alone", "among-others"])
@pytest.mark.parametrize(("mask", "places"), PICTURES.values(), ids=PICTURES)
def test_heads_that_share_their_mask_share_its_picture(table, mask, places, others):
    lines = table(f"{BATCHED}mask: {mask}\n", "mask", *others, width=120).splitlines()
    heading = "mask  why a key is forbidden; ✓ where it is allowed   "
    assert [line.removeprefix(heading) for line in lines if line.startswith(heading)] == places


@pytest.mark.parametrize(
    ("matrices", "told"),
    [
        (("mask",), []),
        (("output",), []),
        (("scores",), ["… 4 of 8 heads not shown: --format json has them all"]),
        (("mask", "scores"), ["… 4 of 8 heads not shown: --format json has them all"]),
    ],
    ids=["one-picture", "one-output", "scores", "both"],
)
def test_heads_are_missed_only_where_there_would_be_something_to_see(table, matrices, told):
    eight = LAYER.replace("[4, 8]", "[4, 16]").replace("[8, 3]", "[16, 3]").replace("num_heads: 4", "num_heads: 8")
    lines = table(eight, *matrices).splitlines()
    assert [line for line in lines if "not shown" in line] == told


def test_batch_entries_with_one_head_each_are_missed_as_batch_entries(table):
    lines = table(BATCHED.replace("[2, 2,", "[9, 1,"), "scores").splitlines()
    assert lines[-1] == "… 5 of 9 batch entries not shown: --format json has them all"


def test_the_letters_of_reasons_are_those_of_explain():
    """Who reads both meets one set of signs."""
    spoken = load("sdpa_cli.explaining", "en")
    assert {name: words[0] for name, words in REASONS.items()} == {
        name: spoken(f"reason.{name}")[0] for name in REASONS
    }
    assert len({words[0] for words in REASONS.values()}) == len(REASONS)


QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0], [0, 1]]\n"
ONE_HEAD = "X: [[1, 0], [0, 1]]\nW_Q: [[1, 0], [0, 1]]\nW_K: [[1, 0], [0, 1]]\nW_V: [[1, 0], [0, 1]]\n"
LINES = {
    "dot": (QKV + "score: dot\n", "scores  S = QKᵀ"),
    "dot-name": (QKV + "score: dot\n", "score   dot product, not scaled"),
    "general": (QKV + "score: {general: [[1, 0], [0, 1]]}\nscale: 0.5\n", "scores  S = 0.5·QWKᵀ"),
    "additive": (QKV + "score: {additive: {v: 1}}\n", "scores  S = v·tanh(QW_q + KW_k)"),
    "linear": (
        QKV + "score: linear\n",
        "score   linear attention: shares in proportion to the similarity itself, not to its exponential",
    ),
    "alibi": (QKV + "alibi: [0.5]\n", "alibi   slope · distance taken off the scores; slopes 0.5"),
    "alibi-scores": (QKV + "alibi: [0.5]\n", "scores  S = QKᵀ/√d_k - slope·distance"),
    "rope": (QKV + "rope: interleaved\n", "place   Q and K turned, interleaved pairs, base 10000"),
    "past": (QKV + "past: {K: [[1, 2]], V: [[3, 4]]}\n", "cache   1 token before; 3 tokens; 96 bytes"),
    "documents": (QKV + "mask: {segments: [0, 1]}\n", "mask    documents 0, 1: 2 of 4 cells forbidden"),
    "sparse": (
        QKV + "mask: {stride: 2, global_tokens: [0]}\n",
        "mask    every key at a multiple of 2; global tokens at 0: 0 of 4 cells forbidden",
    ),
    "left": (
        QKV + "mask: {key_lengths: 1, padding_side: left}\n",
        "mask    key lengths 1, padding on the left: 2 of 4 cells forbidden",
    ),
    "sinusoidal": (ONE_HEAD + "positions: sinusoidal\n", "place   sinusoids added to X"),
    "num-heads-1": (ONE_HEAD + "num_heads: 1\n", "layer   X (2, 2); 1 head, 1 for keys and values"),
    "one-head": (ONE_HEAD, "layer   X (2, 2); one head"),
    "learned": (ONE_HEAD + "positions: [[1, 0], [0, 1]]\n", "place   learned vectors added to X"),
    "memory": (
        ONE_HEAD + "memory: [[1, 2], [3, 4], [5, 6]]\n",
        "layer   X (2, 2), memory (3, 2); one head",
    ),
    "b_O": (ONE_HEAD + "W_O: [[1, 0], [0, 1]]\nb_O: [1, 2]\n", "output  O = A·V·W_O + b_O"),
}


@pytest.mark.parametrize(("text", "line"), LINES.values(), ids=LINES)
def test_every_setting_is_told(table, text, line):
    assert line in table(text, width=120).splitlines()


def test_a_layer_expects_what_it_gives(computed):
    (result,) = computed(
        ONE_HEAD + "num_heads: 2\nexpect: {heads: [[[1], [0]], [[0], [1]]], output: [[9, 9], [9, 9]]}\n"
    )
    assert [(verdict.name, verdict.difference is None) for verdict in result.verdicts] == [
        ("heads", False),
        ("output", False),
    ]
    expected = {"heads": result.attention.output, "concatenated": result.concatenated, "output": result.projected}
    text = "".join(f"  {name}: {array.tolist()}\n" for name, array in expected.items())
    (result,) = computed(f"{ONE_HEAD}num_heads: 2\nexpect:\n{text}")
    assert result.holds


@pytest.mark.parametrize(
    ("text", "shown", "message"),
    [
        (QKV, Shown(heads=selection("1")), "--head 1: the case has no axis of heads"),
        (LAYER, Shown(heads=selection("5")), "--head 5: there are only 4 heads"),
        (QKV, Shown(("heads",)), "the case has no heads: only a layer has"),
    ],
    ids=["no-heads", "too-many", "no-layer"],
)
def test_refused_selections(computed, text, shown, message):
    (result,) = computed(text)
    with pytest.raises(InputError) as caught:
        check_selection(result, shown)
    assert [problem.message for problem in caught.value.problems] == [message]
