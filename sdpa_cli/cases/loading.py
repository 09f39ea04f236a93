"""From case files to cases, with every problem of all of them told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from yaml.events import ScalarEvent

from sdpa_cli.cases.building import build
from sdpa_cli.cases.case import Case
from sdpa_cli.cases.cursor import MAX_PROBLEMS, Cursor, Unreadable
from sdpa_cli.cases.files import STDIN, read_standard_input, read_text
from sdpa_cli.cases.nodes import is_null
from sdpa_cli.cases.schema import CASE
from sdpa_cli.cases.source import Source, line_breaks
from sdpa_cli.cases.syntax import glued_key
from sdpa_cli.errors import InputError, Problem

SHOWN_PROBLEMS = 20
"""Problems of one file that are told; the others are counted."""
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
    given = {name: value for name, source in replaced.items() for value in _override(source, problems)}
    cases: list[Case] = []
    if [str(source) for source in sources].count(STDIN) > 1:
        problems.append(Problem("stdin", "standard input (-) can be read only once"))
        sources = ()
    for one in sources:
        found: list[Problem] = []
        try:
            for document in _documents(one):
                case = _read(replace(document, replaced=replaced), given, found)
                cases += [case] if case else []
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
        text = read_text(Path(given), name)
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


def _read(source: Source, given: dict[str, Any], problems: list[Problem]) -> Case | None:
    """One document's case; None, with the problems noted, where it is none."""
    if len(problems) >= MAX_PROBLEMS:
        return None
    found: list[Problem] = []
    values = _values(source, found)
    if values is not None:
        mask_means = {} if "mask" not in given or _is_matrix(given["mask"]) else {"mask_means": "forbidden"}
        case, more = build(source, values | given | mask_means)
        # Those beyond are only counted; a place for each of a million would be looked up for nobody.
        told, counted = more[:SHOWN_PROBLEMS], more[SHOWN_PROBLEMS:]
        places = source.locate_all(problem.path for problem in told)
        found += [*(problem.at(places[problem.path]) for problem in told), *counted]
    problems += sorted(found, key=lambda problem: _reading_order(problem, source))
    return None if found else case


def _reading_order(problem: Problem, source: Source) -> tuple[bool, int, int]:
    """From top to bottom; what is elsewhere, in a csv file or on the command line, comes last."""
    place = problem.place
    if place is None or place.file != source.name:
        return True, 0, 0
    return False, place.line, place.column


def _is_matrix(mask: Any) -> bool:
    return not isinstance(mask, str | dict)


def _values(source: Source, problems: list[Problem]) -> dict[str, Any] | None:
    """What the fields of a document say, by name; None where reading broke off."""
    cursor = Cursor(source, problems)
    try:
        event = cursor.begin()
        if event is None or is_null(event):
            problems.append(_empty(source))
        elif isinstance(event, ScalarEvent) and (glued := glued_key(source, event.start_mark)):
            problems.append(glued)
        else:
            values = CASE.read_partly(cursor, ())
            cursor.end()
            return values
    except Unreadable:
        return None
    finally:
        cursor.close()
    return None


def _empty(source: Source) -> Problem:
    hint = "remove the line ---" if source.document > 1 else None
    message = "there is no case here" if source.document > 1 else "the file is empty"
    return Problem("empty", message, f"at least {CASE.example}", hint, place=source.place(None))


def _override(source: Source, problems: list[Problem]) -> Iterator[Any]:
    """The value that an override says, if it says one."""
    cursor = Cursor(source, problems)
    kind = next(field.kind for field in CASE.fields if (field.name,) == source.root)
    try:
        event = cursor.begin()
        if event is None or is_null(event):
            problems.append(Problem("empty", f"{source.name} is empty", kind.words().replace("`", "")))
            return
        value = kind.read(cursor, source.root)
        cursor.end()
    except Unreadable:
        return
    finally:
        cursor.close()
    if value is not None:
        yield value


def _few(problems: list[Problem], name: str) -> list[Problem]:
    """The first problems of a file, and how many more there are."""
    rest = len(problems) - SHOWN_PROBLEMS
    if rest <= 0:
        return problems
    count = str(rest) if len(problems) < MAX_PROBLEMS else f"at least {rest}"
    return [*problems[:SHOWN_PROBLEMS], Problem("more", f"{count} more problems of {name} are not shown")]
