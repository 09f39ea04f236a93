"""What `sdpa check` shows: goldens in three languages, and forms for programs, in which a student's text is inert."""

import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console
from submissions.faults import F3, source

from sdpa_cli.grading.checking import Checked, NextStep, Session
from sdpa_cli.grading.saying import speaker
from sdpa_cli.grading.workspace import Progress
from sdpa_cli.views.grading.documents import github_text, json_text, junit_text
from sdpa_cli.views.grading.terminal import session_text

GOLDENS = Path(__file__).parent / "goldens"
PROGRESS = {"F3": Progress(12, 33, False, ()), "F4": Progress(12, 12, True, ()), "F5": Progress(0, 0, False, ())}
EVIL = (
    "print('[red]x[/red] <b>&amp;\\x1b[31m ::error::\\n%0A')\n"
    "raise ValueError('[bold]</failure>]]>\\x1b[2J\\u202e\\ud800 & \"::error::')"
)


@pytest.fixture
def session(graded, exercise):
    def of(text, language="en", **files):
        report = graded("F3", {"attention.py": text, **files})
        cases = {item.check: f".sdpa/F3-{item.check}.yaml" for item in report.items if item.finding.case is not None}
        checked = Checked(report, speaker(language, exercise("F3")), False, cases)
        return Session((checked,), PROGRESS, NextStep(command="sdpa hint F3"), speaker(language))

    return of


def shown(session, **console):
    return session_text(session, Console(**{"file": io.StringIO(), "width": 80, "_environ": {}, **console}))


@pytest.mark.parametrize("language", ["en", "hu", "da"])
def test_a_report_in_the_terminal(session, language):
    found = session(source({**F3["mask-after-softmax"], "output": "print(A.sum()); O = A @ V0"}), language)
    text = shown(found).replace(found.checked[0].report.sandbox, "L")
    assert text == (GOLDENS / f"mask-after-softmax.{language}.txt").read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 80


def test_one_reason_of_several_checks_is_said_once_beneath_the_last(graded, exercise):
    report = graded("F5", {"protocol.yaml": "goal: a: b\n"})
    checked = Checked(report, speaker("en", exercise("F5")), False)
    text = shown(Session((checked,), {}, NextStep(), speaker("en")))
    assert text.count("a second colon makes no sense here") == 1
    assert text.index("nothing was run") < text.index("a second colon")


def test_one_blank_line_stands_between_exercises_and_before_the_end(session):
    one = session(source(F3["no-scale"]))
    text = shown(Session(one.checked * 2, PROGRESS, NextStep(), one.speaker))
    assert "\n\nF3  " in text
    assert "\n\n\n" not in text


def test_a_terminal_without_the_signs_gets_others(session):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    text = shown(session(source(F3["no-scale"]), "hu"), file=stream)
    assert " x " in text
    assert "✗" not in text


def test_what_a_student_wrote_is_inert_in_the_terminal(session):
    text = shown(session(EVIL), force_terminal=True, color_system="truecolor")
    assert "[bold]" in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "\ud800" not in text


def test_what_a_student_wrote_is_inert_in_junit(session):
    text = junit_text(session(EVIL).checked)
    root = ET.fromstring(text)
    suite = root.find("testsuite")
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert len({case.get("name") for case in suite.iter("testcase")}) == int(suite.get("tests"))
    assert "[bold]</failure>]]>" in suite.find("testcase/failure").text
    assert "::error::" in suite.find("system-out").text
    assert "::" not in text  # which would command GitHub's runner from within its log


def test_what_a_student_wrote_is_inert_in_annotations(session):
    lines = github_text(session(EVIL).checked).splitlines()
    assert lines[0].startswith(
        "::error file=attention.py,line=2,title=F3 the file can be loaded::attention.py cannot be"
    )
    assert all(line.startswith("::error ") for line in lines)


def test_json_holds_what_the_issue_of_a_grader_needs(session):
    document = json.loads(json_text(session(source(F3["no-scale"])).checked))
    assert document["schema_version"] == 1
    assert document["sandbox"].startswith("L")
    (found,) = document["exercises"]
    assert {"exercise", "points", "max_points", "items"} <= found.keys()
    assert found["points"] == sum(item["earned"] for item in found["items"])
    item = found["items"][0]
    assert {"check", "status", "earned", "possible", "message", "stage", "fault", "case", "visibility"} <= item.keys()
    assert (item["check"], item["status"], item["fault"], item["stage"]) == ("example", "failed", "no-scale", "scale")
    assert item["difference"]["index"] == [0, 0]


def test_json_writes_what_is_not_finite_as_text(session):
    text = json_text(session(source({"output": "O = A @ V0 * np.nan"})).checked)
    item = json.loads(text, parse_constant=lambda name: pytest.fail(name))["exercises"][0]["items"][0]
    assert item["difference"]["actual"] == "nan"
