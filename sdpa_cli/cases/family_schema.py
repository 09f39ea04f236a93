"""The fields of a case that go beyond Q, K, V and a mask: layers of heads, positions, score functions, caches."""

from __future__ import annotations

from sdpa_cli.cases.groups import Field, Group, OneOf
from sdpa_cli.cases.kinds import Choice, Flag, Integer, ListOf, Number
from sdpa_cli.cases.matrices import FILE, RANDOM, Matrix

BIAS = Matrix(ranks=range(1, 3))
TOKEN_NUMBERS = OneOf(listed=ListOf(OneOf(single=Integer(), listed=ListOf(Integer(), "[0, 1]")), "[0, 1, 2]"))
"""One whole number per token, for all sequences alike or for each of them."""

LAYER = (
    Field("X", Matrix(), "In place of Q, K, V: embeddings `(T, d_model)` or `(B, T, d_model)` that they are made of."),
    Field("memory", Matrix(), "Cross-attention: embeddings that keys and values are made of in place of X."),
    Field("W_Q", Matrix(), "`Q = X W_Q`: `(d_model, H·d_k)`, or one matrix per head `(H, d_model, d_k)`."),
    Field("W_K", Matrix(), "`(d_model, H_kv·d_k)`, or one per key/value head."),
    Field("W_V", Matrix(), "`(d_model, H_kv·d_v)`, or one per key/value head."),
    Field("W_O", Matrix(), "What the outputs of all heads, side by side, are multiplied by: `(H·d_v, d_out)`."),
    Field("b_Q", BIAS, "Added to `X W_Q`: one number per column, or one row per head."),
    Field("b_K", BIAS, "Added to `X W_K`, likewise."),
    Field("b_V", BIAS, "Added to `X W_V`, likewise."),
    Field("b_O", Matrix(ranks=range(1, 2)), "Added to the output."),
    Field(
        "num_heads", Integer(1), "H. Without it, and without a matrix per head, there is one head and no axis for it."
    ),
    Field(
        "num_kv_heads",
        Integer(1),
        "H_kv, a divisor of H: as many is multi-head, 1 multi-query, anything between grouped-query attention. "
        "H if left out.",
    ),
)

ROPE = Group(
    (
        Field("pairing", Choice(("interleaved", "half")), "Turn components 0 and 1, 2 and 3, …, or r and r + dim/2."),
        Field("dim", Integer(1), "How many of the first components turn, an even number; all if left out."),
        Field("base", Number(above=0), "Pair r turns by position · base^(−2r/dim) radians.", 10000),
    ),
    "{pairing: interleaved, base: 10000}",
    any_of=("pairing", "dim", "base"),
)

POSITIONS = (
    Field(
        "positions",
        OneOf(
            Choice(("sinusoidal",), ", or a matrix with one row per position"),
            Matrix(),
            mapped_by=dict.fromkeys((*FILE.names, *RANDOM.names), Matrix()),
        ),
        "What is added to X: sinusoids, or learned vectors, one for each position from 0 on.",
        None,
        ("sinusoidal",),
    ),
    Field(
        "rope",
        OneOf(Choice(("interleaved", "half"), f", or {ROPE.example}"), mapped=ROPE),
        "Turn queries and keys by their positions.",
        None,
        ("interleaved",),
    ),
    Field(
        "position_ids",
        TOKEN_NUMBERS,
        "Positions of the tokens for `rope` and `positions`, the first being 0; left out, they count on from `past`, "
        "and left padding does not count.",
        None,
        ([0, 1, 2],),
    ),
    Field(
        "alibi",
        OneOf(Flag(), ListOf(Number(), "[0.5, 0.25]")),
        "Take slope · distance off every score: `true` for the usual slopes, or one slope per head.",
        None,
        (True,),
    ),
)

ADDITIVE = Group(
    (
        Field("v", OneOf(Number(), ListOf(Number(), "[1, 1]")), "One number per hidden unit, or one for all."),
        Field("W_q", Matrix(), "`(d_q, d_a)`; the identity if left out."),
        Field("W_k", Matrix(), "`(d_k, d_a)`; the identity if left out."),
    ),
    "{v: [1, 1]}",
    required=("v",),
)
SCORE_WITH_WEIGHTS = Group(
    (
        Field("general", Matrix(), "Luong's `qᵀ W k`, with `W` `(d_q, d_k)`."),
        Field("additive", ADDITIVE, "Bahdanau's `v · tanh(q W_q + k W_k)`."),
    ),
    "{additive: {v: [1, 1]}}",
    any_of=("general", "additive"),
    exclusive=(("general", "additive"),),
)
SCORE = Field(
    "score",
    OneOf(
        Choice(("scaled_dot", "dot", "linear"), f", or {{general: [[1, 0], [0, 1]]}}, or {SCORE_WITH_WEIGHTS.example}"),
        mapped=SCORE_WITH_WEIGHTS,
    ),
    "How a query and a key are compared. `linear` is no softmax of dot products but another normaliser: weights in "
    "proportion to φ(q)·φ(k), φ = elu + 1, with logits log φ(q)·φ(k).",
    "scaled_dot",
    ({"general": [[1, 0], [0, 1]]},),
)

PAST = Group(
    (
        Field("K", Matrix(), "`(…, H_kv, T, d_k)`, turned already if `rope` is in use."),
        Field("V", Matrix(), "`(…, H_kv, T, d_v)`."),
    ),
    "{K: [[1, 0]], V: [[1, 2]]}",
    required=("K", "V"),
)
CACHE = (
    Field("past", PAST, "Cached keys and values of earlier tokens; the case's own come after them."),
    Field("decode", Flag(), "Feed the tokens one at a time through a cache. Needs a causal mask.", False),
)

MASK_PATTERNS = (
    Field(
        "padding_side",
        Choice(("right", "left")),
        "Where padding stands: after the real keys, or before them.",
        "right",
    ),
    Field(
        "segments",
        TOKEN_NUMBERS,
        "The document of each key; keys of another document are forbidden.",
        None,
        ([0, 0, 1],),
    ),
    Field(
        "query_segments", TOKEN_NUMBERS, "The document of each query, where it is not that of the key at its position."
    ),
    Field("stride", Integer(1), "Sparse: allow keys whose distance is a multiple of this, besides those in `window`."),
    Field(
        "global_tokens",
        ListOf(Integer(0), "[0]"),
        "Sparse: positions, from 0 on, of tokens that see all keys and are seen by all queries despite `window` and "
        "`stride`.",
        None,
        ([0],),
    ),
)

EXPECT_LAYER = (
    Field("heads", Matrix(), "The output of each head `(…, H, Tq, d_v)`."),
    Field("concatenated", Matrix(), "The heads' outputs side by side `(…, Tq, H·d_v)`."),
)
