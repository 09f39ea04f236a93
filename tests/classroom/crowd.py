"""A class whose members write what they should not, as results: for every view of it."""

from sdpa_cli.classroom.records import Record
from sdpa_cli.classroom.results import ClassResult, Result, Standing
from sdpa_cli.classroom.roster import Kind, Roster, Student
from sdpa_cli.classroom.tables import Table
from sdpa_cli.grading.report import FeedbackItem, Finding, Report, Status, failed, passed, say

HOSTILE = (
    "=HYPERLINK(\"http://evil.example\")<script>alert(1)</script>\x1b[31m\u202e]]>&#0;`` ``` @everyone #1 "
    "[x](javascript:alert(1)) ![i](http://evil.example/i.png) |--| \ud800 \x00 {oops} '\"><img src=x onerror=alert(1)>"
)  # fmt: skip


def item(check, finding, points=2.0, **more):
    return FeedbackItem(check, finding, points, **more)


def right_items():
    return (item("example", passed()), item("masks", passed(), 3.0), item("hidden", passed(), visibility="hidden"))


def wrong_items(text=HOSTILE):
    why = say("call.raised-at", function="attention", error=f"ValueError: {text}", place=f"{text}:3")
    return (
        item("example", passed()),
        item("masks", failed(why, stage="mask", fault="mask-after-softmax"), 3.0),
        item("hidden", failed(say("hidden.differs")), visibility="hidden"),
    )


def record(items, printed=""):
    return Record(Report("F3", items, "L3", printed), {"masks": "causal"})


def results(name=HOSTILE):
    essay = Finding(Status.OPEN, messages=(say("reader.needed"),))
    taken = (say("seat.late"), say("seat.taken-as", name=name, file="attention.py"))
    unreadable, failure = say("seat.unreadable", problem=name), say("seat.tool-failed", type="E", message=name)
    hostile = Student(name, ("2", name), None, 1)
    return (
        graded(Student("Kovács Lőrinc", ("1", "l@example.org"), "hu", 0), right_items()),
        graded(hostile, wrong_items(), name, place=name, earlier=(name,), late=True, remarks=taken),
        Result(Student("Nobody", ("3",), None, 2), Standing.MISSING),
        Result(Student("Kaj", ("4",), "da", 3), Standing.UNREADABLE, "kaj", remarks=(unreadable,)),
        graded(Student("Ida", ("5",), None, 4), right_items()[:1], standing=Standing.ATTENTION),
        Result(Student("Odd", ("6",), None, 5), Standing.ERROR, "odd", remarks=(failure,)),
        graded(Student("Open", ("7",), None, 6), (item("essay", essay, 5.0),)),
    )


def graded(student, items, printed="", **more):
    known = {"standing": Standing.GRADED, "place": "place", "files": ("attention.py",), "sha256": "ab" * 32}
    return Result(student, **{**known, **more}, record=record(items, printed))


def crowd(exercise, kind=None, table=None, found=None):
    roster = None if kind is None else Roster(kind, table, ())
    return ClassResult(exercise, "L3 (walls)", "sdpa 1, Python 3, NumPy 2", True, found or results(), ((0, 1),), roster)


def moodle_table(
    header=("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Feedback comments"),
):
    rows = [
        (f"Participant {n}", one.student.name, "", "Submitted", "-", "100,00", "") for n, one in enumerate(results(), 1)
    ]
    return Table(header, tuple(rows))


def canvas_table(title="F3 attention (991)"):
    header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", title, "Other (992)")
    rows = [("    Points Possible", "", "", "", "", "66", "10")]
    rows += [(one.student.name, str(n), "u", "l", "S", "old", "3") for n, one in enumerate(results(), 1)]
    return Table(header, tuple(rows))


__all__ = [
    "HOSTILE",
    "Kind",
    "canvas_table",
    "crowd",
    "graded",
    "item",
    "moodle_table",
    "record",
    "results",
    "right_items",
]
