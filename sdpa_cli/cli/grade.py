"""``sdpa grade``: a whole class."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

if TYPE_CHECKING:
    from sdpa_cli.classroom.results import ClassResult
    from sdpa_cli.sandbox import Level

GradeForm = Literal["terminal", "json"]
Language = Literal["en", "hu", "da"]
SandboxName = Literal["auto", "L3", "L2", "L1", "none"]


def grade(
    exercise: Annotated[str, typer.Argument(metavar="EXERCISE", help="Such as F3.")],
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS", help="A folder of files or folders, or an LMS's zip.")
    ],
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="The class: a list, a Moodle worksheet or a Canvas gradebook.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The roster's column to fill, where it is not clear.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(envvar="SDPA_SEED", metavar="WORD", help="Your secret, from which hidden cases come.")
    ] = None,
    sandbox: Annotated[
        SandboxName, typer.Option(help="How to confine submissions; below L2 only if you say so.")
    ] = "auto",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes here; by default one per core.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Grade on the Dask cluster there; local starts one here.")
    ] = None,
    output: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for gradebook and reports; run again to resume.")
    ] = Path("grades"),
    gradescope: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Gradescope's results.json: all files are one submission.")
    ] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of exercises in place of the course's own.")
    ] = None,
    form_name: Annotated[
        GradeForm, typer.Option("--format", help="What to print; all reports are in DIR.")
    ] = "terminal",
    lang: Annotated[Language | None, typer.Option(help="The language, where the roster gives none.")] = None,
) -> int:
    """Grade a class in a sandbox, and write its reports.

    Every grade is kept at once: after an interruption the same command goes on.

    Exit status: 0 everybody is graded or missing, 1 some need a person, 2 the input is wrong, 3 the tool failed.
    """
    from sdpa_cli.classroom.grading import Order, grade_class
    from sdpa_cli.classroom.layouts import deliveries_in, one_delivery
    from sdpa_cli.classroom.roster import read_roster
    from sdpa_cli.classroom.saying import class_speaker
    from sdpa_cli.classroom.workers import cluster_workers, local_workers
    from sdpa_cli.grading.library import find_exercise, own_exercises
    from sdpa_cli.languages import choose
    from sdpa_cli.views.classroom.platforms import grade_column
    from sdpa_cli.views.classroom.progress import watched

    language = choose(lang)
    found = find_exercise(exercises or own_exercises(), exercise)
    listed = None if roster is None else read_roster(roster)
    grade_column(listed, found, column)  # nobody wants to hear after a long run that it is not clear
    sorting = deliveries_in if gradescope is None else one_delivery
    order = Order(found, submissions, listed, seed, _level(sandbox), sorting)
    place = output / found.name
    who = cluster_workers(cluster) if cluster is not None else local_workers(workers)
    with watched(class_speaker(language, found)) as note:
        graded = grade_class(order, place, who, note)
    return _told(graded, _Where(place, gradescope, column), form_name, language)


@dataclass(frozen=True)
class _Where:
    """Where reports go."""

    folder: Path
    gradescope: Path | None
    column: str | None


def _level(name: SandboxName) -> Level | None:
    from sdpa_cli.sandbox import Level

    return None if name == "auto" else Level.L0 if name == "none" else Level[name]


def _told(graded: ClassResult, where: _Where, form_name: GradeForm, language: str) -> ExitCode:
    """Write every report, and print one."""
    from sdpa_cli.classroom.results import Standing
    from sdpa_cli.views.classroom.documents import json_text
    from sdpa_cli.views.classroom.platforms import gradescope_text, only_result
    from sdpa_cli.views.classroom.terminal import class_text
    from sdpa_cli.views.classroom.writing import write_reports

    write_reports(graded, where.folder, language, where.column)
    if where.gradescope is not None:
        text = gradescope_text(graded, only_result(graded), language)
        with writing(where.gradescope) as (_, write):
            write(text)
    with writing(None) as (stream, write):
        if form_name == "json":
            write(json_text(graded, language))
        else:
            write(class_text(graded, where.folder, language, stream))
    if any(one.standing is Standing.ERROR for one in graded.results):
        return ExitCode.INTERNAL
    return ExitCode.FAILED if any(one.needs_person for one in graded.results) else ExitCode.OK
