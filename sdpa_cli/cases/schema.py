"""The case file's one definition: a table of its fields.

The reader, the JSON Schema for editors and the README's table of fields all come from here. A new field is one row
here, and its use in `building`.
"""

from __future__ import annotations

from sdpa_cli.cases.cells import TRUTH_VALUES
from sdpa_cli.cases.family_schema import CACHE, EXPECT_LAYER, LAYER, MASK_PATTERNS, POSITIONS, SCORE
from sdpa_cli.cases.groups import Field, Group, OneOf
from sdpa_cli.cases.kinds import Choice, Flag, Integer, ListOf, Number, Text
from sdpa_cli.cases.matrices import FILE, Matrix

LABELS = ListOf(Text(), "[the, cat, sat]")
TRUTH_MATRIX = Matrix(TRUTH_VALUES, elsewhere=(FILE,))

WINDOW = Group(
    (
        Field("left", Integer(0), "How many keys before its own position a query may look at; all if left out."),
        Field("right", Integer(0), "How many after it; all if left out."),
    ),
    "{left: 2, right: 0}",
    any_of=("left", "right"),
    hint="a bare number means different things in different libraries: say how far to each side",
)

MASK = Group(
    (
        Field("causal", Flag(), "Forbid keys after the query's own position.", False),
        Field("window", WINDOW, "Forbid keys farther than this from the query's position."),
        Field(
            "query_offset",
            Integer(),
            "The position of the first query among the keys; to be stated where Tq ≠ Tk: 0 aligns the first query "
            "with the first key, Tk − Tq the last with the last.",
        ),
        Field(
            "key_lengths",
            OneOf(
                single=Integer(0),
                listed=ListOf(OneOf(single=Integer(0), listed=ListOf(Integer(0), "[3, 4]")), "[3, 4]"),
            ),
            "How many keys are real, the rest being padding: one number, one per batch entry, or one per batch entry "
            "and head.",
            None,
            ([3, 4],),
        ),
        *MASK_PATTERNS,
        Field("forbidden", TRUTH_MATRIX, "1 where a query must not look at a key."),
        Field("allowed", TRUTH_MATRIX, "1 where a query may look at a key."),
    ),
    "{causal: true, key_lengths: [3, 4]}",
    exclusive=(("forbidden", "allowed"),),
)

EXPECT = Group(
    (
        Field("scores", Matrix(), "The logits that enter the softmax, −inf where a key is forbidden."),
        Field("weights", Matrix(), "The attention weights."),
        *EXPECT_LAYER,
        Field("output", Matrix(), "The outputs; with `X`, after `W_O` and `b_O`."),
        Field("atol", Number(least=0), "How far a value may be off, absolutely.", 1e-6),
        Field("rtol", Number(least=0), "How far a value may be off, relative to what is expected.", 1e-6),
    ),
    "{output: [[1, 2]], atol: 1e-4}",
    any_of=("scores", "weights", "heads", "concatenated", "output"),
)

CASE = Group(
    (
        Field("title", Text(), "What the case shows."),
        Field("tokens", LABELS, "One label per token, for queries and keys alike.", None, (["the", "cat"],)),
        Field("queries", LABELS, "One label per query, where queries and keys are different tokens."),
        Field("keys", LABELS, "One label per key."),
        Field("Q", Matrix(), "Queries `(…, Tq, d_k)`: one row per query.", None, ([[1, 0], [0, 1]],)),
        Field("K", Matrix(), "Keys `(…, Tk, d_k)`: one row per key.", None, ([[1, 1], [2, 0]],)),
        Field("V", Matrix(), "Values `(…, Tk, d_v)`: one row per key.", None, ([[1, 0, 0], [0, 1, 0]],)),
        *LAYER,
        *POSITIONS,
        *CACHE,
        Field(
            "mask",
            OneOf(
                Choice(("none", "causal"), ", or a matrix of 0 and 1, or {causal: true, window: {left: 2, right: 0}}"),
                TRUTH_MATRIX,
                MASK,
                dict.fromkeys(("file", "member"), TRUTH_MATRIX),
            ),
            "Which keys each query must not look at. In a matrix, 1 or true forbids.",
            "none",
            ("causal", [[0, 1], [0, 0]]),
        ),
        Field(
            "mask_means",
            Choice(("forbidden", "allowed")),
            "What 1 or true says in a mask given as a matrix; `allowed` is the habit of PyTorch and JAX.",
            "forbidden",
        ),
        SCORE,
        Field("bias", Matrix(), "Added to the scaled scores `(Tq, Tk)`, before the mask."),
        Field(
            "scale",
            Number(),
            "What the dot products are multiplied by; 1/√d_k if left out, and 1 with another `score`.",
        ),
        Field("softcap", Number(above=0), "Scaled scores s become cap · tanh(s / cap), before the bias."),
        Field("dtype", Choice(("float64", "float32")), "The precision of the computation.", "float64"),
        Field("block_size", Integer(1), "How many keys are computed at a time; the result stays the same."),
        Field(
            "empty_rows",
            Choice(("error", "zero")),
            "What becomes of a query with every key forbidden: an error, or an output of zeros.",
            "error",
        ),
        Field(
            "nonfinite",
            Choice(("error", "propagate")),
            "What becomes of a NaN or infinite score at an allowed key: an error, or what arithmetic makes of it.",
            "error",
        ),
        Field("expect", EXPECT, "What must come out; `sdpa compute` then compares, and fails where it differs."),
    ),
    "{Q: [[1, 0]], K: [[1, 1]], V: [[2, 3]]}",
    alternatives=(("Q", "K", "V"), ("X", "W_Q", "W_K", "W_V")),
    exclusive=(
        *(("tokens", "queries"), ("tokens", "keys")),
        *(("X", "Q"), ("X", "K"), ("X", "V")),
        *(("memory", "past"), ("memory", "decode")),
    ),
    needs={
        **{field.name: "X" for field in LAYER if field.name != "X"},
        "positions": "X",
    },
    needs_any={"position_ids": ("rope", "positions")},
)


def default(name: str) -> str:
    """The value of a top-level field that a case leaves out."""
    return str(next(field.default for field in CASE.fields if field.name == name))
