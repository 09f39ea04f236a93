"""``sdpa explain``: every step of a case, a fault, a topic or an exercise, in words and numbers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sdpa_cli.errors import ExitCode, InputError, Problem
from sdpa_cli.views.outputs import overwriting, writing

if TYPE_CHECKING:
    from sdpa_cli.explaining.requests import Request
    from sdpa_cli.explaining.trace import Trace

Form = Literal["terminal", "markdown", "html", "json"]
Language = Literal["en", "hu", "da"]
Library = Literal["torch", "flash", "onnx", "jax"]
_EXERCISE = re.compile(r"[A-Za-z]\d+")


def _indices(text: str) -> tuple[int, ...]:
    """Read ``2`` or ``1,2``, counted from 1, as indices counted from 0."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise typer.BadParameter(f"{text!r} is not a number, or numbers with commas, counted from 1")
    return tuple(int(part) - 1 for part in parts)


def _cell(text: str) -> tuple[int, ...]:
    found = _indices(text)
    if len(found) != 2:
        raise typer.BadParameter(f"{text!r} is no cell; write the query and the key, for example 1,2")
    return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def explain(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[CASE|TOPIC|EXERCISE]", help="A YAML file, a topic such as masks, or an exercise such as F1."
        ),
    ] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Show the online softmax, tile by tile.")] = False,
    fault: Annotated[
        str | None, typer.Option(metavar="NAME", help="Walk the case with a fault beside the right one.")
    ] = None,
    faults: Annotated[bool, typer.Option("--faults", help="List the known faults.")] = False,
    library: Annotated[
        Library | None, typer.Option("--as", help="Show what the case gives under another library's habits.")
    ] = None,
    row: Annotated[int | None, typer.Option(min=1, help="Explain this query, counted from 1.")] = None,
    cell: Annotated[Any, typer.Option(parser=_cell, metavar="I,J", help="Explain one cell: query, key.")] = None,
    steps: Annotated[Any, typer.Option(parser=_names, metavar="NAMES", help="Only these steps.")] = "",
    head: Annotated[
        Any, typer.Option(parser=_indices, metavar="H|B,H", help="Which head, or batch entry and head, from 1.")
    ] = None,
    block_size: Annotated[int | None, typer.Option(min=1, metavar="KEYS", help="Keys per tile of --stream.")] = None,
    document: Annotated[int | None, typer.Option(min=1, help="Which case of a file that holds several.")] = None,
    mask: Annotated[str | None, typer.Option(metavar="MASK", help="In place of the file's mask.")] = None,
    dtype: Annotated[Literal["float64", "float32"] | None, typer.Option(help="In place of the file's dtype.")] = None,
    tokens: Annotated[int | None, typer.Option(min=2, help="T, in topics.")] = None,
    d: Annotated[int | None, typer.Option("--d", min=1, help="d_k and d_v, in topics.")] = None,
    heads: Annotated[int | None, typer.Option(min=1, help="How many heads, in topics.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of a topic's random numbers.")] = 0,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="One step per key press, forwards and backwards.")
    ] = False,
    precision: Annotated[int | None, typer.Option(min=1, max=17, help="Digits after the point; 4 by default.")] = None,
    lang: Annotated[Language | None, typer.Option(help="The language; by default that of the environment.")] = None,
    form_name: Annotated[Form, typer.Option("--format", help="How to write it; json counts from 0.")] = "terminal",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it to a file.")] = None,
) -> int:
    """Explain a case, a fault, a topic or an exercise.

    A case is explained step by step, with its own numbers.

    Exit status: 0 all is well, 2 the input is wrong.
    """
    from sdpa_cli.cases import Overrides
    from sdpa_cli.explaining.requests import Request
    from sdpa_cli.explaining.selecting import Selectors
    from sdpa_cli.explaining.topics.building import TopicOptions
    from sdpa_cli.languages import choose
    from sdpa_cli.views.explaining.forms import explanation, told

    request = Request(
        subject=subject,
        stream=stream,
        faults=faults,
        fault=fault,
        library=library,
        steps=steps,
        document=document,
        selectors=Selectors(head, None if row is None else row - 1, cell, block_size),
        options=TopicOptions(tokens, d, heads, seed),
        overrides=Overrides(dtype=dtype, mask=mask),
    )
    language = choose(lang)
    trace = _answered(request, language)
    if problems := overwriting({"--output": output}, trace.files):
        raise InputError(*problems)
    voice = told(trace, language, precision)
    if interactive:
        _interactive(trace, voice, form_name, output)
        return ExitCode.OK
    with writing(output) as (target, write):
        write(explanation(trace, voice, form_name, target))
    return ExitCode.OK


def _answered(request: Request, language: str) -> Trace:
    """The trace; an exercise's statement comes from where exercises are read."""
    from sdpa_cli.explaining.requests import answer, refuse_options

    name = (request.subject or "").rstrip("/\\")  # as a shell completes the name of a folder
    # A workspace has folders of these names; a case is a file.
    if not _EXERCISE.fullmatch(name) or Path(name).is_file():
        return answer(request)
    refuse_options(request)
    from sdpa_cli.explaining.exercises import explain_exercise
    from sdpa_cli.grading.library import exercises_for, find_exercise
    from sdpa_cli.grading.statements import statement
    from sdpa_cli.grading.workspace import find_workspace

    exercise = find_exercise(exercises_for(None, find_workspace(Path.cwd())), name)
    return explain_exercise(exercise.name, statement(exercise, language))


def _interactive(trace: Trace, voice: Any, form_name: Form, output: Path | None) -> None:
    from click import getchar

    from sdpa_cli.views.explaining.interactive import Reader, read_through

    if form_name != "terminal" or output is not None:
        raise InputError(Problem("contradiction", "--interactive is for the terminal, without --format and --output"))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError(Problem("no-terminal", "--interactive needs a terminal to read keys from"))
    read_through(trace, voice, Reader(sys.stdout, getchar))
