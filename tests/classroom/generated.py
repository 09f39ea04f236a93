"""A class, made up: right ones, every fault, every attack, every broken file, each with what must become of it.

Usage, for a whole class as Moodle exports it: python tests/classroom/generated.py FOLDER COUNT
It writes FOLDER/export (folders), FOLDER/worksheet.csv and FOLDER/expected.json. The same count, the same class.
"""

# ruff: noqa: E501, SIM905 # one kind, one line; names as one reads them

from __future__ import annotations

import csv
import io
import json
import os
import stat
import struct
import sys
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from sandbox.attacks import ATTACKS, Attack  # noqa: E402
from submissions.faults import F3, source  # noqa: E402

SOLUTION = HERE.parent.parent / "solutions" / "F3"
FILES = ("attention.py", "test_attention.py", "answers.yaml")
RIGHT = {name: (SOLUTION / name).read_bytes() for name in FILES}
CODE = RIGHT["attention.py"]
FIRST = "Anna Bence Csilla Dániel Emese Frida Gábor Hanne Ida Jørgen Kåre Lőrinc Mads Nóra Örs Søren Tünde Zsófia Łucja".split()
LAST = (
    "Kovács Nagy Szabó Tóth Horváth Sørensen Møller Ægidius Ångström Őry Fűzi Novák O'Brien Smith-Jones Müller".split()
)
CONSTANTS = "CANARY = '/nowhere/canary'\nPRODUCT = '/nowhere/product'\nSITE = '/nowhere/site'\n"
MOST_FOR_AN_ATTACK = 3
AS_ASKED = "\ndef attention(Q, K, V, mask=None):\n    return attack()\n"


@dataclass(frozen=True)
class Kind:
    """One way to hand something in, and what must become of it."""

    name: str
    files: dict[str, bytes]
    standing: str = "graded"
    full: bool | None = False
    """Whether all points are earned; None where there is no grade."""
    fault: str | None = None
    special: str = ""
    """What is made besides the files: ``symlink``, ``fifo`` or ``folder`` in place of attention.py, ``nameless link``."""


def zipped(write: Callable[[zipfile.ZipFile], object]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        write(archive)
    return data.getvalue()


def member(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def nameless(data: bytes) -> bytes:
    """The same archive, whose first member has lost its one letter to the extra bytes, so that all else stays in place."""
    for signature, offset, size in ((b"PK\x03\x04", 26, 30), (b"PK\x01\x02", 28, 46)):
        at = data.index(signature)
        lengths = struct.pack("<HH", 0, struct.unpack_from("<H", data, at + offset + 2)[0] + 1)
        data = data[: at + offset] + lengths + data[at + offset + 4 : at + size] + b"\0" + data[at + size + 1 :]
    return data


def right_zip(archive: zipfile.ZipFile) -> None:
    for name, data in RIGHT.items():
        archive.writestr(member(f"F3/{name}"), data)
        archive.writestr(member(f"__MACOSX/F3/._{name}"), b"\0shadow")


def notebook(code: bytes) -> bytes:
    cells = [{"cell_type": "code", "source": code.decode("utf-8"), "metadata": {}, "outputs": []}]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def attack_kind(attack: Attack) -> Kind:
    return Kind(f"attack: {attack.name}", {"attention.py": (CONSTANTS + attack.source + AS_ASKED).encode()})


RIGHTS = [
    Kind("right", RIGHT, full=True),
    Kind("right, Windows line ends and a mark", {**RIGHT, "attention.py": b"\xef\xbb\xbf" + CODE.replace(b"\n", b"\r\n")}, full=True),
    Kind("right, Latin-2 and says so", {**RIGHT, "attention.py": b"# coding: iso-8859-2\n# \xf5\n" + CODE.decode().encode("ascii", "ignore")}, full=True),
    Kind("right, in a folder of its own", {f"hand-in/{name}": data for name, data in RIGHT.items()}, full=True),
    Kind("right, uploaded again", {**RIGHT, "attention.py": b"x = (", "attention-2.py": CODE}, full=True),
    Kind("right, zipped on a Mac", {"F3.zip": zipped(right_zip)}, full=True),
    Kind("right, a notebook", {"work.ipynb": notebook(CODE), **{n: RIGHT[n] for n in FILES[1:]}}, full=True),
    Kind("right, under another name", {"my solution.py": CODE, **{n: RIGHT[n] for n in FILES[1:]}}, full=True),
    Kind("right, in a whole workspace", {**{f"work/F3/{n}": data for n, data in RIGHT.items()}, "work/F4/attention.py": b"x = 1\n", "work/X1/attention.py": b""}, full=True),
    Kind("right, an answer file called .yml", {**{n: RIGHT[n] for n in FILES[:2]}, "answers.yml": RIGHT["answers.yaml"]}, full=True),
]  # fmt: skip

FAULTS = [Kind(f"fault: {name}", {"attention.py": source(lines).encode()}, fault=name) for name, lines in F3.items()]

BROKEN = [
    Kind("an empty file", {"attention.py": b""}),
    Kind("no function", {"attention.py": b"def atention(Q, K, V): pass\n"}),
    Kind("a syntax error", {"attention.py": b"def attention(Q, K, V:\n    return\n"}),
    Kind("Latin-2 and does not say so", {"attention.py": "# őű\n".encode("iso-8859-2") + CODE}),
    Kind("UTF-16", {"attention.py": CODE.decode().encode("utf-16")}),
    Kind("a zero byte", {"attention.py": b"x = '\0'\n" + CODE}),
    Kind("noise", {"attention.py": bytes(range(256)) * 8}),
    Kind("a file much too long", {"attention.py": b"# " + b"x" * (300 << 10)}, "unreadable", full=None),
    Kind("no file of the exercise", {"essay.docx": b"PK\x03\x04 not a program"}, "needs attention", full=None),
    Kind("two files it could be", {"version_a.py": CODE, "final.py": CODE}, "needs attention", full=None),
    Kind("two of the same name", {"a/attention.py": CODE, "b/attention.py": CODE}, "needs attention"),
    Kind("a notebook that is none", {"work.ipynb": b"{}"}),
    Kind("a zip that is none", {"F3.zip": b"PK\x03\x04 but no more"}, "unreadable", full=None),
    Kind("a zip whose path leads out", {"F3.zip": zipped(lambda z: z.writestr(member("../../attention.py"), CODE))}, "unreadable", full=None),
    Kind("a zip with a link", {"F3.zip": zipped(lambda z: z.writestr(member("attention.py", stat.S_IFLNK | 0o777), "/etc/passwd"))}, "unreadable", full=None),
    Kind("a zip of names that take for ever", {"F3.zip": zipped(lambda z: [z.writestr(member(" " * 60_000 + f"{at}.py"), b"") for at in range(9)])}, "needs attention", full=None),
    Kind("a zip of which a file has no name", {"F3.zip": nameless(zipped(lambda z: [z.writestr(member(name), CODE) for name in ("x", "attention.py")]))}),
    Kind("a notebook with a line that takes for ever", {"work.ipynb": notebook(b" " * 200_000 + b"x")}),
    Kind("a link whose name is no text", {}, "unreadable", full=None, special="nameless link"),
    Kind("a bomb", {"F3.zip": zipped(lambda z: z.writestr(member("attention.py"), bytes(64 << 20)))}, "unreadable", full=None),
    Kind("a link", {}, "unreadable", full=None, special="symlink"),
    Kind("a pipe", {}, "unreadable", full=None, special="fifo"),
    Kind("a folder called like the file", {"attention.py/notes.txt": b"?"}, "needs attention", full=None),
]  # fmt: skip

HARMLESS = [*RIGHTS, *FAULTS, *BROKEN]
ALL = [*HARMLESS, *map(attack_kind, ATTACKS)]
MISSING = Kind("missing", {}, "missing", full=None)


@dataclass(frozen=True)
class Member:
    """Somebody in the class."""

    name: str
    number: int
    kind: Kind


def members(kinds: list[Kind], count: int) -> list[Member]:
    """So many people: each kind once, then right ones and faults in turn; every fiftieth hands in nothing."""
    more = cycle([*RIGHTS, *FAULTS, RIGHTS[0], RIGHTS[0]])
    all_kinds = [*kinds, *islice(more, max(0, count - len(kinds)))]
    return [
        Member(
            f"{FIRST[at % len(FIRST)]} {LAST[at // len(FIRST) % len(LAST)]}",
            40_000 + at,
            MISSING if at % 50 == 49 else kind,
        )
        for at, kind in enumerate(all_kinds)
    ]


def write_moodle(folder: Path, people: list[Member]) -> Path:
    """The export as folders; half of the names as a Mac writes them."""
    for person in people:
        name = unicodedata.normalize("NFD" if person.number % 2 else "NFC", person.name)
        place = folder / f"{name}_{person.number}_assignsubmission_file_"
        if person.kind is MISSING:
            continue
        place.mkdir(parents=True)
        for path, data in signed(person):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
        if person.kind.special == "symlink":
            (place / "attention.py").symlink_to("/etc/passwd")
        if person.kind.special == "nameless link":
            (place / "\udcff.py").symlink_to("/etc/passwd")
        if person.kind.special == "fifo":
            os.mkfifo(place / "attention.py")
    return folder


def write_canvas(path: Path, people: list[Member]) -> Path:
    """The export as one zip of files without folders; links and pipes cannot be in it, and folders are left out."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for person in people:
            if person.kind is MISSING:
                continue
            last, first = person.name.split()[-1], person.name.split()[0]
            short = "".join(char for char in f"{last}{first}".lower() if char.isalnum())
            late = "LATE_" if person.number % 10 == 3 else ""
            for at, (name, data) in enumerate(signed(person)):
                flat = name.rpartition("/")[2]
                archive.writestr(
                    member(f"{short}_{late}{person.number}_{900000 + 10 * person.number + at}_{flat}"), data
                )
    return path


def write_worksheet(path: Path, people: list[Member]) -> Path:
    """Moodle's grading worksheet."""
    header = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
              "Last modified (submission)", "Last modified (grade)", "Feedback comments"]  # fmt: skip
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for person in people:
            mail = f"s{person.number}@example.org"
            writer.writerow(
                [f"Participant {person.number}", person.name, mail, "Submitted", "", "100.00", "Yes", "-", "-", ""]
            )
    return path


def signed(person: Member) -> Iterator[tuple[str, bytes]]:
    """Their files, made their own by a comment at the end."""
    for name, data in person.kind.files.items():
        own = name.endswith("attention.py") and data and not name.endswith("test_attention.py")
        text = f"\n# handed in by {person.number}\n".encode("utf-16-le" if data.startswith(b"\xff\xfe") else "ascii")
        yield name, data + text if own else data


def expected(people: list[Member]) -> dict[str, dict[str, object]]:
    """By number, what must become of each."""
    return {
        str(one.number): {k: v for k, v in asdict(one.kind).items() if k not in ("files", "special")} for one in people
    }


def wrong(report: dict, people: list[Member]) -> list[str]:
    """Everything in a report that is not as it must be."""
    by_number = {submission["ids"][0]: submission for submission in report["submissions"]}
    found = [f"{len(report['submissions'])} submissions, not {len(people)}"] * (len(by_number) != len(people))
    for person in people:
        got, kind = by_number[str(person.number)], person.kind
        full = None if got["points"] is None else got["points"] >= got["max_points"]
        seen = (got["status"], full, got["fault"])
        if seen != (kind.standing, kind.full, kind.fault):
            found.append(f"{kind.name}: {seen}, not {(kind.standing, kind.full, kind.fault)}: {got['remarks']}")
        # A function that raises ValueError whatever it is given refuses what must be refused, and nothing else.
        if kind.name.startswith("attack") and got["points"] > MOST_FOR_AN_ATTACK:
            found.append(f"{kind.name} earned {got['points']}")
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1])
    crowd = members(ALL, int(sys.argv[2]))
    write_moodle(target / "export", crowd)
    write_worksheet(target / "worksheet.csv", crowd)
    (target / "expected.json").write_text(json.dumps(expected(crowd), indent=1, ensure_ascii=False), "utf-8")
    print(f"{len(crowd)} students in {target}")
