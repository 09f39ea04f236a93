"""The class as the instructor's list has it: a CSV of one's own, a Moodle worksheet or a Canvas gradebook."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from sdpa_cli.classroom.names import bare, tidy
from sdpa_cli.classroom.tables import Table, read_table
from sdpa_cli.errors import InputError, Problem
from sdpa_cli.languages import LANGUAGES

_NAME = {
    "name",
    "student",
    "fullname",
    "studentname",
    "nev",
    "teljesnev",
    "hallgato",
    "navn",
    "fuldtnavn",
    "studerende",
}
_FIRST = {"firstname", "givenname", "keresztnev", "utonev", "fornavn"}
_LAST = {"lastname", "surname", "familyname", "vezeteknev", "csaladinev", "efternavn"}
_ID = {
    *("id", "studentid", "idnumber", "sisid", "sisuserid", "sisloginid", "username", "login", "loginid"),
    *("number", "no", "studentnumber", "studentno", "registrationnumber"),
    *("azonosito", "azonositoszam", "hallgatoiazonosito", "neptun", "neptunkod", "neptunazonosito", "felhasznalonev"),
    *("nr", "nummer", "idnummer", "idnr", "studieid", "studienummer", "studienr", "brugernavn"),
}
_MAIL = {"email", "emailaddress", "mail", "emailcim", "mailadresse", "emailadresse"}
_LANGUAGE = {"language", "lang", "nyelv", "sprog"}
_PARTICIPANT = re.compile(r"(?:\D+ |Résztvevő)(\d+)")
"""A worksheet's first cells. Translations of Moodle may lose the space at the word's end, as the Hungarian has."""
_TEST_STUDENT = {"studenttest", "teststudent"}


class Kind(Enum):
    """Whose list it is; an LMS's is filled in and written back."""

    OWN = "own"
    MOODLE = "moodle"
    CANVAS = "canvas"


@dataclass(frozen=True)
class Student:
    """Somebody in the class."""

    name: str
    ids: tuple[str, ...] = ()
    """By which they may be known: numbers, logins, addresses."""
    language: str | None = None
    """In which to speak to them."""
    row: int | None = None
    """Their row in the list, from 0; None for somebody who is not on it."""


@dataclass(frozen=True)
class Roster:
    """A list of students."""

    kind: Kind
    table: Table
    students: tuple[Student, ...]

    @property
    def unread(self) -> tuple[str, ...]:
        """The columns of a list of one's own that say nothing."""
        known = _NAME | _FIRST | _LAST | _ID | _MAIL | _LANGUAGE
        return tuple(title for title in self.table.header if self.kind is Kind.OWN and bare(title) not in known)


def read_roster(path: Path) -> Roster:
    """Read a class list.

    Raises
    ------
    InputError
        When no column of it holds names.
    """
    table = read_table(path)
    kind = kind_of(table)
    reader = {Kind.CANVAS: _canvas, Kind.MOODLE: _moodle, Kind.OWN: _own}[kind]
    # Whoever has no name is called by what else they are known by; a row without either is nobody.
    students = [replace(one, name=one.name or one.ids[0]) for one in reader(table) if one.name or one.ids]
    if not students:
        expected = "a column name, or first name and last name; besides, id, email and language are read"
        raise InputError(Problem("roster", f"{path} names nobody; its columns are {', '.join(table.header)}", expected))
    return Roster(kind, table, tuple(students))


def kind_of(table: Table) -> Kind:
    """Which system wrote a table, by what it cannot do without."""
    if len(table.header) > 3 and "Student" in table.header[0] and table.header[1].strip() == "ID":
        return Kind.CANVAS
    numbered = bool(table.rows) and all(_PARTICIPANT.fullmatch(row[0].strip()) for row in table.rows)
    return Kind.MOODLE if numbered and len(table.header) > 3 else Kind.OWN


def is_points_row(row: tuple[str, ...]) -> bool:
    """Whether a row of a Canvas gradebook says what an assignment is worth, and is nobody."""
    return bare(row[0]) == "pointspossible" or (not row[1].strip() and not bare(row[0]))


def _canvas(table: Table) -> list[Student]:
    more = [at for at, name in enumerate(table.header) if bare(name) in _ID and at > 0]
    return [
        Student(tidy(row[0]), _filled(row, more), row=at)
        for at, row in enumerate(table.rows)
        if not is_points_row(row) and bare(row[0]) not in _TEST_STUDENT
    ]


def _moodle(table: Table) -> list[Student]:
    """Headers are in the site's language: the columns' places and contents say more."""
    mails = [at for at in range(2, len(table.header)) if all("@" in row[at] or not row[at] for row in table.rows)]
    more = [at for at, name in enumerate(table.header) if bare(name) in _ID and at > 1]
    students = []
    for at, row in enumerate(table.rows):
        number = _PARTICIPANT.fullmatch(row[0].strip())
        assert number is not None
        students.append(Student(tidy(row[1]), (number[1], *_filled(row, [*mails[:1], *more])), row=at))
    return students


def _own(table: Table) -> list[Student]:
    name, first, last = (_find(table, names) for names in (_NAME, _FIRST, _LAST))
    if name is None and (first is None or last is None):
        return []
    ids = [at for at, title in enumerate(table.header) if bare(title) in _ID | _MAIL]
    language = _find(table, _LANGUAGE)
    return [
        Student(
            tidy(row[name] if name is not None else f"{row[first or 0]} {row[last or 0]}"),
            _filled(row, ids),
            _known_language(row[language]) if language is not None else None,
            at,
        )
        for at, row in enumerate(table.rows)
    ]


def _find(table: Table, names: set[str]) -> int | None:
    return table.column(lambda title: bare(title) in names)


def _filled(row: tuple[str, ...], columns: list[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[at].strip() for at in columns if row[at].strip()))


def _known_language(text: str) -> str | None:
    code = text.strip().lower()[:2]
    return code if code in LANGUAGES else None
