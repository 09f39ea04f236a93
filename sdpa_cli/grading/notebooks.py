"""Notebooks as Python files: the code cells one after another, and the way back from a line to its cell."""

from __future__ import annotations

import bisect
import json
import re
from dataclasses import dataclass, replace

from sdpa_cli.errors import InputError, Worded

# Lines that only a notebook understands: magics, shell commands, and questions.
_MAGIC = re.compile(r"^\s*+(?:[%!?]|\w[\w, ]*=\s*[%!])|\?\s*$")  # no two parts that could share a long line's spaces


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook."""

    name: str
    source: bytes
    starts: tuple[int, ...]
    """The line of `source` on which each code cell begins, counted from 1."""

    def where(self, line: int) -> tuple[int, int]:
        """Code cell and line within it, both counted from 1, of a line of `source`."""
        cell = bisect.bisect_right(self.starts, line) or 1
        return cell, line - self.starts[cell - 1] + 1

    def without(self, cell: int) -> Notebook:
        """The notebook with a code cell emptied, counted from 1; every other line stays where it is."""
        return self._emptied(cell, cell + 1)

    def until(self, cell: int) -> Notebook:
        """The notebook with all code cells after one emptied."""
        return self._emptied(cell + 1, len(self.starts) + 1)

    def _emptied(self, first: int, stop: int) -> Notebook:
        lines = self.source.split(b"\n")
        starts = [*(start - 1 for start in self.starts), len(lines) - 1]
        emptied = range(starts[first - 1], starts[stop - 1])
        return replace(self, source=b"\n".join(b"" if i in emptied else line for i, line in enumerate(lines)))


def read_notebook(data: bytes, name: str) -> Notebook:
    r"""The code of a Jupyter notebook.

    Raises
    ------
    InputError
        When the bytes are no notebook.

    Examples
    --------
    >>> sources = (["%matplotlib inline\n", "x = 1"], "y = 2")
    >>> cells = [{"cell_type": "code", "source": source} for source in sources]
    >>> found = read_notebook(json.dumps({"cells": cells}).encode(), "work.ipynb")
    >>> found.source
    b'# %matplotlib inline\nx = 1\ny = 2\n'
    >>> found.where(3)
    (2, 1)
    """
    try:
        cells = json.loads(data)["cells"]
        texts = [_text(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"{name} is no Jupyter notebook"
        expected, values = "the JSON that Jupyter saves", (("name", name),)
        raise InputError(Worded("notebook", message, expected, key="unreadable.notebook", values=values)) from None
    lines: list[str] = []
    starts: list[int] = []
    for text in texts:
        starts.append(len(lines) + 1)
        # A cell magic such as %%timeit or %%bash rules its whole cell.
        bare = text.lstrip().startswith("%%")
        lines += [f"# {line}" if bare or _MAGIC.search(line) else line for line in text.rstrip("\n").split("\n")]
    return Notebook(name, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"), tuple(starts) or (1,))


def _text(source: object) -> str:
    if isinstance(source, list):
        return "".join(str(line) for line in source)
    return str(source)
