"""Who handed something in, as far as the names that an export gives to folders and files tell."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_MOODLE = re.compile(r"(?P<name>.*)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.DOTALL)
_CANVAS = re.compile(
    r"(?:(?:(?P<unnamed_late>LATE)_)?(?P<unnamed>anon_[0-9A-Za-z]{5})|(?P<name>.+?)_(?:(?P<late>LATE)_)?(?P<id>\d+))"
    r"_(?:\d+_(?P<rest>.+)|(?P<typed>(?:text|link)\.html))",  # what was typed into a form has no file's number
    re.DOTALL,
)
_LATE = re.compile(r"(?:^|[ _-])LATE(?=$|[ _-])")
_IN_BRACKETS = re.compile(r"\s*[(\[](?P<id>[^()\[\]]*\d[^()\[\]]*)[)\]]\s*$")
_VERSION = re.compile(r"(?P<stem>.+?)(?:-(?P<dash>\d{1,3})|\s*\((?P<bracket>\d{1,3})\))$", re.DOTALL)


@dataclass(frozen=True)
class Label:
    """What a name in an export says."""

    name: str
    id: str | None = None
    """The LMS's number, or what stands in brackets after the name."""
    late: bool = False
    rest: str = ""
    """The file's own name, where the export has put something before it."""


def moodle_label(text: str) -> Label | None:
    """Read a name in a Moodle export.

    Examples
    --------
    >>> moodle_label("Kovács Anna_1042_assignsubmission_file_")
    Label(name='Kovács Anna', id='1042', late=False, rest='')
    >>> moodle_label("attention.py") is None
    True
    """
    found = _MOODLE.fullmatch(text)
    return Label(tidy(found["name"]), found["id"], rest=found["rest"]) if found else None


def canvas_label(text: str) -> Label | None:
    """Read a name in a Canvas export.

    Examples
    --------
    >>> canvas_label("kovacsanna_LATE_77_9001_attention-2.py")
    Label(name='kovacsanna', id='77', late=True, rest='attention-2.py')
    >>> canvas_label("kovacsanna_77_text.html")
    Label(name='kovacsanna', id='77', late=False, rest='text.html')
    >>> canvas_label("anon_aB3xY_9001_attention.py")
    Label(name='anon_aB3xY', id=None, late=False, rest='attention.py')
    """
    found = _CANVAS.fullmatch(text)
    if found is None:
        return None
    late = (found["late"] or found["unnamed_late"]) is not None
    return Label(tidy(found["name"] or found["unnamed"]), found["id"], late, found["rest"] or found["typed"])


def plain_label(text: str) -> Label:
    """Read the name of a folder, or of a file without its suffix, that a person or a script has chosen.

    Examples
    --------
    >>> plain_label("Kovács Anna (ABC123)_LATE")
    Label(name='Kovács Anna', id='ABC123', late=True, rest='')
    """
    late = _LATE.search(text) is not None
    rest = _LATE.sub("", text)
    found = _IN_BRACKETS.search(rest)
    name = tidy(rest[: found.start()] if found else rest)
    return Label(name or tidy(text), found["id"].strip() if found and name else None, late)


def version_of(stem: str) -> tuple[str, int]:
    """A name without the number that marks a repeated upload, and that number; 1 where there is none.

    Examples
    --------
    >>> version_of("attention-2"), version_of("attention (3)"), version_of("attention")
    (('attention', 2), ('attention', 3), ('attention', 1))
    """
    found = _VERSION.fullmatch(stem)
    return (found["stem"], int(found["dash"] or found["bracket"])) if found else (stem, 1)


def tidy(text: str) -> str:
    """A name in one spelling: composed characters, single spaces, nothing unseen."""
    seen = "".join(char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char)[0] != "C")
    return " ".join(seen.split())


def same(text: str) -> str:
    """What two spellings of one name have in common: case and spaces aside, diacritics kept."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text: str) -> str:
    """Letters and digits only, without diacritics: what other systems make of a name.

    Examples
    --------
    >>> bare("Kovács, Anna-Mária")
    'kovacsannamaria'
    """
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in letters if char.isalnum())


def bare_words(text: str) -> str:
    """The same with its words in alphabetical order, as first and last names change places."""
    words = unicodedata.normalize("NFKD", text).replace(",", " ").split()
    return " ".join(sorted(filter(None, map(bare, words))))
