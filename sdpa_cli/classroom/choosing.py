"""Which of the files in a delivery are the exercise's, whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sdpa_cli.classroom.archives import nested_entries
from sdpa_cli.classroom.entries import Entry
from sdpa_cli.classroom.names import same, version_of
from sdpa_cli.errors import InputError, Problem, Worded
from sdpa_cli.grading.exercise import Exercise
from sdpa_cli.grading.report import Message, say
from sdpa_cli.sandbox.text import clean

NOTEBOOK = "notebook.ipynb"
"""Under which name a notebook is handed in: the grader looks into it for what is not there as a file."""
_MOST_NAMED = 5
_MOST_LETTERS = 300
_NOT_IT = re.compile(r"test_|setup\.py$|__init__\.py$|conftest\.py$")


@dataclass(frozen=True)
class Chosen:
    """A submission's files."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """By the exercise's names."""
    unreadable: Mapping[str, Problem] = field(default_factory=dict)
    """Why a file of the exercise could not be read."""
    remarks: tuple[Message, ...] = ()
    """What a person should know."""
    unclear: bool = False
    """Whether a person must look before any grade stands."""


def choose(exercise: Exercise, entries: Sequence[Entry]) -> Chosen:
    """Find an exercise's files in a delivery, and read them."""
    entries, damaged = _unpacked(exercise, entries)
    entries = _own_folder(exercise, entries)
    wanted = {file: _candidates(file, entries) for file in exercise.files}
    taken: dict[str, Entry] = {}
    remarks: list[Message] = []
    unclear = False
    for file, found in wanted.items():
        if found:
            taken[file] = found[0]
        rivals = [entry for entry in found[1:] if _rank(entry)[:2] == _rank(found[0])[:2]]
        if rivals:
            remarks.append(say("seat.several", file=file, names=_shown([found[0], *rivals])))
            unclear = unclear or _rank(rivals[0]) == _rank(found[0])
    notebook, others = _notebook(entries), _others(exercise, entries, taken)
    if notebook is not None:
        taken[NOTEBOOK] = notebook
    elif len({_stem(entry) for entry in others}) > 1:
        remarks.append(say("seat.which", file=_function_file(exercise), names=_shown(others)))
        unclear = True
    elif others:
        taken[_function_file(exercise)] = others[0]
        remarks.append(say("seat.taken-as", name=_short(others[0].name), file=_function_file(exercise)))
    if not taken:
        if damaged is not None:
            return Chosen({}, {exercise.files[0]: damaged}, tuple(remarks))
        if not unclear:
            remarks.append(say("seat.nothing", files=", ".join(exercise.files), names=_shown(entries) or "-"))
        return Chosen({}, {}, tuple(remarks), unclear=True)
    files, unreadable = _read(taken)
    return Chosen(files, unreadable, tuple(remarks), unclear)


def _unpacked(exercise: Exercise, entries: Sequence[Entry]) -> tuple[list[Entry], Problem | None]:
    """The entries, and in place of archives what is in them: once, and only where files are missing.

    Of an archive that cannot be read, the reason.
    """
    archives = [entry for entry in entries if entry.name.lower().endswith(".zip")]
    plain = [entry for entry in entries if not entry.name.lower().endswith(".zip")]
    if not archives or any(_candidates(file, plain) for file in exercise.files):
        return plain, None
    damaged = None
    for archive in archives:
        try:
            inside = nested_entries(_short(archive.name), archive.read())
            plain += [Entry((*archive.path, *entry.path), entry.read) for entry in inside]
        except InputError as error:
            damaged = _reason(error)
    return plain, damaged


def _own_folder(exercise: Exercise, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Of a whole workspace the folder of this exercise: others have files of the same names."""
    name = same(exercise.name)
    inside = [entry for entry in entries if name in map(same, entry.path[:-1])]
    there = _notebook(inside) is not None or any(_candidates(file, inside) for file in exercise.files)
    return inside if there else entries


def _candidates(file: str, entries: Sequence[Entry]) -> list[Entry]:
    """What may be meant by a file of the exercise, the likeliest first."""
    suffix = PurePosixPath(file).suffix
    suffixes = (suffix, ".yml") if suffix == ".yaml" else (suffix,)
    stem = same(PurePosixPath(file).stem)
    found = [
        entry for entry in entries if _stem(entry) == stem and PurePosixPath(entry.name.lower()).suffix in suffixes
    ]
    return sorted(found, key=lambda entry: (_rank(entry), entry.name != file, entry.path))


def _rank(entry: Entry) -> tuple[int, int, bool]:
    """Later uploads first, then what lies nearer the top, then what is written in small letters."""
    _, version = version_of(PurePosixPath(entry.name).stem)
    return -version, len(entry.path), entry.name != entry.name.lower()


def _stem(entry: Entry) -> str:
    return same(version_of(PurePosixPath(entry.name).stem)[0])


def _notebook(entries: Sequence[Entry]) -> Entry | None:
    found = [entry for entry in entries if entry.name.lower().endswith(".ipynb")]
    return min(found, key=lambda entry: (_rank(entry), entry.path), default=None)


def _others(exercise: Exercise, entries: Sequence[Entry], taken: Mapping[str, Entry]) -> list[Entry]:
    """Where the function's file is missing, the Python files that may be it under another name; latest first."""
    if exercise.function is None or exercise.function.file in taken:
        return []
    code = [entry for entry in entries if entry.name.lower().endswith(".py") and entry not in taken.values()]
    others = [entry for entry in code if not _NOT_IT.match(entry.name)]
    return sorted(others, key=lambda entry: (_rank(entry), entry.path))


def _function_file(exercise: Exercise) -> str:
    assert exercise.function is not None
    return exercise.function.file


def _read(taken: Mapping[str, Entry]) -> tuple[dict[str, bytes], dict[str, Problem]]:
    files, unreadable = {}, {}
    for file, entry in taken.items():
        try:
            files[file] = entry.read()
        except InputError as error:
            unreadable[file] = _reason(error)
    return files, unreadable


def _reason(error: InputError) -> Problem:
    """Why a file cannot be read. It names the file, and a name need not even be Unicode."""
    problem = error.problems[0]
    message = _short(problem.message, _MOST_LETTERS)
    if not isinstance(problem, Worded):
        return Problem(problem.code, message)
    values = ((name, _short(one, _MOST_LETTERS) if isinstance(one, str) else one) for name, one in problem.values)
    return Worded(problem.code, message, key=problem.key, values=tuple(values))


def _shown(entries: Sequence[Entry]) -> str:
    names = [_short("/".join(entry.path)) for entry in entries]
    return ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def _short(text: str, most: int = 80) -> str:
    return clean(text, most).replace("\n", " ")
