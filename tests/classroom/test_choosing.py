"""Which of somebody's files are the exercise's, whatever they are called."""

import pytest
from classroom.generated import member, notebook, zipped

from sdpa_cli.classroom.choosing import choose
from sdpa_cli.grading.report import Message

A, B = b"a = 1\n", b"b = 2\n"


def chosen(f3, entries, contents):
    return choose(f3, entries(*contents, **contents))


def told(found):
    return {file: problem.message for file, problem in found.unreadable.items()}


@pytest.mark.parametrize(
    ("contents", "files"),
    [
        pytest.param({"attention.py": A, "notes.txt": B}, {"attention.py": A}, id="by its name"),
        pytest.param({"Attention.PY": A}, {"attention.py": A}, id="in capitals"),
        pytest.param({"attention.py": A, "attention-2.py": B}, {"attention.py": B}, id="the later upload"),
        pytest.param({"attention (10).py": A, "attention (9).py": B}, {"attention.py": A}, id="the tenth upload"),
        pytest.param({"a/b/attention.py": A, "attention.py": B}, {"attention.py": B}, id="the one nearest the top"),
        pytest.param(
            {"answers.yml": A, "attention.py": B}, {"answers.yaml": A, "attention.py": B}, id="a short suffix"
        ),
        pytest.param({"my work.py": A}, {"attention.py": A}, id="the only one there is"),
        pytest.param({"my work.py": A, "test_mine.py": B}, {"attention.py": A}, id="the only one that is no test"),
        pytest.param({"F3/attention.py": A, "F4/attention.py": B}, {"attention.py": A}, id="of a whole workspace"),
        pytest.param({"work/f3/attention.py": A, "attention.py": B}, {"attention.py": A}, id="in its own folder"),
        pytest.param({"F3/notes.txt": A, "attention.py": B}, {"attention.py": B}, id="not in its own folder"),
        pytest.param({"F3/work.ipynb": A, "F4/attention.py": B}, {"notebook.ipynb": A}, id="a notebook in its folder"),
        pytest.param({"work.ipynb": A}, {"notebook.ipynb": A}, id="a notebook"),
        pytest.param({"work.ipynb": A, "work-2.ipynb": B}, {"notebook.ipynb": B}, id="the later notebook"),
        pytest.param({"work.ipynb": A, "helper.py": B}, {"notebook.ipynb": A}, id="a notebook before another file"),
    ],
)
def test_files_are_found(f3, entries, contents, files):
    found = chosen(f3, entries, contents)
    assert (found.files, found.unreadable, found.unclear) == (files, {}, False)


@pytest.mark.parametrize(
    ("contents", "key"),
    [
        pytest.param({"a/attention.py": A, "b/attention.py": B}, "seat.several", id="two at one depth"),
        pytest.param({"first.py": A, "second.py": B}, "seat.which", id="two of other names"),
        pytest.param({"essay.docx": A}, "seat.nothing", id="nothing of the kind"),
        pytest.param({}, "seat.nothing", id="nothing at all"),
    ],
)
def test_what_is_not_clear_is_for_a_person(f3, entries, contents, key):
    found = chosen(f3, entries, contents)
    assert found.unclear
    assert [remark.key for remark in found.remarks] == [key]


def test_a_clash_of_case_is_told_and_the_usual_spelling_taken(f3, entries):
    found = chosen(f3, entries, {"Attention.py": A, "attention.py": B})
    assert (found.files, found.unclear) == ({"attention.py": B}, False)
    assert found.remarks == (Message("seat.several", {"file": "attention.py", "names": "attention.py, Attention.py"}),)


def test_a_file_under_another_name_is_told(f3, entries):
    found = chosen(f3, entries, {"my work.py": A})
    assert found.remarks == (Message("seat.taken-as", {"name": "my work.py", "file": "attention.py"}),)


def test_an_archive_is_looked_into_where_files_are_missing(f3, entries):
    inner = zipped(lambda archive: archive.writestr(member("F3/attention.py"), A))
    assert chosen(f3, entries, {"work.zip": inner}).files == {"attention.py": A}
    assert chosen(f3, entries, {"work.zip": inner, "attention.py": B}).files == {"attention.py": B}


def test_an_archive_in_an_archive_is_not_looked_into(f3, entries):
    inner = zipped(lambda archive: archive.writestr(member("attention.py"), A))
    outer = zipped(lambda archive: archive.writestr(member("inner.zip"), inner))
    assert chosen(f3, entries, {"work.zip": outer}).unclear


def test_what_cannot_be_read_says_why(f3, entries):
    found = chosen(f3, entries, {"attention.py": "attention.py is a symbolic link", "answers.yaml": B})
    assert found.files == {"answers.yaml": B}
    assert told(found) == {"attention.py": "attention.py is a symbolic link"}


def test_a_damaged_archive_says_why(f3, entries):
    found = chosen(f3, entries, {"work.zip": b"PK"})
    assert list(told(found).values()) == ["work.zip is no zip archive that can be read: File is not a zip file"]


def test_names_in_remarks_are_short_and_plain(f3, entries):
    (remark,) = chosen(f3, entries, {"\x1b[31m\u202e" + "x" * 500 + ".docx": A}).remarks
    assert "\x1b" not in remark.values["names"]
    assert "\u202e" not in remark.values["names"]
    assert len(remark.values["names"]) < 100


def test_reasons_are_unicode_whatever_a_file_is_called(f3, entries):
    found = chosen(f3, entries, {"b\udcff.py": "b\udcff.py is a symbolic link"})
    assert told(found) == {"attention.py": "b\ufffd.py is a symbolic link"}


def test_rivals_in_two_archives_are_told_apart(f3, entries):
    inner = zipped(lambda archive: archive.writestr(member("attention.py"), A))
    (remark,) = chosen(f3, entries, {"first.zip": inner, "second.zip": inner}).remarks
    assert remark.values["names"] == "first.zip/attention.py, second.zip/attention.py"


def test_a_notebook_counts(f3, entries):
    assert chosen(f3, entries, {"work.ipynb": notebook(A)}).files["notebook.ipynb"] == notebook(A)
