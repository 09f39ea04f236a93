"""``sdpa check``: grade what a student has done, and say what to do next."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode, InputError, Problem
from sdpa_cli.views.outputs import writing

if TYPE_CHECKING:
    from sdpa_cli.grading.jobs import Job, Work
    from sdpa_cli.sandbox import Sandbox

CheckForm = Literal["terminal", "json", "junit", "github"]
Language = Literal["en", "hu", "da"]


def check(
    exercise: Annotated[str | None, typer.Argument(metavar="[EXERCISE]", help="Such as F3; all by default.")] = None,
    submission: Annotated[
        str | None, typer.Argument(metavar="[PATH]", help="A file, notebook or folder, or package.module:function.")
    ] = None,
    only: Annotated[str, typer.Option(metavar="CHECKS", help="These checks alone, and those they need.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Grade again whenever a file is saved.")] = False,
    form_name: Annotated[CheckForm, typer.Option("--format", help="How to write the report.")] = "terminal",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")] = None,
    exercises: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of exercises in place of the course's own.")
    ] = None,
    lang: Annotated[Language | None, typer.Option(help="The language of the feedback.")] = None,
) -> int:
    """Grade a workspace, an exercise or a submission.

    Its code runs in a sandbox.

    Exit status: 0 every point that can be checked is there, 1 some are not, 2 the input is wrong.
    """
    from sdpa_cli.grading.targets import target_of
    from sdpa_cli.sandbox import Level, Sandbox, Start

    of_module = target_of(submission or "") is not None
    if watch and of_module:
        message = f"--watch waits for files to be saved, and {submission} is none"
        raise InputError(Problem("contradiction", message, hint="name the file in place of the module"))
    # What an installed module imports is not behind the walls, so it runs with limits and timeouts only.
    with Sandbox(Level.L0, Start.FRESH) if of_module else Sandbox() as box:
        # The sandbox gets ready in the background while NumPy is imported here and the exercises are read.
        from sdpa_cli.grading.jobs import Asked, prepare

        checks = tuple(name.strip() for name in only.split(",") if name.strip())
        work = prepare(Asked(exercise, submission, checks, exercises, lang), Path.cwd())
        code = _graded(work, work.jobs, box, form_name, output)
        return _watch(work, box, form_name, output) if watch else code


def _graded(work: Work, jobs: Iterable[Job], box: Sandbox, form_name: str, output: Path | None) -> ExitCode:
    from sdpa_cli.grading.checking import run
    from sdpa_cli.views.grading.forms import session_in
    from sdpa_cli.views.problems import problem_text
    from sdpa_cli.views.progress import waiting

    with waiting("grading"):
        session = run(work, jobs, box)
    with writing(output) as (stream, write):
        write(session_in(form_name, session, stream))
    sys.stderr.write("".join(dict.fromkeys(problem_text(one.unkept) for one in session.checked if one.unkept)))
    return session.exit_code


def _watch(work: Work, box: Sandbox, form_name: str, output: Path | None) -> ExitCode:
    """Grade again and again; Ctrl-C is the way out, and no error."""
    from sdpa_cli.grading.saying import speaker
    from sdpa_cli.grading.watching import watched

    sys.stderr.write("\n" + speaker(work.language)("view.watching", path=work.here) + "\n")
    try:
        for changed in watched(work.jobs):
            _graded(work, changed, box, form_name, output)
    except KeyboardInterrupt:
        return ExitCode.OK
    raise AssertionError("unreachable")
