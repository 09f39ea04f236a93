"""``sdpa prove``: that a course holds together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

Language = Literal["en", "hu", "da"]


def prove(
    solutions: Annotated[Path, typer.Argument(metavar="SOLUTIONS", help="A folder with a solution per exercise.")],
    exercises: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of exercises in place of the course's own.")
    ] = None,
    lang: Annotated[Language | None, typer.Option(help="The language of the verdict.")] = None,
) -> int:
    """Prove that a course of exercises is sound.

    Every starter fails, every solution passes, texts and cases are complete, nothing is stray.

    Exit status: 0 the course is proved, 1 there are objections.
    """
    from sdpa_cli.sandbox import Sandbox

    with Sandbox() as box:
        from sdpa_cli.grading.proving import prove_course
        from sdpa_cli.grading.saying import speaker
        from sdpa_cli.languages import choose
        from sdpa_cli.views.grading.beginnings import proof_text

        proofs = prove_course(exercises, solutions, box)
    with writing(None) as (_, write):
        write(proof_text(proofs, speaker(choose(lang))))
    return ExitCode.OK if all(not proof.objections for proof in proofs) else ExitCode.FAILED
