"""One definition: the reader, the JSON Schema and the table of fields say the same."""

import dataclasses
import json
import re

import jsonschema
import numpy as np
import pytest
import yaml

from sdpa_cli.cases import Case, case_schema, field_table, load_cases
from sdpa_cli.cases.groups import Group, OneOf
from sdpa_cli.cases.schema import CASE, default
from sdpa_cli.errors import InputError

QKV = "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\n"


class EditorLoader(yaml.SafeLoader):
    """Reads scalars as YAML 1.2 does, and with it the YAML language server: 1e-3 is a number, ``on`` a word."""


EditorLoader.yaml_implicit_resolvers = {}
for tag, pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?[0-9]+",
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}.items():
    EditorLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})$"), None)
EditorLoader.add_constructor(
    "tag:yaml.org,2002:float",
    lambda loader, node: float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan")),
)
EditorLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))

ACCEPTED = [
    "",
    "title: two tokens",
    "title: 1.50",
    "tokens: [off, 1.50]",
    "queries: [a, b]\nkeys: ['1', \"2\"]",
    "mask: causal",
    "mask: none",
    "mask: [[0, 1], [true, false]]",
    "mask: {causal: true, window: {left: 1}, query_offset: -1, key_lengths: 2}",
    "mask: {window: {right: 0}}",
    "mask: {key_lengths: 1, forbidden: [[1, 0], [0, 0]]}",
    "mask: {allowed: [[1, 0], [1, 1]]}",
    "mask: {file: mask.npy}",
    "mask: [[1, 0], [1, 1]]\nmask_means: allowed",
    "bias: [[1e-3, -.5], [+2, 0]]",
    "bias: [[.inf, inf], [-.Inf, nan]]",
    "bias: {random: normal, shape: [2, 2], seed: 0}",
    "bias: {file: bias.npz, member: b}",
    "bias: {file: bias.csv}",
    "scale: -0.5",
    "scale: 0",
    "softcap: 30",
    "dtype: float32",
    "block_size: 1",
    "empty_rows: zero\nnonfinite: propagate",
    "expect: {scores: [[1, -inf], [0, 0]], atol: 0}",
    "expect: {output: [[1, 0, 0], [0, 1, 0]], rtol: 1e-3}",
    "rope: half\nposition_ids: [4, 2]",
    "rope: {pairing: half, dim: 2, base: 500000}",
    "alibi: true",
    "alibi: [0.5]",
    "score: linear",
    "score: {general: [[1, 0], [0, 1]]}",
    "score: {additive: {v: 1, W_q: [[1, 0], [0, 1]]}}",
    "past: {K: [[1, 2]], V: [[1, 2, 3]]}",
    "decode: true\nmask: causal",
    "mask: {window: {left: 0}, stride: 2, global_tokens: [1]}",
    "mask: {key_lengths: 1, padding_side: left}\nempty_rows: zero",
    "mask: {segments: [0, 1], query_segments: [1, 0]}",
]
REJECTED = [
    "titel: x",
    "title: [a]",
    "title:",
    "tokens: the cat",
    "tokens: [a, [b]]",
    "tokens: [a, b]\nkeys: [a, b]",
    "mask: casual",
    "mask: true",
    "mask: [0, 1]",
    "mask: [[0, on], [0, 0]]",
    "mask: [[0, 2], [0, 0]]",
    "mask: {causal: 1}",
    "mask: {window: 3}",
    "mask: {window: {}}",
    "mask: {window: {left: -1}}",
    "mask: {window: {left: 1.5}}",
    "mask: {key_lengths: -1}",
    "mask: {forbidden: [[0, 0], [0, 0]], allowed: [[1, 1], [1, 1]]}",
    "mask: {random: normal, shape: [2, 2], seed: 1}",
    "mask: {member: m}",
    "mask_means: attend",
    "bias: 1",
    "bias: [[1, off], [0, 0]]",
    "bias: [[1, true], [0, 0]]",
    "bias: [[1, '1'], [0, 0]]",
    "bias: [[1, ~], [0, 0]]",
    "bias: [[[[[1]]]]]",
    "bias: {random: gauss, shape: [2, 2], seed: 0}",
    "bias: {random: normal, shape: [2, 2]}",
    "bias: {random: normal, shape: 2, seed: 1}",
    "bias: {file: bias.csv, shape: [2, 2]}",
    "bias: {}",
    "scale: big",
    "softcap: 0",
    "dtype: float16",
    "block_size: 0",
    "block_size: two",
    "empty_rows: zeros",
    "expect: {}",
    "expect: {atol: 1}",
    "expect: {weights: [[1, 0], [0, 1]], atol: -1}",
    "expect: {weight: [[1, 0], [0, 1]]}",
    "null: 1",
    "position_ids: [0, 1]",
    "position_ids: [0, 1]\nalibi: true",
    "rope: quarter",
    "rope: {}",
    "rope: {dim: 0}",
    "rope: {base: 0}",
    "positions: sinusoidal",
    "num_heads: 2",
    "alibi: half",
    "score: additive",
    "score: {additive: {W_q: [[1, 0], [0, 1]]}}",
    "score: {general: [[1, 0], [0, 1]], additive: {v: 1}}",
    "past: {K: [[1, 2]]}",
    "decode: 1",
    "mask: {stride: 0}",
    "mask: {global_tokens: 0, stride: 2}",
    "mask: {padding_side: top, key_lengths: 1}",
    "mask: {segments: [a, b]}",
]
LAYER = "X: [[1, 0], [0, 1]]\n" + "".join(f"W_{letter}: [[1, 0], [0, 1]]\n" for letter in "QKV")
ACCEPTED_LAYERS = [
    "",
    "num_heads: 2\nW_O: [[1], [2]]\nb_Q: [[1], [2]]\nb_O: [1]",
    "memory: [[1, 2], [3, 4], [5, 6]]",
    "positions: sinusoidal\nposition_ids: [3, 1]",
    "positions: [[1, 2], [3, 4]]",
    "positions: {random: normal, shape: [5, 2], seed: 1}",
    "expect: {heads: [[1, 0], [0, 1]], atol: 9}",
]
REJECTED_LAYERS = [
    "Q: [[1, 0], [0, 1]]",
    "num_heads: 0",
    "position_ids: [0, 1]",
    "positions: cosinusoidal",
    "memory: [[1, 0]]\npast: {K: [[1, 0]], V: [[1, 0]]}",
    "memory: [[1, 0], [0, 1]]\ndecode: true\nmask: causal",
    "b_O: [[1, 2]]",
]


def reads(text, here):
    np.save(here / "mask.npy", np.eye(2, dtype=bool))
    np.savez(here / "bias.npz", b=np.eye(2), c=np.eye(2))
    (here / "bias.csv").write_text("1,2\n3,4\n")
    (here / "case.yaml").write_text(text)
    try:
        load_cases([here / "case.yaml"])
    except InputError:
        return False
    return True


def validates(text):
    document = yaml.load(text, EditorLoader)
    document = {str(key): value for key, value in document.items()} if isinstance(document, dict) else document
    return jsonschema.Draft202012Validator(case_schema()).is_valid(document)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_the_reader_accepts_the_json_schema_accepts(here, text):
    assert (reads(QKV + text, here), validates(QKV + text)) == (True, True)


@pytest.mark.parametrize("text", REJECTED)
def test_what_the_reader_rejects_the_json_schema_rejects(here, text):
    assert (reads(QKV + text, here), validates(QKV + text)) == (False, False)


@pytest.mark.parametrize(
    ("text", "fits"),
    [*((text, True) for text in ACCEPTED_LAYERS), *((text, False) for text in REJECTED_LAYERS)],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_reader_and_json_schema_agree_on_layers(here, text, fits):
    assert (reads(LAYER + text, here), validates(LAYER + text)) == (fits, fits)


@pytest.mark.parametrize("text", ["Q: [[1]]\nK: [[1]]\n", "[1]", "word", "Q: [1]\nK: [[1]]\nV: [[1]]"])
def test_what_is_no_case_at_all(here, text):
    assert (reads(text, here), validates(text)) == (False, False)


def test_the_json_schema_is_one():
    schema = case_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def groups(group, prefix=""):
    """Every group of fields, with the prefix of its fields."""
    yield prefix, group
    for field in group.fields:
        kind = field.kind.mapped if isinstance(field.kind, OneOf) else field.kind
        if isinstance(kind, Group):
            yield from groups(kind, f"{prefix}{field.name}.")


def test_every_field_stands_in_the_table_once():
    names = [line.split("`")[1] for line in field_table().splitlines()[2:]]
    assert names == list(dict.fromkeys(names))
    assert set(names) == {f"{prefix}{field.name}" for prefix, group in groups(CASE) for field in group.fields}


def test_every_line_of_the_table_has_its_four_cells():
    for line in field_table().splitlines():
        assert len(re.split(r"(?<!\\)\|", line)) == 6


def test_lists_and_choices_are_said_in_whole_words():
    holds = {line.split("`")[1]: line.split(" | ")[1] for line in field_table().splitlines()[2:]}
    assert holds["tokens"] == "list of texts"
    assert holds["alibi"] == "`true` or `false`, or list of numbers"
    assert holds["position_ids"] == "list of whole numbers, or of lists of whole numbers"
    assert holds["mask.key_lengths"] == (
        "whole number ≥ 0, or list of whole numbers ≥ 0, or of lists of whole numbers ≥ 0"
    )
    assert holds["positions"] == "`sinusoidal`, or matrix of numbers"


def test_no_alternative_of_the_schema_is_there_twice():
    def alternatives(schema):
        children = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        yield from schema.get("anyOf", []) and [schema["anyOf"]] if isinstance(schema, dict) else []
        for child in children:
            yield from alternatives(child)

    for several in alternatives(case_schema()):
        assert len({json.dumps(one) for one in several}) == len(several)


def test_every_field_is_described_in_whole_sentences():
    for _, group in groups(CASE):
        for field in group.fields:
            assert field.meaning.endswith(".")


def test_every_example_and_default_of_the_schema_is_valid():
    for _, group in groups(CASE):
        for field in group.fields:
            schema = {**field.kind.json_schema(), "$defs": case_schema()["$defs"]}
            values = [*field.examples, *([] if field.default is None else [field.default])]
            for value in values:
                jsonschema.Draft202012Validator(schema).validate(value)


def test_every_example_in_a_message_can_be_read(here):
    for prefix, group in groups(CASE):
        written = group.example
        for name in reversed(prefix.split(".")[:-1]):
            written = f"{{{name}: {written}}}"
        schema = {**case_schema(), "required": [], "dependentRequired": {}, "allOf": []}
        jsonschema.Draft202012Validator(schema).validate(yaml.load(written, EditorLoader))


def test_a_case_made_in_python_has_the_defaults_of_a_case_file():
    defaults = {field.name: field.default for field in dataclasses.fields(Case)}
    for name in ("dtype", "empty_rows", "nonfinite"):
        assert defaults[name] == default(name)
