"""``sdpa doctor``: what this machine offers for grading."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

DoctorForm = Literal["terminal", "json"]


def doctor(
    form_name: Annotated[DoctorForm, typer.Option("--format", help="How to write it.")] = "terminal",
) -> int:
    """Say what this machine offers for grading.

    Every level of the sandbox is tried; what is missing is told, and how to get it.

    Exit status: 0 a class can be graded here, 1 it cannot.
    """
    from sdpa_cli.classroom.examining import examine
    from sdpa_cli.views.classroom.examination import examination_json, examination_text
    from sdpa_cli.views.glyphs import glyphs_for

    found = examine()
    with writing(None) as (stream, write):
        glyphs = glyphs_for(stream.encoding or "utf-8")
        write(examination_json(found) if form_name == "json" else examination_text(found, glyphs))
    return ExitCode.OK if found.grades else ExitCode.FAILED
