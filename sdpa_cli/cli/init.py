"""``sdpa init``: a folder to work in, or a new exercise to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

Language = Literal["en", "hu", "da"]


def init(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to work; this folder by default.")] = Path(),
    reset: Annotated[
        str | None, typer.Option(metavar="EXERCISE", help="Begin one exercise anew; a backup of your files is kept.")
    ] = None,
    lang: Annotated[Language | None, typer.Option(help="The language of statements and feedback.")] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of exercises in place of the course's own.")
    ] = None,
    new_exercise: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the skeleton of a new exercise instead.")
    ] = None,
) -> int:
    """Write the exercises' statements and starter files.

    Files that are there already are never overwritten.
    """
    from sdpa_cli.grading.beginning import begin, begin_exercise
    from sdpa_cli.views.grading.beginnings import begun_text

    begun = begin_exercise(new_exercise, lang) if new_exercise else begin(folder, reset, lang, exercises)
    with writing(None) as (_, write):
        write(begun_text(begun))
    return ExitCode.OK
