"""The table form, as it stands in a terminal: goldens at a fixed width, and what holds for every table."""

import io
import re

import pytest

from sdpa_cli.views.glyphs import width
from sdpa_cli.views.windows import selection

TWO_TOKENS = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
CAUSAL = TWO_TOKENS + "title: two tokens\ntokens: [the, cat]\nmask: causal\n"
WIDE = (
    "title: wide\nQ: {random: normal, shape: [30, 4], seed: 1}\nK: {random: normal, shape: [30, 4], seed: 2}\n"
    "V: {random: normal, shape: [30, 30], seed: 3}\n"
)
HEADS = (
    "title: heads\nQ: {random: normal, shape: [2, 8, 2, 4], seed: 1}\n"
    "K: {random: normal, shape: [2, 2, 2, 4], seed: 2}\n"
    "V: {random: normal, shape: [2, 2, 2, 1], seed: 3}\n"
)

PLAIN = """\
two tokens
shapes  Q (Tq=2, d_k=2)   K (Tk=2, d_k=2)   V (Tk=2, d_v=3)
scale   1/√2 = 0.7071
mask    causal: 1 of 4 cells forbidden

scores  S = QKᵀ/√d_k
  q\\k     the     cat
  the  0.7071       ·
  cat  0.7071  0.0000

weights  A = softmax(S), row by row
  q\\k     the       cat    │    sum
  the  1.0000 █       ·    │ 1.0000
  cat  0.6698 ▅  0.3302 ▃  │ 1.0000

output  O = A·V
            1       2       3
  the  1.0000  0.0000  0.0000
  cat  0.6698  0.3302  0.0000
"""

ASCII = """\
two tokens
shapes  Q (Tq=2, d_k=2)   K (Tk=2, d_k=2)   V (Tk=2, d_v=3)
scale   1/sqrt(2) = 0.7071
mask    causal: 1 of 4 cells forbidden

scores  S = QK'/sqrt(d_k)
  q\\k     the     cat
  the  0.7071       .
  cat  0.7071  0.0000

weights  A = softmax(S), row by row
  q\\k     the     cat  |    sum
  the  1.0000       .  | 1.0000
  cat  0.6698  0.3302  | 1.0000

output  O = A*V
            1       2       3
  the  1.0000  0.0000  0.0000
  cat  0.6698  0.3302  0.0000
"""


def test_the_course_s_example_without_colour(table):
    assert table(CAUSAL) == PLAIN


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_an_output_that_cannot_show_the_signs_gets_plain_ones(table, encoding):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert table(CAUSAL, file=file) == ASCII


def test_in_colour_the_weights_are_shaded_each_with_its_own_ink(table):
    text = table(CAUSAL, "weights", force_terminal=True, color_system="256")
    legend, head, first, second = text.splitlines()[5:9]
    shades = "".join(f"\x1b[38;5;{ink};48;5;{shade}m  \x1b[0m" for ink, shade in SHADES)
    assert legend == f"\x1b[1mweights\x1b[0m  A = softmax(S), row by row   \x1b[2m0 \x1b[0m{shades}\x1b[2m 1\x1b[0m"
    bar, total = "\x1b[2m │ \x1b[0m", "\x1b[2m1.0000\x1b[0m"
    assert head == f"\x1b[2m  q\\k \x1b[0m\x1b[1m    the \x1b[0m\x1b[1m    cat \x1b[0m{bar}\x1b[1m   sum\x1b[0m"
    assert first == f"  \x1b[1mthe\x1b[0m \x1b[38;5;16;48;5;227m 1.0000 \x1b[0m      · {bar}{total}"
    assert second == (
        f"  \x1b[1mcat\x1b[0m \x1b[38;5;16;48;5;78m 0.6698 \x1b[0m\x1b[38;5;231;48;5;25m 0.3302 \x1b[0m{bar}{total}"
    )


SHADES = ((231, 17), (231, 18), (231, 25), (16, 31), (16, 37), (16, 78), (16, 149), (16, 227))

COLOURLESS = {
    "NO_COLOR": {"force_terminal": True, "_environ": {"NO_COLOR": "1", "TERM": "xterm-256color"}},
    "dumb": {"force_terminal": True, "_environ": {"TERM": "dumb"}},
    "a pipe": {"_environ": {"TERM": "xterm-256color"}},
}


@pytest.mark.parametrize("console", COLOURLESS.values(), ids=COLOURLESS)
def test_without_colour_block_signs_stand_for_the_shades(table, console):
    text = table(CAUSAL, **console)
    assert re.sub("\x1b\\[[0-9;]*m", "", text) == PLAIN
    assert not re.search("\x1b\\[[0-9;]*[34][0-9;]*m", text)


def test_forced_colour_colours_a_pipe(table):
    assert "48;5;227m" in table(CAUSAL, "weights", _environ={"FORCE_COLOR": "1", "TERM": "xterm-256color"})


def test_thirty_columns_in_eighty_cells_leave_out_the_middle_by_name(table):
    text = table(WIDE, "output")
    head, first = text.splitlines()[6:8]
    assert head == "            1        2        3        4  …       27       28       29       30"
    assert re.fullmatch(r" {3}1 ( +-?\d\.\d{4}){4} {2}…( +-?\d\.\d{4}){4}", first)
    assert text.splitlines()[-2:] == [
        "  … rows 9 to 22 of 30 are hidden; --rows 9:22 shows them",
        "  … columns 5 to 26 of 30 are hidden; --cols 5:26 shows them",
    ]


def test_one_hidden_row_is_one_row(table):
    rows = ", ".join("[1]" for _ in range(17))
    text = table(f"Q: [{rows}]\nK: [{rows}]\nV: [{rows}]", "output")
    assert text.endswith("  … row 9 of 17 is hidden; --rows 9 shows it\n")


def test_columns_asked_for_are_all_shown_in_as_many_tables_as_it_takes(table):
    text = table(WIDE, "weights", rows=selection("1"), cols=selection("5:26"))
    shown = [int(label) for line in text.splitlines() if "sum" in line for label in re.findall(r"\b\d+\b", line)]
    assert shown == list(range(5, 27))
    assert "hidden" not in text


def test_a_column_that_a_matrix_does_not_have_is_left_out_of_it(table):
    text = table(TWO_TOKENS, "weights", "output", cols=selection("3"))
    assert text.splitlines()[5:] == [
        "weights  A = softmax(S), row by row",
        "  … there are only 2 columns",
        "",
        "output  O = A·V",
        "          3",
        "  1  0.0000",
        "  2  0.0000",
    ]


def test_a_thousand_rows_are_shown_as_the_first_and_last(table):
    text = table(
        "Q: {random: normal, shape: [1000, 2], seed: 1}\nK: [[1, 1], [2, 0]]\nV: [[1, 0], [0, 1]]\n", "weights"
    )
    labels = [line.split()[0] for line in text.splitlines() if line.endswith("1.0000")]
    assert labels == [str(i) for i in (*range(1, 9), *range(993, 1001))]
    assert text.endswith("  … rows 9 to 992 of 1000 are hidden; --rows 9:992 shows them\n")


def test_every_head_is_named_and_many_are_left_out_by_name(table):
    text = table(HEADS, "weights")
    assert [line for line in text.splitlines() if "head " in line] == [
        f"weights  A = softmax(S), row by row   batch {batch} of 2, head {head} of 8"
        for batch, head in ((1, 1), (1, 2), (2, 7), (2, 8))
    ]
    assert text.endswith("\n\n… 12 of 16 heads not shown: --format json has them all\n")
    assert "K (B=2, H_kv=2, Tk=2, d_k=4)" in text


EVERYTHING = """\
X: {random: normal, shape: [9, 4], seed: 1}
W_Q: {random: normal, shape: [4, 8], seed: 1}
W_K: {random: normal, shape: [4, 8], seed: 2}
W_V: {random: normal, shape: [4, 8], seed: 3}
W_O: {random: normal, shape: [8, 3], seed: 4}
num_heads: 4
tokens: ["a long first word", "a long second word", c, d, e, f, g, h, i]
mask: {causal: true, window: {left: 100}, stride: 12, global_tokens: [0, 1, 2], segments: [1, 1, 1, 1, 1, 1, 1, 1, 1]}
expect: {weights: WEIGHTS}
"""


@pytest.mark.parametrize("cells", [60, 80])
@pytest.mark.parametrize("colors", [None, "256"])
def test_no_line_is_wider_than_the_terminal(table, cells, colors):
    weights = [[[float(i == 8 and j == 1)] * 9 for j in range(9)] for i in range(4)]
    text = table(
        f"title: all\n{EVERYTHING.replace('WEIGHTS', str(weights))}",
        *("mask", "weights", "output"),
        width=cells,
        color_system=colors,
        force_terminal=colors is not None,
    )
    assert max(map(width, re.sub("\x1b\\[[0-9;]*m", "", text).splitlines())) <= cells


FOLDED = """\
all
layer   X (9, 4); 4 heads, 4 for keys and values
shapes  Q (H=4, Tq=9, d_k=2)   K (H=4, Tk=9, d_k=2)   V (H=4, Tk=9, d_v=2)
scale   1/√2 = 0.7071
mask    causal; window 100 left, unlimited right; every key at a multiple of 12;
        global tokens at 0, 1, 2; documents 1, 1, 1, 1, 1, 1, 1, 1, and 1 more:
        144 of 324 cells forbidden
"""


def test_a_long_setting_goes_on_beneath_itself(table):
    text = table(f"title: all\n{EVERYTHING.split('expect')[0]}", "output")
    assert text.startswith(f"{FOLDED}\noutput")


def test_shapes_are_broken_between_the_matrices(table):
    many = "{random: normal, shape: [1000, 1000, 1, 1], seed: 1}"
    shapes = table(f"Q: {many}\nK: {many}\nV: {many}\n", "output").splitlines()[1:3]
    assert shapes == [
        "shapes  Q (B=1000, H=1000, Tq=1, d_k=1)   K (B=1000, H=1000, Tk=1, d_k=1)",
        "        V (B=1000, H=1000, Tk=1, d_v=1)",
    ]


def test_a_batch_is_shown_entry_by_entry(table):
    text = table("Q: [[[1]], [[2]]]\nK: [[[1]], [[2]]]\nV: [[[1]], [[2]]]\n", "output")
    assert "\noutput  O = A·V   batch 1 of 2\n" in text
    assert "\noutput  O = A·V   batch 2 of 2\n" in text


def test_numbers_of_every_size_stand_beside_each_other(table):
    text = table("Q: [[1], [1e300]]\nK: [[1e300], [1e8]]\nV: [[1e308, -0.0], [-1e-308, 2e-308]]\nscale: 1e-308\n")
    assert text.splitlines()[5:8] == [
        "scores  S = 1e-308·QKᵀ",
        "q\\k           1           2",
        "  1   1.000e-08  1.000e-300",
    ]
    assert text.splitlines()[-2:] == ["  1  5.000e+307  1.000e-308", "  2  1.000e+308      0.0000"]


def test_underflow_is_not_forbidden_and_zero_has_no_sign(table):
    text = table("Q: [[-1], [1]]\nK: [[0], [2000]]\nV: [[-0.0], [0]]\nmask: [[0, 0], [1, 0]]\n")
    assert text.splitlines()[5:] == [
        "scores  S = QKᵀ/√d_k",
        "q\\k       1           2",
        "  1  0.0000  -2000.0000",
        "  2       ·   2000.0000",
        "",
        "weights  A = softmax(S), row by row",
        "q\\k       1         2    │    sum",
        "  1  1.0000 █      ~0    │ 1.0000",
        "  2       ·    1.0000 █  │ 1.0000",
        "",
        "output  O = A·V",
        "          1",
        "  1  0.0000",
        "  2  0.0000",
    ]


def test_small_weights_keep_their_digits_and_precision_is_the_reader_s(table):
    many = ", ".join(f"[{i}]" for i in range(1000))
    case = f"Q: [[0.001]]\nK: [{many}]\nV: [{many}]\n"
    assert re.search(r"\n {2}1  0\.000582 .  0\.000583 .* │ 1\.0000\n", table(case, "weights"))
    assert re.search(r"\n {2}1  0\.00058227 . .* │ 1\.00000000\n", table(case, "weights", precision=8))
    assert re.search(r"\n {2}1  5\.8e-04 . .* │ 1\.00\n", table(case, "weights", precision=2))


def test_labels_are_shown_as_they_are_and_aligned_by_the_cells_they_take(table):
    text = table(TWO_TOKENS + 'queries: ["[red]", "[/]"]\nkeys: [日本, "e\\u0301"]\ntitle: "[bold]x[/]"\n', "weights")
    assert text.splitlines() == [
        "[bold]x[/]",
        "shapes  Q (Tq=2, d_k=2)   K (Tk=2, d_k=2)   V (Tk=2, d_v=3)",
        "scale   1/√2 = 0.7071",
        "mask    none",
        "",
        "weights  A = softmax(S), row by row",
        "    q\\k    日本         e\u0301    │    sum",
        "  [red]  0.3302 ▄  0.6698 █  │ 1.0000",
        "    [/]  0.6698 █  0.3302 ▄  │ 1.0000",
    ]


def test_long_labels_are_cut(table):
    text = table(TWO_TOKENS + f"queries: [a, {'b' * 500}]\nkeys: [{'c' * 500}, d]\n", "scores")
    assert text.splitlines()[6:] == [
        "               q\\k  ccccccccccc…       d",
        "                 a        0.7071  1.4142",
        "  bbbbbbbbbbbbbbb…        0.7071  0.0000",
    ]


SETTINGS = {
    "scale": ("scale: 2\n", ["scale   2"], "S = 2·QKᵀ"),
    "softcap": ("softcap: 5\n", ["softcap 5, before bias and mask"], "S = 5·tanh(QKᵀ/√d_k/5)"),
    "bias": ("bias: [[1, 0], [0, 1]]\n", ["bias    added to the scores, shape (2, 2)"], "S = QKᵀ/√d_k + bias"),
    "float32": ("dtype: float32\n", ["dtype   float32"], "S = QKᵀ/√d_k"),
    "blocks": ("block_size: 1\n", ["block   1 key at a time"], "S = QKᵀ/√d_k"),
    "window": (
        "mask: {causal: true, window: {left: 0}}\n",
        ["mask    causal; window 0 left, unlimited right: 2 of 4 cells forbidden"],
        "S = QKᵀ/√d_k",
    ),
    "padding": ("mask: {key_lengths: 1}\n", ["mask    key lengths 1: 2 of 4 cells forbidden"], "S = QKᵀ/√d_k"),
    "given": (
        "mask: [[0, 1], [0, 0]]\n",
        ["mask    given cell by cell, shape (2, 2): 1 of 4 cells forbidden"],
        "S = QKᵀ/√d_k",
    ),
    "offset": (
        "mask: {causal: true, query_offset: 1}\n",
        ["mask    causal; first query at position 1: 0 of 4 cells forbidden"],
        "S = QKᵀ/√d_k",
    ),
}


@pytest.mark.parametrize(("text", "lines", "formula"), SETTINGS.values(), ids=SETTINGS)
def test_what_was_done_is_said_in_one_line_each(table, text, lines, formula):
    shown = table(TWO_TOKENS + text, "scores").splitlines()
    assert set(lines) <= set(shown)
    assert f"scores  {formula}" in shown


def test_a_case_without_a_title_is_called_by_its_file(table):
    first, *_ = table(TWO_TOKENS, "output").splitlines()
    assert first.endswith("case.yaml")
    assert "case.yaml, case 2\n" in table(f"{TWO_TOKENS}---\n{TWO_TOKENS}", "output")


VERDICTS = """\
✗ weights differ in 1 of 4 cells; worst at A[2,2] (query "cat", key "cat")
    expected 0.2302, computed 0.33023845, off by 0.1, allowed 0.0001
✓ output as expected (largest error 3.8e-05; atol 0.0001, rtol 1e-06)
"""


def test_verdicts_say_what_differs_and_where(table):
    expect = "expect: {weights: [[1, 0], [0.6698, 0.2302]], output: [[1, 0, 0], [0.6698, 0.3302, 0]], atol: 1e-4}\n"
    assert table(CAUSAL + expect, "output").endswith("\n\n" + VERDICTS)


def test_a_verdict_s_hint_stands_beneath_it(table):
    text = table(TWO_TOKENS + "expect: {weights: [[0.3302, 0.6698], [0.6698, 0.3302]]}\n", "output")
    assert text.splitlines()[-3:] == [
        "✗ weights differ in 4 of 4 cells; worst at A[1,1]",
        "    expected 0.3302, computed 0.33023845, off by 3.85e-05, allowed 1.33e-06",
        "    hint: the expected values have 4 decimals; atol: 5e-05 allows for that",
    ]


@pytest.mark.parametrize("cells", [40, 80, 200])
@pytest.mark.parametrize("colors", [None, "256"])
def test_no_table_is_wider_than_the_terminal_and_no_cell_is_empty(table, cells, colors):
    text = table(WIDE, width=cells, color_system=colors, force_terminal=colors is not None)
    lines = re.sub("\x1b\\[[0-9;]*m|[▁-█]|│.*", "", text).splitlines()
    # On a narrow page the legend of the heat map, which begins with 0, has a line of its own.
    tables = [line for line in lines if re.match(r"( *q\\k| +[1-9]\d*| +…) +\S", line) and "hidden" not in line]
    assert len(tables) == 3 * (1 + 16 + 1)
    assert max(map(width, tables)) <= cells
    for start in range(0, len(tables), 18):
        head, *rows = (line.split() for line in tables[start : start + 18])
        assert all(len(row) == len({"q\\k"}.difference(head)) + len(head) for row in rows)
