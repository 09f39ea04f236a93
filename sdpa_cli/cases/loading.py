"""From case files to cases, with every problem of all of them told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sdpa_cli.cases.case import Case
from sdpa_cli.cases.cursor import MAX_PROBLEMS
from sdpa_cli.cases.documents import SHOWN_PROBLEMS, read_document, read_override
from sdpa_cli.cases.files import CASES, STDIN, read_standard_input, read_text
from sdpa_cli.cases.source import Source, line_breaks
from sdpa_cli.errors import InputError, Problem

MAX_DOCUMENTS = 10_000

# At the beginning of a line, three dashes begin a document wherever they stand: inside brackets and quotes too.
_DOCUMENT = re.compile("(?:\\A|(?<=[\n\r\x85\u2028\u2029]))---(?=\\s|\\Z)")


@dataclass(frozen=True)
class Overrides:
    """Values from the command line that replace the file's, written as in the file."""

    dtype: str | None = None
    block_size: str | int | None = None
    mask: str | None = None

    def sources(self) -> dict[str, Source]:
        """Each value that was given, as a text of its own."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: Source(f"--{name.replace('_', '-')}", str(value), root=(name,))
            for name, value in given.items()
            if value is not None
        }


def load_cases(sources: Sequence[str | Path], overrides: Overrides = Overrides()) -> list[Case]:
    """Read case files.

    Parameters
    ----------
    sources
        Paths; ``-`` is standard input. A file may hold several documents, each a case.
    overrides
        Values that replace those of every case.

    Returns
    -------
    list of Case
        In the order given.

    Raises
    ------
    InputError
        With the problems of all files, each at its place; of each file the first 20.
    """
    replaced = overrides.sources()
    problems: list[Problem] = []
    given: dict[str, Any] = {}
    for name, source in replaced.items():
        value, found = read_override(source)
        problems += found
        given |= {name: value} if value is not None else {}
    cases: list[Case] = []
    if [str(source) for source in sources].count(STDIN) > 1:
        problems.append(Problem("stdin", "standard input (-) can be read only once"))
        sources = ()
    for one in sources:
        found = []
        try:
            for document in _documents(one):
                if len(found) < MAX_PROBLEMS:
                    case, more = read_document(replace(document, replaced=replaced), given)
                    cases += [case] if case else []
                    found += more
        except InputError as error:
            found += error.problems
        problems += _few(found, str(one))
    if problems:
        raise InputError(*problems)
    return cases


def load_case(path: str | Path) -> Case:
    r"""Read a file that holds one case.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Case

    Raises
    ------
    InputError
        With every problem of the file, each at its place; also when it holds several cases.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sdpa_cli import load_case
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "case.yaml")
    ...     _ = path.write_text("Q: [[1, 0]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0], [0, 1]]\n")
    ...     load_case(path).attend().output.round(4)
    array([[0.3302, 0.6698]])
    """
    cases = load_cases([path])
    if len(cases) != 1:
        raise InputError(Problem("several-cases", f"{path} holds {len(cases)} cases", "one case", "use load_cases"))
    return cases[0]


def _documents(given: str | Path) -> Iterator[Source]:
    """The documents of one file, apart: what is wrong with one then hides nothing of the others."""
    if str(given) == STDIN:
        name, text, directory = "<stdin>", read_standard_input(), Path()
    else:
        name, directory = str(given), Path(given).parent
        text = read_text(Path(given), name, CASES)
    starts = [found.start() for found in _DOCUMENT.finditer(text)]
    if len(starts) > MAX_DOCUMENTS:
        raise InputError(Problem("too-many-cases", f"{name} holds more than {MAX_DOCUMENTS} documents"))
    before = text[: starts[0]] if starts else ""
    if not starts or any(line.lstrip()[:1] not in ("", "#", "%") for line in before.splitlines()):
        starts.insert(0, 0)
    else:
        # Comments and directives before the first document belong to it.
        starts[0] = 0
    line = 1
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1):
        piece = text[start:end]
        yield Source(name, piece, directory, document=number, first_line=line)
        line += line_breaks(piece)


def _few(problems: list[Problem], name: str) -> list[Problem]:
    """The first problems of a file, and how many more there are."""
    rest = len(problems) - SHOWN_PROBLEMS
    if rest <= 0:
        return problems
    count = str(rest) if len(problems) < MAX_PROBLEMS else f"at least {rest}"
    return [*problems[:SHOWN_PROBLEMS], Problem("more", f"{count} more problems of {name} are not shown")]
