"""``sdpa schema``: the case file, as editors want to know it."""

from __future__ import annotations

from sdpa_cli.errors import ExitCode
from sdpa_cli.views.outputs import writing


def schema() -> int:
    """Print the JSON Schema of case files, for editors."""
    import json

    from sdpa_cli.cases import case_schema

    with writing(None) as (_, write):
        write(f"{json.dumps(case_schema(), indent=2)}\n")
    return ExitCode.OK
