"""Laws of the case room, on inputs nobody thought of."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sdpa_cli.cases import load_case, load_cases
from sdpa_cli.errors import InputError, SdpaError, render

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
floats = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8)


def matrices(rows, columns, values=floats):
    return st.lists(st.lists(values, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


@st.composite
def cases(draw):
    """The fields of a valid case, as Python values."""
    tq, tk, d_k, d_v = (draw(st.integers(1, 4)) for _ in range(4))
    fields = {"Q": draw(matrices(tq, d_k)), "K": draw(matrices(tk, d_k)), "V": draw(matrices(tk, d_v))}
    optional = {
        "title": words,
        "queries": st.lists(words, min_size=tq, max_size=tq),
        "keys": st.lists(words, min_size=tk, max_size=tk),
        "mask": st.just("none") | matrices(tq, tk, st.sampled_from([0, 1]) | st.booleans()),
        "bias": matrices(tq, tk),
        "scale": floats,
        "softcap": st.floats(1e-3, 1e6),
        "dtype": st.just("float64"),
        "block_size": st.integers(1, 99),
        "empty_rows": st.sampled_from(["error", "zero"]),
        "nonfinite": st.sampled_from(["error", "propagate"]),
    }
    for name in draw(st.sets(st.sampled_from(sorted(optional)))):
        fields[name] = draw(optional[name])
    return fields


@relaxed
@given(cases())
def test_a_valid_case_is_read_back_as_it_was_written(here, fields):
    (here / "case.yaml").write_text(json.dumps(fields, ensure_ascii=False), "utf-8")
    case = load_case("case.yaml")
    for name, array in (("Q", case.q), ("K", case.k), ("V", case.v), ("bias", case.bias)):
        assert (None if array is None else array.tolist()) == fields.get(name)
    if isinstance(fields.get("mask"), list):
        assert case.mask.forbidden.tolist() == np.array(fields["mask"], bool).tolist()
    for name in ("title", "scale", "softcap", "block_size"):
        assert getattr(case, name) == fields.get(name)
    assert (list(case.query_labels or ()), list(case.key_labels or ())) == (
        fields.get("queries", []),
        fields.get("keys", []),
    )


@relaxed
@given(matrices(2, 3))
def test_block_and_flow_style_say_the_same(here, q):
    rows = "".join("- " + "  ".join(f"- {value!r}\n" for value in row) for row in q)
    for written in (f"Q: {q}\n", f"Q:\n{rows}"):
        (here / "case.yaml").write_text(f"{written}K: [[1, 2, 3]]\nV: [[1]]\n")
        assert load_case("case.yaml").q.tolist() == q


VALID = b"""\
title: "two tokens"   # course
tokens: [the, cat]
Q: &q [[1, 0.5e-3], [.5, 1]]
K: *q
V:
- [1, 0, -inf]
- [0, 1, 0]
mask: {causal: true, window: {left: 1}, key_lengths: 2}
expect: {output: [[1, 0, 0], [0, 1, 0]], atol: 1e-4}
---
{"Q": [[1]], "K": [[1]], "V": [[1]], "mask": [[0]]}
"""


@st.composite
def mutations(draw):
    """A valid file with some bytes replaced, removed, doubled or swapped for YAML's own signs."""
    data = bytearray(VALID)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        stop = start + draw(st.integers(0, 5))
        signs = st.sampled_from(
            [
                b"",
                b"[",
                b"]",
                b"{",
                b"}",
                b",",
                b":",
                b": ",
                b"- ",
                b"&a ",
                b"*q",
                b"!",
                b"|",
                b">",
                b"\n",
                b"\t",
                b"---\n",
                b"...\n",
                b"%",
                b"'",
                b'"',
                b"?",
                b"\0",
                b"\xff",
                b"0x",
                b"1_0",
                b"\r",
            ]
        )
        data[start:stop] = draw(signs | st.binary(max_size=3))
    return bytes(data)


def told(data, here):
    """Whatever is told about a file; it never is an internal error, and never steers a terminal."""
    (here / "case.yaml").write_bytes(data)
    try:
        for case in load_cases(["case.yaml"]):
            case.attend()
    except SdpaError as error:
        return [render(problem) for problem in error.problems]
    return []


@settings(relaxed, max_examples=300)
@given(mutations())
@example(VALID)
@example(b"Q: [\xe2\x80\xa8x]")
def test_a_mutated_file_is_read_or_refused(here, data):
    for text in told(data, here):
        assert text.replace("\n", "").isprintable()


@relaxed
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_read_or_refused(here, data):
    for text in told(data, here):
        assert text.replace("\n", "").isprintable()


@relaxed
@given(mutations())
def test_the_parser_in_python_reads_the_same(here, data):
    import yaml

    from sdpa_cli.cases import cursor

    answers = []
    for parser in (cursor.PARSER, yaml.SafeLoader):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cursor, "PARSER", parser)
            (here / "case.yaml").write_bytes(data)
            with contextlib.suppress(InputError):
                answers.append([(case.q.tolist(), case.v.tolist(), case.title) for case in load_cases(["case.yaml"])])
    assert len(answers) != 2 or answers[0] == answers[1]
