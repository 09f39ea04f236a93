"""Why a submission is unreadable or for a person: told to each student in their own language, and to nobody in none."""

import csv
import json
import os
import re
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from classroom.generated import BROKEN, CODE, RIGHT, Member, member, write_moodle, zipped

from sdpa_cli.classroom import archives
from sdpa_cli.classroom.archives import nested_entries
from sdpa_cli.classroom.choosing import choose
from sdpa_cli.classroom.entries import folder_entries
from sdpa_cli.classroom.saying import PACKAGE, class_speaker
from sdpa_cli.errors import InputError
from sdpa_cli.grading.notebooks import read_notebook
from sdpa_cli.grading.report import reason
from sdpa_cli.grading.saying import PACKAGE as GRADING
from sdpa_cli.languages import LANGUAGES, load
from sdpa_cli.sandbox import Level, read_source
from sdpa_cli.sandbox.levels import candidates

OTHERS = sorted(set(LANGUAGES) - {"en"})
ENGLISH = {**load(GRADING, "en").entries, **load(PACKAGE, "en").entries}
REASONS = {key: text for key, text in ENGLISH.items() if key.startswith("unreadable.")}
# What English says around the values: no other language may say it.
PIECES = {
    piece.strip(" :;,")
    for key, text in ENGLISH.items()
    if key.partition(".")[0] in ("unreadable", "seat")
    for piece in re.split(r"\{\w+\}", text)
    if len(piece.strip(" :;,")) > 5
}


def one(info, data=CODE):
    return zipped(lambda archive: archive.writestr(info, data))


def encrypted():
    data = bytearray(one(member("attention.py")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    return bytes(data)


def unusual():
    info = member("attention.py")
    info.compress_type = zipfile.ZIP_LZMA
    return one(info)


def damaged():
    data = bytearray(one(member("attention.py")))
    data[data.index(b"attention.py") + 60] ^= 0xFF
    return bytes(data)


def twice():
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(lambda archive: [archive.writestr(member("attention.py"), CODE) for _ in range(2)])


ZIPS = {
    "unreadable.no-zip": lambda: b"PK\x03\x04 but no more",
    "unreadable.damaged": damaged,
    "unreadable.leads-out": lambda: one(member("../../attention.py")),
    "unreadable.link": lambda: one(member("attention.py", stat.S_IFLNK | 0o777)),
    "unreadable.special": lambda: one(member("attention.py", stat.S_IFIFO | 0o777)),
    "unreadable.encrypted": encrypted,
    "unreadable.compression": unusual,
    "unreadable.twice": twice,
    "unreadable.too-long": lambda: one(member("attention.py"), bytes(64 << 20)),
}


def listed(folder, monkeypatch):
    """A folder that only its owner may list; the superuser may list every one, and is told no here."""
    (folder / "anna" / "closed").mkdir(parents=True)
    scan = os.scandir

    def refusing(place):
        if Path(place).name == "closed":
            raise PermissionError(13, os.strerror(13))
        return scan(place)

    monkeypatch.setattr(os, "scandir", refusing)
    (entry,) = folder_entries(folder)
    return entry.read()


def crowded(_, monkeypatch):
    monkeypatch.setattr(archives, "MOST_ENTRIES", 0)
    return nested_entries("work.zip", one(member("attention.py")))


ELSEWHERE = {
    "unreadable.not-opened": lambda folder, _: read_source(folder / "attention.py"),
    "unreadable.notebook": lambda folder, _: read_notebook(b"{}", "work.ipynb"),
    "unreadable.not-listed": listed,
    "unreadable.too-many": crowded,
}


@pytest.fixture(params=[*ZIPS, *ELSEWHERE])
def problem(request, f3, entries, tmp_path, monkeypatch):
    """A problem of each kind, from where it arises."""
    if request.param in ZIPS:
        found = choose(f3, entries("F3.zip", **{"F3.zip": ZIPS[request.param]()})).unreadable["attention.py"]
    else:
        with pytest.raises(InputError) as caught:
            ELSEWHERE[request.param](tmp_path, monkeypatch)
        (found,) = caught.value.problems
    assert found.key == request.param
    return found


def test_every_reason_is_in_every_language():
    for language in LANGUAGES:
        known = {**load(GRADING, language).entries, **load(PACKAGE, language).entries}
        assert {key for key in known if key.startswith("unreadable.")} == {*ZIPS, *ELSEWHERE}


def test_english_says_what_the_problem_says(f3, problem):
    assert class_speaker("en", f3).say(reason(problem)) == problem.message


@pytest.mark.parametrize("language", OTHERS)
def test_no_other_language_says_any_of_it_in_english(f3, problem, language):
    said = class_speaker(language, f3).say(reason(problem))
    values = dict(problem.values)
    assert str(values["name"]) in said
    assert "error" not in values or values["error"] not in said
    assert not [piece for piece in PIECES if piece in said]


def test_names_and_details_in_values_are_plain(f3, entries):
    (bad,) = choose(f3, entries("\udcff\u202e.zip", **{"\udcff\u202e.zip": b"PK"})).unreadable.values()
    assert dict(bad.values) == {"name": "\ufffd\ufffd.zip", "error": "File is not a zip file"}


@dataclass(frozen=True)
class Way:
    """A way to hand in what somebody has to look at."""

    name: str
    files: dict
    special: str = ""


LONG = b"# " + b"x" * (300 << 10)
WAYS = [
    *(Way(kind.name, kind.files, kind.special) for kind in BROKEN if kind.standing != "graded"),
    *(Way(f"a zip: {key}", {"F3.zip": make()}) for key, make in ZIPS.items()),
    *(Way(f"{name} too long, the others right", {**RIGHT, name: LONG}) for name in RIGHT),
    Way("a notebook too long", {"work.ipynb": LONG}),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory, sdpa):
    """By way and language, a student's feedback in both forms; and the class's report, which is in English."""
    folder = tmp_path_factory.mktemp("reasons")
    people = [(way, language) for way in WAYS for language in LANGUAGES]
    export = [Member(f"Student {language}", 50_000 + at, way) for at, (way, language) in enumerate(people)]
    write_moodle(folder / "export", export)
    with (folder / "list.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(one.name, one.number, language) for one, (_, language) in zip(export, people, strict=True)]
        csv.writer(file).writerows([("name", "id", "language"), *rows])
    done = sdpa("grade", "F3", folder / "export", "--roster", folder / "list.csv", "--output", folder / "out")
    assert done.returncode == 1, done.stderr
    report = json.loads((folder / "out" / "F3" / "report.json").read_bytes())
    written = {}
    for (way, language), submission, one in zip(people, report["submissions"], export, strict=True):
        (page,) = (folder / "out" / "F3" / "feedback").glob(f"*{one.number}.html")
        texts = [path.read_text("utf-8") for path in (page, page.with_suffix(".md"))]
        written[way.name, language] = (submission, texts)
    return written


@pytest.mark.skipif(max(candidates()) < Level.L2, reason="grading a class asks for L2, which is not here")
@pytest.mark.parametrize("way", [way.name for way in WAYS])
def test_feedback_tells_why_in_the_student_s_language(told, way):
    submission, english = told[way, "en"]
    assert submission["status"] in ("unreadable", "needs attention")
    assert submission["remarks"]
    for text in english:
        assert [piece for piece in PIECES if piece in text]
    _, colon, detail = submission["remarks"][-1].rpartition(": ")
    libraries = [detail] if colon and submission["status"] == "unreadable" else []
    for language in OTHERS:
        same, texts = told[way, language]
        assert (same["status"], same["remarks"]) == (submission["status"], submission["remarks"])
        for text in texts:
            assert not [piece for piece in [*PIECES, *libraries] if piece in text]
