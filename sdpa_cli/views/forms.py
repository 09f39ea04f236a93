"""The forms a result can take, by name: each turns results into pieces of text, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Literal

from sdpa_cli.computing import Computed

if TYPE_CHECKING:
    from typing import TextIO

    from sdpa_cli.views.excerpts import Shown

FormName = Literal["table", "json", "yaml", "csv", "markdown"]
Form = Callable[[Iterable[Computed], "Shown"], Iterator[str]]


def form(name: FormName, stream: TextIO) -> Form:
    """What writes results in a form.

    Parameters
    ----------
    name
        The form.
    stream
        Where the text will go: it decides width, colours and signs of the table.
    """
    # Each form is imported when it is asked for: JSON does not wait for Rich.
    if name == "table":
        from rich.console import Console

        from sdpa_cli.views.terminal import table_pieces

        return partial(table_pieces, console=Console(file=stream))
    if name == "markdown":
        from sdpa_cli.views.markdown import markdown_pieces

        return markdown_pieces
    if name == "csv":
        from sdpa_cli.views.sheets import csv_pieces

        return csv_pieces
    from sdpa_cli.views.documents import json_pieces, yaml_pieces

    return json_pieces if name == "json" else yaml_pieces
