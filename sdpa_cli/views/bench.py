"""A benchmark report as text, in the form that was asked for, and a sign of life while it is made."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from rich.console import Console

from sdpa_cli.benchmarking.measuring import Plan, run
from sdpa_cli.benchmarking.report import Report

if TYPE_CHECKING:
    from typing import TextIO

BenchForm = Literal["table", "json", "markdown", "html"]


def document(report: Report, form: BenchForm, stream: TextIO) -> str:
    """The report in one form.

    Parameters
    ----------
    report
        What was measured.
    form
        Which form.
    stream
        Where the text will go: it decides width, colours and signs of the table. Nothing is written to it.
    """
    from sdpa_cli.views.bench_documents import json_text, markdown_text
    from sdpa_cli.views.bench_html import html_text
    from sdpa_cli.views.bench_terminal import table_text

    if form == "table":
        return table_text(report, Console(file=stream))
    return {"json": json_text, "markdown": markdown_text, "html": html_text}[form](report)


def measured(plan: Plan) -> Report:
    """Run a plan; a person at a terminal is told, on standard error, which workload is under way."""
    if not sys.stderr.isatty():
        return run(plan)
    with Console(stderr=True).status("starting the engines") as status:
        return run(plan, lambda name, done, of: status.update(f"measuring {name}, {done + 1} of {of}"))
