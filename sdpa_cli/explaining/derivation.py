"""The derivation of a case: its steps in order, as many as the case has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdpa_cli.cases import Case
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.steps.cell import cell
from sdpa_cli.explaining.steps.closing import costs, questions
from sdpa_cli.explaining.steps.comparison import alibi, scores
from sdpa_cli.explaining.steps.layer import embeddings, positions, projection, rope
from sdpa_cli.explaining.steps.masking import mask
from sdpa_cli.explaining.steps.merging import cache, heads
from sdpa_cli.explaining.steps.output import alternatives, output
from sdpa_cli.explaining.steps.scores import bias, inputs, products, scale, softcap
from sdpa_cli.explaining.steps.softmax import exponentials, maximum, weights
from sdpa_cli.explaining.trace import Axis, Code, Position, Step, Trace, Value, Words, words
from sdpa_cli.explaining.walk import Walk, walk


def derive(case: Case, selectors: Selectors) -> Trace:
    """Explain a case step by step.

    Parameters
    ----------
    case
        The case.
    selectors
        Which part of it to look at. A cell has a trace of its own.

    Raises
    ------
    InputError
        As `Case.attend` does; or where a selector does not exist in this case.
    """
    way = walk(replace(case, block_size=selectors.block_size or case.block_size), selectors)
    found = (cell(way),) if selectors.cell is not None else tuple(_steps(way))
    return Trace("case", case.title or "", case.title or words("title.case"), found, tuple(notes(way, selectors)))


def notes(way: Walk, selectors: Selectors) -> Iterator[Words]:
    """What is left out without having been asked for, and how to see it."""
    yield from head_notes(way)
    asked = selectors.row is not None or selectors.cell is not None
    if not asked:
        yield from axis_notes(way.query_axis, "--row")
    yield from axis_notes(way.key_axis, "--cell")


def head_notes(way: Walk) -> Iterator[Words]:
    """Which head is shown, and what was computed in where that is not usual."""
    sizes = way.whole.shapes["Q"][:-2]
    if sizes:
        place = tuple(words(f"note.{kind}", index=Position(i), size=n) for kind, i, n in _leading(way, sizes))
        yield words("note.head", place=place, option=Code("--head"))
    if way.attention.dtype.itemsize < 8:
        yield words("note.dtype", dtype=way.attention.dtype.name)


def axis_notes(which: Axis, option: str) -> Iterator[Words]:
    """Which rows or keys are shown, if not all."""
    if len(which.indices) < which.size:
        yield words(f"note.{which.kind}", shown=ranges(which), size=which.size, option=Code(option))


def ranges(which: Axis) -> tuple[Value, ...]:
    """The indices shown, runs of neighbours written as one.

    Examples
    --------
    >>> [part.values["last"] for part in ranges(Axis("query", (0, 1, 2, 7), 8)) if isinstance(part, Words)]
    [Position(index=2)]
    """
    runs: list[list[int]] = []
    for index in which.indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return tuple(
        Position(first) if first == last else words("note.range", first=Position(first), last=Position(last))
        for first, last in runs
    )


def _steps(way: Walk) -> Iterator[Step]:
    """As many as the case has."""
    yield from _made(way)
    yield inputs(way)
    if way.case.score is None:
        yield products(way)
        yield scale(way)
    else:
        yield scores(way)
    if way.case.softcap is not None:
        yield softcap(way)
    if way.bias is not None:
        yield bias(way)
    if way.slope is not None:
        yield alibi(way)
    for step in (mask, maximum, exponentials, weights, output):
        yield step(way)
    if way.case.layer is not None:
        yield heads(way, way.case.layer)
    if way.case.cached or way.case.decode:
        yield cache(way)
    for step in (alternatives, questions, costs):
        yield step(way)


def _made(way: Walk) -> Iterator[Step]:
    """How Q, K and V came about, where they were not given."""
    layer = way.case.layer
    if layer is not None:
        yield embeddings(way, layer)
        if way.case.placement.added is not None:
            yield positions(way, layer)
        yield projection(way, layer)
    if way.case.placement.rope is not None:
        yield rope(way)


def _leading(way: Walk, sizes: tuple[int, ...]) -> Iterator[tuple[str, int, int]]:
    """Each leading axis: what it is, which entry is shown, how many there are."""
    layer = way.case.layer
    of_heads = len(sizes) == 2 or (layer is not None and layer.projections.heads is not None)
    kinds = ("batch", "in-batch-head") if len(sizes) == 2 else ("in-batch-head",) if of_heads else ("batch",)
    yield from zip(kinds, way.leading, sizes, strict=True)
