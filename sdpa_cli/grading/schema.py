"""The one definition of `exercise.yaml`: a table of its fields, and of the kinds of check with theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import Case
from sdpa_cli.cases.groups import Field, Group, OneOf
from sdpa_cli.cases.kinds import Choice, Integer, ListOf, Number, Text
from sdpa_cli.cases.yaml_files import FreeMapping
from sdpa_cli.faults import CATALOGUE
from sdpa_cli.grading.drawing import MASKS
from sdpa_cli.grading.exercise import Rule
from sdpa_cli.grading.fields import CHECK_NAME, FILE_NAME, FUNCTION_NAME, SomeOf
from sdpa_cli.grading.kinds.laws import LAWS, LawRule
from sdpa_cli.grading.kinds.own_tests import OwnTestsRule
from sdpa_cli.grading.kinds.proof_blocks import ProofRule
from sdpa_cli.grading.kinds.protocols import DEMANDS, ProtocolRule
from sdpa_cli.grading.kinds.values import SPOILS, DrawnRule, RaisesRule, ValueRule
from sdpa_cli.grading.kinds.witnesses import WITNESSES, WitnessRule
from sdpa_cli.grading.kinds.written import AnswerRule, ChoiceRule, ReaderRule
from sdpa_cli.grading.proofs import Proof
from sdpa_cli.grading.quantities import ARGUMENT_NAMES, RIGHT_NAMES, SHAPES

Values = Mapping[str, Any]
Cases = Callable[[str], Case]
"""The case of that name."""

NAMES = SomeOf(Text(), "[two-token, causal]")
ATOL = Field("atol", Number(least=0), "How far a value may be off, absolutely.", 1e-5)
RTOL = Field("rtol", Number(least=0), "How far a value may be off, relative to the right one.", 1e-5)
KEY = Field("key", Text(), "Under which key of the file it is answered.")
CASE = Field("case", Text(), "The case that is computed.")
CASES = Field("cases", NAMES, "On which cases.")

COMMON = (
    Field("id", CHECK_NAME, "The check's name, by which others may need it."),
    Field("points", Number(least=0), "What it is worth.", 0.0),
    Field("bonus", Number(least=0), "What it is worth beyond the maximum.", 0.0),
    Field("needs", ListOf(Text(), "[example]"), "Checks that must have passed before.", ()),
    Field("hints", Text(), "The key of its hints in the exercise's texts."),
    Field("visibility", Choice(("visible", "hidden")), "Hidden ones wait for the instructor's run.", "visible"),
)


@dataclass(frozen=True, eq=False)
class CheckKind:
    """A kind of check: its fields, the first of which names it, and how its rule is made of them."""

    fields: tuple[Field, ...]
    make: Callable[[Values, Cases], Rule]
    required: tuple[str, ...] = ()
    needs_function: bool = False
    """Whether it calls the exercise's function."""

    @property
    def name(self) -> str:
        """The first field's name."""
        return self.fields[0].name

    def group(self) -> Group:
        """The whole check, as it stands in the file."""
        example = f"{{{self.name}: …, id: name, points: 1}}"
        return Group((*self.fields, *COMMON), example, (self.name, "id", *self.required), ("points", "bonus"))


def _tolerance(values: Values) -> Tolerance:
    return Tolerance(values["atol"], values["rtol"])


KINDS = (
    CheckKind(
        (
            Field("value", NAMES, "Cases, from small to large, on which the function must give the right values."),
            ATOL,
            RTOL,
        ),
        lambda values, case: ValueRule(tuple(map(case, values["value"])), _tolerance(values)),
        needs_function=True,
    ),
    CheckKind(
        (
            Field("drawn", Integer(1), "How many cases are drawn from the instructor's seed."),
            Field("masks", SomeOf(Choice(MASKS), "[none, causal]"), "With which masks, in turn."),
            ATOL,
            RTOL,
        ),
        lambda values, case: DrawnRule(values["drawn"], values["masks"], _tolerance(values)),
        ("masks",),
        needs_function=True,
    ),
    CheckKind(
        (
            Field("raises", NAMES, "Cases that the function must refuse."),
            Field("exception", Choice(("ValueError", "TypeError")), "With which exception.", "ValueError"),
            Field("spoil", Choice(tuple(SPOILS)), "What is cut off the case, so that its shapes disagree.", ""),
        ),
        lambda values, case: RaisesRule(tuple(map(case, values["raises"])), values["exception"], values["spoil"]),
        needs_function=True,
    ),
    CheckKind(
        (Field("law", Choice(tuple(LAWS)), "A law that the function must obey."), CASES),
        lambda values, case: LawRule(values["law"], tuple(map(case, values["cases"]))),
        ("cases",),
        needs_function=True,
    ),
    CheckKind(
        (
            Field("tests", Text(), "A file of tests that must accept the right function."),
            Field("catch", SomeOf(Choice(tuple(CATALOGUE)), "[no-scale]"), "Faults that the tests must catch."),
        ),
        lambda values, case: OwnTestsRule(values["tests"], values["catch"]),
        ("catch",),
        needs_function=True,
    ),
    CheckKind(
        (
            Field("proof", Text(), "A file in which blocks are put into order."),
            KEY,
            Field(
                "blocks",
                FreeMapping(OneOf(listed=ListOf(Text(), "[a1]")), "{a1: [], p1: [a1]}"),
                "Blocks, and what each rests on.",
            ),
            Field("distractors", ListOf(Text(), "[z1]"), "Blocks that belong to no proof.", ()),
        ),
        lambda values, case: ProofRule(values["proof"], values["key"], Proof(values["blocks"], values["distractors"])),
        ("key", "blocks"),
    ),
    CheckKind(
        (
            Field("answer", Text(), "A file with a quantity that was worked out."),
            KEY,
            Field("quantity", Choice(RIGHT_NAMES), "Which quantity."),
            CASE,
            Field("fault", Choice(tuple(CATALOGUE)), "Of this fault in place of the right attention."),
            Field("row", Integer(1), "Only this row of it, as a single number."),
            ATOL,
            RTOL,
        ),
        lambda values, case: AnswerRule(
            values["answer"],
            values["key"],
            values["quantity"],
            case(values["case"]),
            _tolerance(values),
            values.get("fault"),
            values.get("row"),
        ),
        ("key", "quantity", "case"),
    ),
    CheckKind(
        (
            Field("witness", Text(), "A file with a witness."),
            Field("of", Choice(tuple(WITNESSES)), "What it is to show."),
            Field("prefix", Text(), "Stands before each of its keys.", ""),
        ),
        lambda values, case: WitnessRule(values["witness"], values["of"], values["prefix"]),
        ("of",),
    ),
    CheckKind(
        (
            Field("choice", Text(), "A file with a choice."),
            KEY,
            Field("options", SomeOf(Text(), "[a, b]"), "What there is to choose from."),
            Field("right", Text(), "The right one."),
        ),
        lambda values, case: ChoiceRule(values["choice"], values["key"], values["options"], values["right"]),
        ("key", "options", "right"),
    ),
    CheckKind(
        (
            Field("protocol", Text(), "A file with the protocol of an experiment."),
            Field("demand", Choice(tuple(DEMANDS)), "What it must satisfy."),
        ),
        lambda values, case: ProtocolRule(values["protocol"], values["demand"]),
        ("demand",),
    ),
    CheckKind(
        (Field("reader", Text(), "A file that a person must read."),),
        lambda values, case: ReaderRule(values["reader"]),
    ),
)

FUNCTION = Group(
    (
        Field("name", FUNCTION_NAME, "Its name."),
        Field("file", FILE_NAME, "The file that defines it."),
        Field("arguments", SomeOf(Choice(ARGUMENT_NAMES), "[Q, K, V]"), "What it is called with, in order."),
        Field(
            "options",
            ListOf(Choice(ARGUMENT_NAMES), "[mask]"),
            "What it is called with by name, where a case has it.",
            (),
        ),
        Field("returns", SomeOf(Choice(tuple(SHAPES)), "[output, weights]"), "What it gives back, in order."),
    ),
    "{name: attention, file: attention.py, arguments: [Q, K, V], returns: [output, weights]}",
    ("name", "file", "arguments", "returns"),
)

EXERCISE = Group(
    (
        Field("files", SomeOf(FILE_NAME, "[attention.py]"), "What is handed in."),
        Field("function", FUNCTION, "The function it is about, if it is about one."),
        Field("seconds", Number(above=0), "How long one call may take.", 5.0),
        Field(
            "checks",
            SomeOf(
                OneOf(mapped_by={kind.name: kind.group() for kind in KINDS}),
                "[{value: [two-token], id: example, points: 1}]",
            ),
            "The checks, in the order they are reported.",
        ),
    ),
    "files: [attention.py], checks: […]",
    ("files", "checks"),
)


def filled(fields: Iterable[Field], values: Values) -> dict[str, Any]:
    """What was read, and the defaults of what was not given."""
    return {one.name: one.default for one in fields if one.default is not None} | dict(values)


def kind_of(values: Values) -> CheckKind:
    """The kind of a check that was read."""
    return next(kind for kind in KINDS if kind.name in values)
