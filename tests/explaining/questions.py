"""Everything that can be explained, by name: cases of every kind, and all the ways to ask about them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sdpa_cli.cases import load_case
from sdpa_cli.explaining.comparing.conventions import LIBRARIES, explain_as
from sdpa_cli.explaining.comparing.faults import catalogue, explain_fault
from sdpa_cli.explaining.derivation import derive
from sdpa_cli.explaining.exercises import explain_exercise
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.streaming import stream
from sdpa_cli.explaining.topics import TOPICS, explain_topic
from sdpa_cli.explaining.topics.building import TopicOptions
from sdpa_cli.faults import CATALOGUE

TWO = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"
UNEVEN = "Q: [[1, 0], [0, 2]]\nK: [[1, 1], [2, 0], [0, 3]]\nV: [[1, 0, 2, 1], [0, 1, 3, 1], [4, -1, 0, 1]]\n"
ROW = "Q: [[1, 0]]\nK: [[1, 1], [2, 0], [0, 3]]\nV: [[1], [2], [4]]\n"
BIG = (
    "Q: {random: normal, shape: [2, 40, 10], seed: 1}\nK: {random: normal, shape: [2, 50, 10], seed: 2}\n"
    "V: {random: normal, shape: [2, 50, 12], seed: 3}\n"
)
LAYER = (
    "X: [[1, 0, 2, 1], [0, 1, 1, 0], [1, 1, 0, 2]]\n"
    "W_Q: {random: normal, shape: [4, 4], seed: 1}\nW_K: {random: normal, shape: [4, 4], seed: 2}\n"
    "W_V: {random: normal, shape: [4, 4], seed: 3}\n"
)
LEARNED = "positions: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]\n"

CASES = {
    "two": TWO + "title: two tokens\n",
    "causal": TWO + "title: two tokens, causal\nmask: causal\n",
    "labels": TWO + "tokens: [the, cat]\nmask: causal\n",
    "uneven": UNEVEN,
    "row": ROW,
    "given": UNEVEN + "mask: [[0, 1, 0], [1, 0, 0]]\n",
    "padding": UNEVEN + "mask: {key_lengths: 2}\n",
    "left-padding": UNEVEN + "mask: {key_lengths: 2, padding_side: left}\n",
    "window": UNEVEN + "mask: {window: {left: 0}, query_offset: 0}\n",
    "top-left": UNEVEN + "mask: {causal: true, query_offset: 0}\n",
    "offset": UNEVEN + "mask: {causal: true, query_offset: 1}\n",
    "alone": TWO + "mask: [[0, 1], [0, 1]]\n",
    "empty": TWO + "mask: [[1, 1], [0, 1]]\nempty_rows: zero\n",
    "all-empty": TWO + "mask: [[1, 1], [1, 1]]\nempty_rows: zero\n",
    "bias": UNEVEN + "bias: [[0, -1, 2], [1, 0, 0.5]]\nsoftcap: 2\n",
    "scale": UNEVEN + "scale: 0.5\n",
    "float32": UNEVEN + "dtype: float32\n",
    "alibi": TWO + "alibi: true\nmask: causal\n",
    "dot": UNEVEN + "score: dot\n",
    "general": UNEVEN + "score: {general: [[1, 2], [0, 1]]}\n",
    "additive": UNEVEN + "score: {additive: {v: [1, -2]}}\n",
    "linear": UNEVEN + "score: linear\n",
    "big": BIG + "mask: {causal: true, query_offset: 0, key_lengths: [50, 37]}\n",
    "grouped": (
        "Q: {random: normal, shape: [1, 4, 2, 3], seed: 1}\nK: {random: normal, shape: [1, 2, 3, 3], seed: 2}\n"
        "V: {random: normal, shape: [1, 2, 3, 2], seed: 3}\n"
    ),
    "layer": LAYER
    + "num_heads: 2\nW_O: {random: normal, shape: [4, 5], seed: 4}\nb_O: [1, 2, 3, 4, 5]\nmask: causal\n",
    "one-head": LAYER + "positions: sinusoidal\nb_Q: [1, 2, 3, 4]\n",
    "learned": LAYER + "num_heads: 2\n" + LEARNED,
    "rope": LAYER + "num_heads: 2\nrope: interleaved\nmask: causal\n",
    "rope-half": LAYER + "num_heads: 1\nrope: half\n",
    "cross": LAYER + "memory: [[1, 2, 3, 4], [0, 1, 0, 1]]\n",
    "cached": TWO + "past: {K: [[1, 1]], V: [[5, 5, 5]]}\nmask: causal\n",
    "decoded": TWO + "past: {K: [[1, 1]], V: [[5, 5, 5]]}\nmask: causal\ndecode: true\n",
    "wild": "Q: [[.nan, 1]]\nK: [[1, 1], [2, 1]]\nV: [[1], [2]]\nnonfinite: propagate\n",
    "segments": TWO + "mask: {segments: [0, 1]}\n",
    "sparse": TWO + "mask: {causal: true, stride: 2}\n",
    "long-row": (
        "Q: [[1, 0]]\nK: {random: normal, shape: [4200, 2], seed: 2}\nV: {random: normal, shape: [4200, 1], seed: 3}\n"
    ),
}


HUGE = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1.7e308, 1.5e308], [1.6e308, 1.7e308]]\n"


@cache
def case(name):
    with TemporaryDirectory() as folder:
        path = Path(folder, "case.yaml")
        path.write_text(HUGE if name == "huge" else CASES[name], "utf-8")
        return load_case(path)


def _derivations():
    yield from ((f"derive {name}", lambda name=name: derive(case(name), Selectors())) for name in CASES)
    for name, i, j in (
        ("two", 0, 1),
        ("labels", 1, 0),
        ("causal", 0, 1),
        ("bias", 1, 2),
        ("general", 0, 0),
        ("alibi", 1, 0),
    ):
        yield f"cell {name}", lambda name=name, i=i, j=j: derive(case(name), Selectors(cell=(i, j)))
    yield "row causal", lambda: derive(case("causal"), Selectors(row=1))
    yield "row big", lambda: derive(case("big"), Selectors(head=(1,), row=20))


def _streams():
    for name in ("two", "causal", "uneven", "empty", "big", "float32", "grouped"):
        yield f"stream {name}", lambda name=name: stream(case(name), Selectors(block_size=2 if name == "big" else None))
    yield "stream huge", np.errstate(all="ignore")(lambda: stream(case("huge"), Selectors()))
    yield "stream row", lambda: stream(case("big"), Selectors(row=20, block_size=8))


def _comparisons():
    yield from ((f"fault {name}", lambda name=name: explain_fault(name)) for name in CATALOGUE)
    yield "harmless", lambda: explain_fault("window-by-total-width", case("two"))
    yield "impossible", lambda: explain_fault("key-not-transposed", case("uneven"))
    yield "in a batch", lambda: explain_fault("no-scale", case("big"))
    yield "of a layer", lambda: explain_fault("mask-after-softmax", case("layer"))
    yield "catalogue", catalogue
    for library in LIBRARIES:
        for name in ("two", "given", "top-left", "offset", "empty", "window", "padding"):
            yield f"{name} as {library}", lambda name=name, library=library: explain_as(library, case(name))


def _topics():
    yield from ((f"topic {name}", lambda name=name: explain_topic(name)) for name in TOPICS)
    yield "topic cost, other", lambda: explain_topic("cost", TopicOptions(tokens=10, d=4, heads=2))


QUESTIONS = {
    **dict(_derivations()),
    **dict(_streams()),
    **dict(_comparisons()),
    **dict(_topics()),
    "exercise": lambda: explain_exercise("F3", "# F3 · A title\n\nText with `code`.\n\n- item\n"),
}


@cache
def trace(name):
    return QUESTIONS[name]()
