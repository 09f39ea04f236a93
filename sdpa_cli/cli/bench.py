"""``sdpa bench``: what attention costs on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing

BenchForm = Literal["table", "json", "markdown", "html"]


def bench(
    workload: Annotated[list[str] | None, typer.Option(metavar="NAME", help="One, or a glob: 'causal-*-f32'.")] = None,
    engines: Annotated[str, typer.Option(metavar="NAMES", help="Some of streaming,naive,floor and the peers.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A few workloads, in less than a minute.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of each engine; by default as many as may be used.")
    ] = None,
    form_name: Annotated[BenchForm, typer.Option("--format", help="How to write the report.")] = "table",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")] = None,
) -> int:
    """Measure what attention costs here, beside its peers.

    The engines are streaming, naive, NumPy's floor, and torch, onnxruntime and jax where installed.

    Exit status: 0 all is well, 1 the streaming engine failed or was wrong, 2 a name is unknown.
    """
    from sdpa_cli.benchmarking.measuring import plan_for, quicker
    from sdpa_cli.views.bench import document, measured

    plan = plan_for(workload or [], [name.strip() for name in engines.split(",") if name.strip()], threads)
    with writing(output) as (stream, write):
        report = measured(quicker(plan) if quick else plan)
        write(document(report, form_name, stream))
    return ExitCode.OK if report.streaming_holds else ExitCode.FAILED
