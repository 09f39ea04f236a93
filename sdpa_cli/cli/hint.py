"""``sdpa hint``: one hint at a time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

Language = Literal["en", "hu", "da"]


def hint(
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="Such as F3.")],
    check: Annotated[
        str | None, typer.Argument(metavar="[CHECK]", help="For this check; by default the first that had failed.")
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of exercises in place of the course's own.")
    ] = None,
    lang: Annotated[Language | None, typer.Option(help="The language of the hint.")] = None,
) -> int:
    """Give the next of three hints.

    Each is plainer than the one before; the last one nearly is the solution.
    """
    from sdpa_cli.grading.hinting import ask
    from sdpa_cli.views.grading.hints import hint_text
    from sdpa_cli.views.problems import problem_text

    given = ask(exercise, check, exercises, lang, Path.cwd())
    with writing(None) as (stream, write):
        write(hint_text(given, stream))
    if given.unkept is not None:
        sys.stderr.write(problem_text(given.unkept))
    return ExitCode.OK
