"""Every document of a class: what is in it, and that nothing in it acts."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from classroom.crowd import HOSTILE, Kind, canvas_table, crowd, graded, item, moodle_table, record, results, right_items
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sdpa_cli.classroom.results import Result, Standing
from sdpa_cli.classroom.roster import Roster, Student
from sdpa_cli.classroom.summary import summary
from sdpa_cli.classroom.tables import Table, parse_table
from sdpa_cli.errors import InputError
from sdpa_cli.grading.report import Status, failed, say
from sdpa_cli.views.classroom import inert
from sdpa_cli.views.classroom.documents import csv_text, json_text
from sdpa_cli.views.classroom.feedback import feedback_html, feedback_markdown
from sdpa_cli.views.classroom.junit import junit_text
from sdpa_cli.views.classroom.overview import overview_html
from sdpa_cli.views.classroom.platforms import filled_roster, grade_column, gradescope_text, only_result
from sdpa_cli.views.classroom.terminal import class_text
from sdpa_cli.views.classroom.writing import file_names, write_reports

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]")
LANGUAGES = ("en", "hu", "da")


def links(found):
    return [f"feedback/{name}.html" for name in file_names(found.results)]


def test_json_holds_what_is_promised(f3):
    document = json.loads(json_text(crowd(f3), "en"))
    assert (document["schema_version"], document["exercise"], document["sandbox"]) == (1, "F3", "L3 (walls)")
    first, second = document["submissions"][:2]
    assert {"student", "status", "points", "max_points", "file", "sha256", "items"} <= set(first)
    assert (first["status"], first["points"], second["points"], second["fault"]) == (
        "graded",
        7.0,
        2.0,
        "mask-after-softmax",
    )
    assert " ".join(one["status"] for one in document["submissions"]) == (
        "graded graded missing unreadable needs attention error graded"
    )
    masks = second["items"][1]
    assert (masks["stage"], masks["case"], masks["status"], masks["earned"]) == ("mask", "causal", "failed", 0.0)
    assert document["summary"]["faults"] == {"mask-after-softmax": 1}


def test_json_is_canonical(f3):
    text = json_text(crowd(f3), "en")
    assert text == json_text(crowd(f3), "en")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_a_missing_or_failed_submission_has_no_points(f3):
    by_status = {one["status"]: one["points"] for one in json.loads(json_text(crowd(f3), "en"))["submissions"]}
    assert (by_status["missing"], by_status["error"], by_status["unreadable"]) == (None, None, None)


@pytest.mark.parametrize("start", [*"=+-@\t\r＝＋－＠", " =", "\n="])
def test_a_cell_is_no_formula(start):
    assert inert.cell(f"{start}1+1").startswith("'")


@given(st.text())
def test_a_cell_is_one_line_of_text(text):
    shown = inert.cell(text)
    assert not shown.lstrip().startswith(("=", "+", "-", "@"))
    assert not STEERING.search(shown)
    assert "\n" not in shown


def test_no_cell_of_the_csv_is_a_formula(f3):
    rows = list(csv.reader(io.StringIO(csv_text(crowd(f3), "en"))))
    assert len(rows) == 8
    assert not [value for row in rows for value in row if value.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert not STEERING.search(csv_text(crowd(f3), "en").replace("\r\n", ""))


def test_numbers_and_addresses_have_columns_of_their_own(f3):
    rows = list(csv.DictReader(io.StringIO(csv_text(crowd(f3), "en"))))
    assert [(row["id"], row["email"]) for row in rows[2:]] == [(str(n), "") for n in range(3, 8)]
    assert (rows[0]["id"], rows[0]["email"]) == ("1", "l@example.org")


def test_a_bonus_is_called_one(f3, tmp_path):
    (first, *others) = results()
    items = (replace(first.items[0], bonus=1.0), *first.items[1:])
    best = replace(first, student=replace(first.student, language=None), record=record(items))
    found = crowd(f3, found=(best, *others))
    assert feedback_markdown(found, best, "en").startswith("# F3 The function: 8 of 33 points, 1 of them a bonus\n")
    words = "mean 3, median 2 of 33 points, bonuses included"
    assert words in class_text(found, tmp_path, "en", io.StringIO())
    assert words in overview_html(found, "en", links(found))
    assert "bonuses" not in class_text(crowd(f3), tmp_path, "en", io.StringIO())


@pytest.mark.parametrize(("names", "said"), [("xyz", True), ("xy", False)], ids=["all", "but one"])
def test_a_class_whose_files_are_called_otherwise_is_asked_about_the_exercise(f3, tmp_path, names, said):
    taken = (say("seat.taken-as", name="definition.py", file="attention.py"),)
    found = tuple(graded(Student(one), right_items(), remarks=taken * (one in names)) for one in "xyz")
    missing = Result(Student("m"), Standing.MISSING)
    text = class_text(crowd(f3, found=(*found, missing)), tmp_path, "en", io.StringIO())
    question = "taken for the function's: is F3 the right exercise?"
    assert (question in " ".join(text.split())) == said


def test_the_moodle_worksheet_is_filled_in_place(f3):
    name, text = filled_roster(crowd(f3, Kind.MOODLE, moodle_table()), None, "en")
    table = parse_table(text.encode("utf-8"))
    assert (name, table.header) == ("moodle.csv", moodle_table().header)
    assert [row[0] for row in table.rows] == [row[0] for row in moodle_table().rows]
    # Graded ones only; on Moodle's scale, with its decimal sign; no more than the maximum.
    assert [row[4] for row in table.rows] == ["21,21", "6,06", "-", "-", "-", "-", "-"]
    assert not [value for row in table.rows for value in row if value.startswith(("=", "+", "@"))]
    assert "<" not in table.rows[1][6]


def test_a_comment_keeps_titles_with_commas_apart(f3):
    (_, wrong, *others) = results("Anna")
    items = tuple(replace(item, finding=wrong.items[1].finding) for item in wrong.items)
    record = replace(wrong.record, report=replace(wrong.record.report, items=items))
    found = crowd(f3, Kind.MOODLE, moodle_table(), (replace(wrong, record=record), *others))
    comment = parse_table(filled_roster(found, None, "en")[1].encode()).rows[1][6]
    assert "failed: two-token example, no mask / causal, padding, window and irregular masks / hidden cases;" in comment


def test_moodle_takes_nothing_above_the_maximum(f3):
    (first, *others) = results()
    many = tuple(replace(item, bonus=40.0) for item in first.items)
    record = replace(first.record, report=replace(first.record.report, items=many))
    found = crowd(f3, Kind.MOODLE, moodle_table(), (replace(first, record=record), *others))
    assert parse_table(filled_roster(found, None, "en")[1].encode()).rows[0][4] == "100"


def test_a_moodle_worksheet_in_another_language_is_known_by_its_numbers(f3):
    header = ("Tunniste", "Nimi", "Sähköposti", "Tila", "Arvosana", "Enintään", "Palaute")
    table = parse_table(filled_roster(crowd(f3, Kind.MOODLE, moodle_table(header)), None, "en")[1].encode())
    assert [row[4] for row in table.rows][:2] == ["21,21", "6,06"]


def test_the_canvas_gradebook_has_ids_and_one_column(f3):
    name, text = filled_roster(crowd(f3, Kind.CANVAS, canvas_table(), shifted()), None, "en")
    table = parse_table(text.encode())
    assert (name, table.header) == (
        "canvas.csv",
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "F3 attention (991)"),
    )
    assert table.rows[0] == ("    Points Possible", "", "", "", "", "66")
    assert [row[1] for row in table.rows[1:]] == list("1234567")
    # What no grade stands for stays as Canvas has it.
    assert [row[5] for row in table.rows[1:]] == ["14", "4", "old", "old", "old", "old", "old"]
    assert not table.rows[2][0].startswith("=")


def shifted():
    """Results whose rows are those of the gradebook, beneath its row of points."""
    return tuple(replace(one, student=replace(one.student, row=one.student.row + 1)) for one in results())


def test_the_column_can_be_named(f3):
    found = crowd(f3, Kind.CANVAS, canvas_table("Attention (991)"), shifted())
    with pytest.raises(InputError, match="which column"):
        filled_roster(found, None, "en")
    for column in ("Attention", "Attention (991)"):
        assert filled_roster(found, column, "en")[1].splitlines()[0].endswith("Attention (991)")
    with pytest.raises(InputError, match="there is no column Atention in the class list"):
        filled_roster(found, "Atention", "en")


@pytest.mark.parametrize("roster", [None, Roster(Kind.OWN, Table(("name",), ()), ())], ids=["none", "one's own"])
def test_a_column_without_a_list_to_fill_is_refused(f3, roster):
    with pytest.raises(InputError, match="--column is for a list that is filled in, and there is none"):
        grade_column(roster, f3, "Grade")


NAMES_ONLY = "these columns of it say nothing to sdpa: hold, kode."
TAKEN_FOR_OWN = "The class list was taken for one of your own"


@pytest.mark.parametrize(
    ("header", "ids", "said"),
    [
        (("navn", "hold", "kode"), (), [NAMES_ONLY]),
        (("navn", "hold", "kode", "id"), ("7",), []),
        (("navn",), (), []),
        (("navn", "Osztályzat"), ("7",), [TAKEN_FOR_OWN]),
        (("hold", "navn", "kode", "Karakter"), (), ["sdpa: hold, kode, Karakter.", TAKEN_FOR_OWN]),
    ],
    ids=["no numbers", "numbers, too", "names", "grades", "both"],
)
def test_what_is_not_understood_of_a_list_is_said(f3, tmp_path, header, ids, said):
    roster = Roster(Kind.OWN, Table(header, ()), (Student("Kaj", ids, row=0),))
    text = " ".join(class_text(replace(crowd(f3), roster=roster), tmp_path, "en", io.StringIO()).split())
    assert [words in text for words in (*said, NAMES_ONLY, TAKEN_FOR_OWN)] == [
        *[True] * len(said),
        NAMES_ONLY in said,
        TAKEN_FOR_OWN in said,
    ]


def test_gradescope_gets_points_and_no_hidden_test(f3):
    found = crowd(f3)
    document = json.loads(gradescope_text(found, found.results[1], "en"))
    assert document["score"] == 2.0
    assert {test["visibility"] for test in document["tests"]} == {"visible"}
    assert [test["max_score"] for test in document["tests"]] == [2.0, 3.0, 2.0]
    assert [test["status"] for test in document["tests"]] == ["passed", "failed", "failed"]
    assert {document["output_format"], document["test_output_format"], document["test_name_format"]} == {"text"}


def test_gradescope_s_file_is_for_one_submission_that_the_tool_could_grade(f3):
    with pytest.raises(InputError, match="is for one submission; here are 7"):
        only_result(crowd(f3))
    error = next(one for one in results() if one.standing is Standing.ERROR)
    with pytest.raises(InputError, match="the tool itself failed"):
        only_result(crowd(f3, found=(error,)))


def test_junit_is_xml_with_names_of_its_own(f3):
    root = ET.fromstring(junit_text(crowd(f3), "en"))
    suites = root.findall("testsuite")
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(suites) == 7
    assert len(set(cases)) == len(cases)
    for suite in suites:
        assert len(suite.findall("testcase")) == int(suite.get("tests"))
        assert len(list(suite.iter("failure"))) == int(suite.get("failures"))
        assert len(list(suite.iter("error"))) == int(suite.get("errors"))
        assert len(list(suite.iter("skipped"))) == int(suite.get("skipped"))


def test_no_document_holds_what_steers(f3):
    found = crowd(f3)
    texts = [json_text(found, "en"), junit_text(found, "en"), gradescope_text(found, found.results[1], "en")]
    for text in [*texts, json.dumps(json.loads(texts[0]), ensure_ascii=False)]:
        assert not STEERING.search(text)


class Elements(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_hold_no_element_of_a_stranger(f3, language):
    found = crowd(f3)
    texts = {overview_html(found, language, links(found)): 1, feedback_html(found, found.results[1], language): 0}
    for text, scripts in texts.items():
        page = Elements(text)
        assert page.tags.count("script") == text.count("<script>") == scripts
        assert not {"img", "iframe", "object", "link", "base", "form"} & set(page.tags)
        assert not [one for one in page.attributes if one[1].startswith("on")]
        assert not [one for one in page.attributes if one[1] in ("src", "style")]
        assert all(value.startswith("feedback/") for tag, name, value in page.attributes if name == "href")
        assert not STEERING.search(text)
        assert f'<html lang="{language}">' in text
        assert "default-src 'none'" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_markdown_feedback_renders_to_text_only(f3, language):
    found = crowd(f3)
    text = feedback_markdown(found, found.results[1], language)
    assert not STEERING.search(text)
    page = Elements(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    allowed = {"h1", "h2", "ul", "li", "p", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(page.tags) <= allowed
    assert {one[1] for one in page.attributes} <= {"class", "style"}


@given(st.text(alphabet="`~ \n|[]<>#@a"))
def test_code_is_code(text):
    rendered = MarkdownIt("commonmark", {"html": True}).render(
        f"a {inert.code(text)} b\n\n{inert.fenced(text.splitlines())}\n"
    )
    assert set(Elements(rendered).tags) <= {"p", "code", "pre"}
    assert rendered.count("<pre>") == 1


def test_feedback_is_in_the_student_s_language(f3):
    found = crowd(f3)
    assert feedback_markdown(found, found.results[0], "en").startswith("# F3 A függvény: 7/33 pont\n")
    assert feedback_markdown(found, found.results[3], "en").startswith("# F3 Funktionen: ikke bedømt\n")
    assert feedback_markdown(found, found.results[1], "en").startswith("# F3 The function: 2 of 33 points\n")


def test_submissions_that_do_not_count_are_listed_for_the_instructor(f3):
    anna = replace(results()[0], earlier=("anna.py", "anna-2.py"))
    found = crowd(f3, found=(anna, *results()[1:]))
    words = "Earlier submissions, which do not count: anna.py, anna-2.py"
    assert csv_text(found, "en").splitlines()[1].endswith(f'"{words}"')
    assert f"<td>{words}</td></tr>" in overview_html(found, "en", [f"{at}.html" for at in range(len(found.results))])


def test_submissions_that_do_not_count_are_remarked_on_in_the_feedback(f3):
    anna = replace(results()[1], earlier=("anna.py", "anna-2.py"))
    text = feedback_markdown(crowd(f3, found=(anna,)), anna, "en")
    assert "- Remarks: `Earlier submissions, which do not count: anna.py, anna-2.py`\n" in text
    assert text.count("- File:") == 1


def test_feedback_speaks_of_the_sandbox_only_where_something_ran(f3):
    found = crowd(f3)
    for make in (feedback_markdown, feedback_html):
        told = [
            "Your code ran" in make(found, replace(one, student=replace(one.student, language=None)), "en")
            for one in found.results
        ]
        assert told == [True, True, False, False, True, False, True]


def test_feedback_names_the_fault_and_the_command(f3):
    found = crowd(f3)
    text = feedback_markdown(found, found.results[1], "en")
    assert "your numbers equal those of the fault mask-after-softmax" in text
    assert "`sdpa explain --fault mask-after-softmax`" in text


def test_the_terminal_shows_no_control(f3, tmp_path):
    text = class_text(crowd(f3), tmp_path, "en", io.StringIO())
    assert not STEERING.search(text)
    assert "1 mask-after-softmax" in text
    assert "Odd: tool failed" in text


def test_the_terminal_says_what_stays_open_without_a_seed(f3, tmp_path):
    line = "Without --seed the hidden checks stay open: 2 of 33 points.\n"
    without = class_text(replace(crowd(f3), hidden_cases=False), tmp_path, "en", io.StringIO())
    assert line in without
    assert line not in class_text(crowd(f3), tmp_path, "en", io.StringIO())


def test_the_summary_adds_up(f3):
    found = crowd(f3)
    figures = summary(found)
    assert sum(figures.standings.values()) == len(found.results)
    assert sum(one.count for one in figures.bins) == sum(one.points is not None for one in found.results)
    assert figures.faults == (("mask-after-softmax", (1,)),)
    assert figures.for_a_person == (3, 4, 5, 6)
    assert (figures.mean, figures.median) == (pytest.approx(11 / 4), 2.0)


def of_a_class(count):
    """So many students whose names take room, every one for a person to look at."""
    remarks = (say("seat.which", file="attention.py", names="my_solution_of_the_exercise.py, and_another_one.py"),)
    students = [Student(f"Student Number {number:02d}", row=number) for number in range(count)]
    return tuple(Result(student, Standing.ATTENTION, remarks=remarks) for student in students)


def test_nobody_in_a_group_is_left_out(f3, tmp_path):
    found = replace(crowd(f3, found=of_a_class(14)), alike=(tuple(range(14)),))
    page = overview_html(found, "en", links(found)).partition("<h3>Nearly the same</h3>")[2].partition("</ul>")[0]
    text = class_text(found, tmp_path, "en", io.StringIO()).partition("Nearly the same")[2]
    for one in found.results:
        assert f"{one.student.name}</a>" in page
        assert one.student.name in " ".join(text.split())
    assert max(map(len, text.splitlines()[:-1])) <= 80


def test_why_a_person_is_to_look_is_said_to_the_end(f3, tmp_path):
    text = class_text(crowd(f3, found=of_a_class(2)), tmp_path, "en", io.StringIO())
    lines = text.partition("For a person to look at\n")[2].splitlines()[:2]
    assert lines == [
        "  Student Number 00: needs attention; no file is called attention.py;",
        "    it could be one of my_solution_of_the_exercise.py, and_another_one.py",
    ]


def test_a_reader_s_points_are_a_reason_to_look(f3, tmp_path):
    words = "Open: graded; 5 points are for a person to give."
    assert f"  {words}\n" in class_text(crowd(f3), tmp_path, "en", io.StringIO())
    assert words in re.sub("<[^>]*>", "", overview_html(crowd(f3), "en", links(crowd(f3))))


def loads(number, problem):
    """A submission that loads, or does not; of a notebook, or of a file."""
    student, files = Student(f"Student {number}", row=number), ("notebook.ipynb",) if number % 2 else ("attention.py",)
    first = () if problem is None else (item(problem, failed(say("file.missing", file="attention.py")), 0.0),)
    return replace(graded(student, (*first, *right_items())), files=files)


def test_what_is_told_only_of_those_that_failed_is_counted_among_all_that_tried(f3):
    (missing,) = [one for one in results() if one.standing is Standing.MISSING]
    found = (*(loads(n, {0: "loads", 1: "cells", 2: "loads"}.get(n)) for n in range(7)), missing)
    counts = {one.check: one.counts for one in summary(crowd(f3, found=found)).checks}
    assert counts["loads"] == {Status.FAILED: 2, Status.PASSED: 5}
    assert counts["cells"] == {Status.FAILED: 1, Status.PASSED: 2}
    assert "loads" not in {one.check for one in summary(crowd(f3)).checks}
    assert "<td class='n'>2 of 7 failed</td>" in overview_html(crowd(f3, found=found), "en", ["x"] * 8)


def test_where_nothing_was_graded_no_check_has_failed_or_passed(f3):
    page = overview_html(crowd(f3), "en", links(crowd(f3))).partition("id='all'")[2]
    rows = {row.partition("</a>")[0].rpartition(">")[2]: row for row in page.split("<tr>")}
    assert "<td class='n'>0</td>" in rows["Kovács Lőrinc"]
    for name in ("Nobody", "Kaj", "Odd"):
        assert "<td class='n' data-value=''></td><td></td><td class='n'></td>" in rows[name]


def test_students_of_one_name_have_files_of_their_own(f3):
    one = results()[0]
    names = file_names((one, one, replace(one, student=replace(one.student, name="../../Ő", ids=()))))
    assert names == ["kovacslorinc-1", "kovacslorinc-1-2", "o"]
    assert file_names((replace(one, student=replace(one.student, name="学生", ids=())),)) == ["student"]


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Mette Møller", "mettemoeller"),
        ("Ægidius Ångström", "aegidiusaangstrom"),
        ("Ka\u030are", "kaare"),
        ("Weiß", "weiss"),
        ("Łucja Đorđević", "lucjadordevic"),
        ("Þór Guðmundsson", "thorgudmundsson"),
        ("Őry Fűzi", "oryfuzi"),
        ("Işıl Œ", "isiloe"),
    ],
)
def test_letters_are_spelled_in_file_names(name, stem):
    assert file_names((Result(Student(name), Standing.MISSING),)) == [stem]


def test_spelled_out_names_do_not_collide():
    found = tuple(Result(Student(name), Standing.MISSING) for name in ("Bøe", "Boee", "boee-2", "BØE"))
    assert file_names(found) == ["boee", "boee-2", "boee2", "boee-3"]


def test_all_reports_are_written(f3, tmp_path):
    write_reports(crowd(f3), tmp_path, "en", None)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.json", "report.csv", "report.html", "junit.xml", "feedback"}
    assert len(list((tmp_path / "feedback").iterdir())) == 14
    for link in re.findall(r"href='(feedback/[^']+)'", (tmp_path / "report.html").read_text("utf-8")):
        assert (tmp_path / link).is_file()
    assert HOSTILE not in "".join(path.name for path in tmp_path.rglob("*"))
