"""A benchmark report as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from sdpa_cli import __version__
from sdpa_cli.benchmarking.report import Report, Row
from sdpa_cli.views.bench_cells import (
    CAPTION,
    COLUMNS,
    NUMERIC,
    SLOPE_COLUMNS,
    SUMMARY_COLUMNS,
    by_workload,
    cells,
    circumstances,
    notes,
    shape_words,
    slope_cells,
    summary_cells,
)

SCHEMA_VERSION = 1


def json_text(report: Report) -> str:
    """One JSON document. A number that is not finite is the string ``"nan"`` or ``"inf"``; what is unknown is null."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "sdpa": __version__,
        "machine": {**asdict(report.machine), "settings": dict(report.machine.settings)},
        "versions": dict(report.versions),
        "threads": report.threads,
        "rounds": report.rounds,
        "memory_method": report.memory_method,
        "rows": [_json_row(row) for row in report.rows],
        "slopes": [asdict(slope) for slope in report.slopes],
        "summaries": [asdict(summary) for summary in report.summaries],
        "missing": [asdict(gone) for gone in report.missing],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _json_row(row: Row) -> dict[str, Any]:
    found, workload = row.measurement, row.measurement.workload
    error = found.max_error
    return {
        "workload": workload.name,
        "dtype": workload.dtype,
        "shape": {
            "B": workload.batch,
            "H": workload.heads,
            "H_kv": workload.kv_heads,
            "Tq": workload.queries,
            "Tk": workload.keys,
            "d": workload.depth,
        },
        "engine": found.engine,
        "status": found.status.value,
        "reason": found.reason,
        "seconds": row.seconds,
        "ratio_to_torch": row.to_torch,
        "ratio_to_floor": row.to_floor,
        "ratio_to_streaming": row.to_streaming,
        "ratio_to_fastest_peer": row.to_fastest_peer,
        "peak_memory_bytes": found.peak_bytes,
        "output_bytes": workload.output_bytes,
        "max_error": error if error is None or isfinite(error) else str(error),
        "rounds": list(found.rounds),
    }


def markdown_text(report: Report) -> str:
    """A document of GitHub-flavoured Markdown: circumstances, table, exponents, summary and notes."""
    return "\n".join(_markdown_lines(report)) + "\n"


def _markdown_lines(report: Report) -> Iterator[str]:
    for label, words in circumstances(report):
        yield f"- {label}: {_escaped(words)}"
    yield ""
    yield from _markdown_table(
        ("workload", "shape", "engine", *COLUMNS),
        (
            (workload.name, shape_words(workload), row.measurement.engine, *cells(row))
            for workload, rows in by_workload(report.rows)
            for row in rows
        ),
    )
    yield from (CAPTION, "")
    if report.slopes:
        yield from _markdown_table(SLOPE_COLUMNS, map(slope_cells, report.slopes))
    if report.summaries:
        yield from _markdown_table(SUMMARY_COLUMNS, map(summary_cells, report.summaries))
    for words in notes(report):
        yield f"- {_escaped(words)}"


def _markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    alignment = ["--:" if column in NUMERIC else ":--" for column in columns]
    for line in (columns, alignment, *rows):
        yield f"| {' | '.join(map(_escaped, line))} |"
    yield ""


def _escaped(words: str) -> str:
    """What an engine says about its failure must not become markup."""
    one_line = " ".join(words.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|" else character for character in one_line)
