"""Explanations in a terminal: goldens in three languages, and what holds for every terminal."""

import io
import os
import re

import numpy as np
import pytest
from explaining.questions import QUESTIONS, case

from sdpa_cli.explaining.trace import Trace, words
from sdpa_cli.views.explaining.forms import told
from sdpa_cli.views.explaining.interactive import Reader, read_through
from sdpa_cli.views.explaining.statements import statement_lines
from sdpa_cli.views.glyphs import width

ENGLISH = """\
a case without a title

1. The weights
     A[i,j] = E[i,j]/l[i]
   Each exponential is divided by the sum of its row. That is the softmax, row
   by row: each query shares out a total of 1 among the keys it may look at.
   What must hold of them, and what was found:

   A        1 the     2 cat  │    sum
   1 the 1.0000 █         ·  │ 1.0000
   2 cat[0.6698 ▅] 0.3302 ▃  │ 1.0000

   A[2,1] = 1/1.4931 = 0.6698
   ✓ no weight is negative: the smallest one shown is 0
   ✓ every row shown sums to 1: the largest deviation is 0
   ✓ a forbidden weight is exactly 0: the largest of the 1 shown is 0
"""

HUNGARIAN = """\
cím nélküli feladat

1. A maszk, a softmax előtt
     S[i,j] ← −∞
   A tiltott pontszámok a softmax előtt −∞-re változnak. Mivel exp(−∞) = 0, a
   súlyuk pontosan 0 lesz, és a softmax a teljes 1-et a megmaradt kulcsok között
   osztja szét. A feladat szabályai:
   oksági (causal)  az i-edik lekérdezés az i-edik kulcsig nézhet

   M     1 the  2 cat
   1 the     ✓      o
   2 cat     ✓      ✓
     o oksági (causal)   ✓ megengedett

   Egy példa: 1. lekérdezés, 2. kulcs. Ez a cella tiltott; az ok: oksági
   (causal).

   S      1 the   2 cat
   1 the 0,7071      [·]
   2 cat 0,7071  0,0000

   S[1,2] = −∞
"""

DANISH = """\
two tokens

1. Flise 2: key 2
     query   flisemaks.   gammel m     ny m   faktor    sum l    akkumulator a
         1       1,4142     0,7071   1,4142   0,4931   1,4931   (0,4931; 1; 0)
         2       0,0000     0,7071   0,7071   1,0000   1,4931   (1; 0,4931; 0)

   l′[1] = 0,4931·1 + 1·1 = 1,4931
"""

ASCII = """\
two tokens

1. The scale
     S = QK^T/sqrt(d_k)
   Every product is divided by sqrt(d_k). It is always the length of the keys
   that counts, never that of the values.

   S      1       2
   1 0.7071 [1.4142]
   2 0.7071  0.0000

   S[1,2] = (1*2 + 0*0)/sqrt(2) = 1.4142
"""


def test_english(in_terminal):
    assert in_terminal("derive labels", "weights") == ENGLISH


def test_hungarian(in_terminal):
    assert in_terminal("derive labels", "mask", language="hu") == HUNGARIAN


def test_danish(in_terminal):
    assert in_terminal("stream two", "tile-2", language="da").startswith(DANISH)


def test_ascii(in_terminal):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert in_terminal("derive two", "scale", file=stream).startswith(ASCII)


@pytest.mark.parametrize(("language", "encoding"), [("en", "ascii"), ("hu", "cp1252"), ("da", "iso8859-2")])
def test_every_encoding_can_show_everything(in_terminal, language, encoding):
    for name in QUESTIONS:
        shown = in_terminal(name, language=language, file=io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        shown.encode(encoding)
        assert shown.count("?") == in_terminal(name, language=language).count("?"), name


@pytest.mark.parametrize(("language", "columns"), [("en", 50), ("hu", 80), ("da", 132)])
def test_only_what_cannot_be_broken_is_wider_than_the_page(in_terminal, language, columns):
    for name in QUESTIONS:
        for line in in_terminal(name, language=language, width=columns).splitlines():
            unbroken = max(map(width, line.split()), default=0) > columns // 2 or line.lstrip().startswith(("$", "|"))
            assert width(line) <= columns or unbroken, (name, line)


def numbers(line):
    return [float(text.replace("−", "-")) for text in re.findall(r"[−-]?\d+\.\d+", line)]


@pytest.mark.parametrize(("name", "decimal"), [("derive uneven", "."), ("derive bias", "."), ("derive given", ".")])
def test_printed_matrices_are_the_engine_s(in_terminal, name, decimal):
    """The table of the weights and that of the output, read back from what is printed."""
    engine = case(name.split()[1]).attend()
    for step, letter, expected in (("weights", "A", engine.weights()), ("output", "O", engine.output)):
        lines = in_terminal(name, step, color_system=None).splitlines()
        start = next(i for i, line in enumerate(lines) if line.strip().startswith(letter + " "))
        for row, line in zip(expected, lines[start + 1 :], strict=False):
            printed = numbers(line.split("│")[0])
            np.testing.assert_allclose(printed, row[~np.isclose(row, 0)] if letter == "A" else row, atol=5.1e-5)


def test_a_label_cannot_steer_the_terminal(in_terminal):
    shown = in_terminal("derive labels", "weights")
    assert "\x1b" not in shown


def test_colour_shades_the_weights_only(in_terminal):
    kind = {"force_terminal": True, "color_system": "256"}
    assert "48;5;" in in_terminal("derive two", "weights", **kind)
    assert "48;5;" not in in_terminal("derive two", "scale", **kind)


def test_two_matrices_stand_beside_each_other_where_there_is_room(in_terminal):
    assert "right                     with the fault" in in_terminal("fault mask-after-softmax", "difference")
    narrow = in_terminal("fault mask-after-softmax", "difference", width=40)
    assert "\n   with the fault\n" in narrow


STATEMENT = """# Title

A paragraph that is
wrapped anew.

- an item with `code`
  that goes on
  - nested

    code  as it is
"""


def test_a_statement_is_wrapped_and_keeps_its_code():
    lines = [line.plain for line in statement_lines(STATEMENT, 24)]
    assert lines == [
        "",
        "A paragraph that is",
        "wrapped anew.",
        "",
        "- an item with code that",
        "  goes on",
        "  - nested",
        "",
        "    code  as it is",
    ]


def pressed(keys, name="derive two"):
    from explaining.questions import trace

    stream, presses = io.StringIO(), iter(keys)
    read_through(trace(name), told(trace(name), "en"), Reader(stream, lambda: next(presses)))
    return re.findall(r"^(\d+)\. ", stream.getvalue(), re.MULTILINE)


@pytest.mark.parametrize(
    ("keys", "steps"),
    [
        ([" ", "\x1b[C", "n", "q"], "1 2 3 4"),
        (["n", "p", "b", "q"], "1 2 1 1"),
        (["G", "g", "\x03"], "1 11 1"),
        (["x", "q"], "1 1"),
        (["G", " "], "1 11"),
        ([""], "1"),
    ],
    ids=["forwards", "backwards", "ends", "unknown", "after the last", "end of input"],
)
def test_one_step_per_key_press(keys, steps):
    assert pressed(keys) == steps.split()


def test_a_window_resized_between_two_keys_is_filled_anew(monkeypatch):
    from explaining.questions import trace

    stream, widths, presses, pages = io.StringIO(), [50, 80], iter("nnq"), []
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((widths[-1], 50)))

    def key():
        pages.append(stream.getvalue())
        stream.seek(0)
        stream.truncate()
        del widths[1:]
        return next(presses)

    read_through(trace("derive two"), told(trace("derive two"), "en"), Reader(stream, key))
    longest = [max(map(len, page.splitlines()[3:-1])) for page in pages]
    assert 50 < longest[0] <= 80
    assert all(length <= 50 for length in longest[1:])


def test_a_trace_without_steps_named_is_itself():
    found = Trace("topic", "x", words("title.case"), ())
    assert found.only(()).steps == ()
