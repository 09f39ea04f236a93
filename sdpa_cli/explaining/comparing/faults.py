"""A fault explained: what it is, the case computed rightly and with it, the law it breaks, and the cure."""

from __future__ import annotations

import math
from difflib import get_close_matches

from sdpa_cli.attention.inputs import Inputs
from sdpa_cli.cases import Case
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.explaining.comparing.evidence import evidence
from sdpa_cli.explaining.comparing.sides import NAMES, Parting, Sides, pair, parting
from sdpa_cli.explaining.comparing.sources import SOURCES
from sdpa_cli.explaining.comparing.witnesses import witness
from sdpa_cli.explaining.maths import entry
from sdpa_cli.explaining.trace import (
    Catalogue,
    Code,
    Command,
    Described,
    Facts,
    Link,
    Part,
    Position,
    Step,
    Trace,
    Value,
    Words,
    words,
)
from sdpa_cli.faults import CATALOGUE, Fault, Recipe, Steps

TITLES = (words("side.right"), words("side.faulty"))
CELLS = 4_000_000
"""Cases with more numbers than this in Tq × Tk × d_v are not walked side by side: every step is held whole, twice."""


def explain_fault(name: str, case: Case | None = None) -> Trace:
    """Walk a case rightly and with a fault, to the first cell in which the two differ.

    Parameters
    ----------
    name
        A name of the catalogue.
    case
        The case; without one, a small case in which the fault shows.

    Raises
    ------
    InputError
        If there is no such fault, or the case is too large, or cannot be computed.
    """
    fault = named(name)
    inputs = witness(name) if case is None else case.attend().inputs
    labels = (None, None) if case is None else (case.query_labels, case.key_labels)
    refuse(inputs)
    steps = [_about(fault)]
    try:
        sides = Sides(inputs, Recipe().run(inputs), fault.recipe.run(inputs), TITLES, labels)
    except ValueError as error:
        steps.append(_impossible(fault, error))
    else:
        where = parting(sides)
        steps += [_harmless(fault)] if where is None else [*walked(sides, where), _law(fault, sides, where)]
    steps.append(Step("cure", words("fault.cure"), (words(f"fault.{name}.cure"),)))
    return Trace("fault", name, words("fault.title", name=Code(name)), tuple(steps))


def catalogue() -> Trace:
    """All faults, in the order of the steps they spoil."""
    described = tuple(
        Described(
            name,
            fault.law,
            tuple((part, words(f"fault.{name}.{part}")) for part in ("cause", "symptom", "shows", "cure")),
            source(name),
        )
        for name, fault in CATALOGUE.items()
    )
    title = words("fault.catalogue.title", count=len(described))
    step = Step("catalogue", title, (words("fault.catalogue.why"), Catalogue(described)))
    return Trace("faults", "faults", title, (step,))


def named(name: str) -> Fault:
    """The fault of that name.

    Raises
    ------
    InputError
        If there is none; it suggests the near one.
    """
    if name in CATALOGUE:
        return CATALOGUE[name]
    near = get_close_matches(name, CATALOGUE, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    message = f"there is no fault '{name}'"
    raise InputError(Problem("no-such-fault", message, hint=f"{hint}sdpa explain --faults lists all of them"))


def walked(sides: Sides, where: Parting) -> list[Step]:
    """The steps in which the two agree, the first in which they differ, and what comes of it."""
    names = Steps.names()
    before = names[: names.index(where.step)]
    steps = []
    if before:
        same: tuple[Value, ...] = tuple(words(f"stage.{name}") for name in before)
        steps.append(Step("same", words("fault.same.title"), (words("fault.same.why", steps=same),)))
    cell = entry(NAMES[where.step], *where.cell)
    parts: list[Part] = [
        *_head(sides, where),
        words("fault.first.why", step=words(f"stage.{where.step}"), cell=cell),
        pair(sides, where.step, where),
    ]
    steps.append(Step("difference", words("fault.first.title"), tuple(parts)))
    after = [name for name in ("weights", "output") if names.index(name) > names.index(where.step)]
    if after:
        pairs = tuple(pair(sides, name, where) for name in after)
        steps.append(Step("consequence", words("fault.consequence.title"), pairs))
    return steps


def source(name: str) -> Link | Words:
    """Where the fault was seen."""
    found = SOURCES.get(name)
    return words("source.course") if found is None else Link(found.title, found.url)


def _about(fault: Fault) -> Step:
    parts: tuple[Part, ...] = (
        words(f"fault.{fault.name}.cause"),
        words(f"fault.{fault.name}.symptom"),
        Facts(((words("fault.law"), words(f"law.{fault.law}.name")), (words("fault.source"), source(fault.name)))),
    )
    return Step("fault", words("fault.about"), parts)


def _law(fault: Fault, sides: Sides, where: Parting) -> Step:
    title = words("fault.law-title", law=words(f"law.{fault.law}.name"))
    return Step("law", title, (words(f"law.{fault.law}.text"), *evidence(fault.law, sides, where)))


def _harmless(fault: Fault) -> Step:
    parts = (
        words("fault.harmless.why"),
        words(f"fault.{fault.name}.shows"),
        Command(f"sdpa explain --fault {fault.name}"),
    )
    return Step("difference", words("fault.harmless.title"), parts)


def _impossible(fault: Fault, error: ValueError) -> Step:
    parts = (
        words("fault.impossible.why", error=Code(str(error))),
        words(f"fault.{fault.name}.shows"),
        Command(f"sdpa explain --fault {fault.name}"),
    )
    return Step("difference", words("fault.impossible.title"), parts)


def _head(sides: Sides, where: Parting) -> tuple[Part, ...]:
    """Which head the cell is in, if the case has any."""
    if not sides.inputs.lead:
        return ()
    batch, kv_head, member = where.head
    head = kv_head * sides.inputs.q.shape[2] + member
    if len(sides.inputs.lead) == 1:
        return (words("fault.in-axis", index=Position(head)),)
    return (words("fault.in-head", batch=Position(batch), head=Position(head)),)


def refuse(inputs: Inputs) -> None:
    """Refuse a case that is too large to be walked side by side."""
    cells = math.prod(inputs.q.shape[:-1]) * inputs.keys * max(1, inputs.d_v)
    if cells > CELLS:
        message = "the case is too large to be walked side by side, for every step is held whole"
        raise InputError(Problem("too-large", message, hint="take a smaller one, or leave the case out"))
