"""The schema as others read it: JSON Schema for editors, a Markdown table for people."""

from __future__ import annotations

from collections.abc import Iterator

from sdpa_cli.cases.groups import Field, Group, OneOf
from sdpa_cli.cases.kinds import Json
from sdpa_cli.cases.schema import CASE

_DEFINITIONS = {
    "numbers": {
        "description": "A number. inf, -inf and nan are numbers too.",
        "anyOf": [
            {"type": "number"},
            {"type": "string", "pattern": "^[-+]?\\.?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])$"},
        ],
    },
    "truth_values": {"description": "0, 1, true or false.", "enum": [0, 1, True, False]},
}


def case_schema() -> Json:
    """The schema of a case file, as JSON Schema (draft 2020-12).

    Returns
    -------
    dict

    Examples
    --------
    >>> case_schema()["properties"]["scale"]["type"]
    'number'
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sdpa case",
        "description": "One scaled dot-product attention problem.",
        **CASE.json_schema(),
        "$defs": _DEFINITIONS,
    }


def field_table() -> str:
    """The fields of a case file as a Markdown table.

    Returns
    -------
    str
        A header, then one line per field; the parts of mappings follow their field, as ``mask.causal``.

    Examples
    --------
    >>> print(field_table().splitlines()[2])
    | `title` | text |  | What the case shows. |
    """
    head = ["| field | holds | default | meaning |", "|---|---|---|---|"]
    return "\n".join((*head, *_rows(CASE, ""))) + "\n"


def _rows(group: Group, prefix: str) -> Iterator[str]:
    for field in group.fields:
        default = "" if field.default is None else f"`{str(field.default).lower()}`"
        holds = field.kind.words().replace("|", "\\|")
        yield f"| `{prefix}{field.name}` | {holds} | {default} | {field.meaning} |"
        if (inner := _mapping(field)) is not None:
            yield from _rows(inner, f"{prefix}{field.name}.")


def _mapping(field: Field) -> Group | None:
    kind = field.kind.mapped if isinstance(field.kind, OneOf) else field.kind
    return kind if isinstance(kind, Group) else None
