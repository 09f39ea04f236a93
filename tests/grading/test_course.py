"""The course holds together, and a new exercise is a new folder."""

import shutil

import pytest
from grading.items import EXERCISES, SOLUTIONS

from sdpa_cli.errors import InputError
from sdpa_cli.grading.beginning import begin_exercise
from sdpa_cli.grading.library import find_exercise, names_in, own_exercises
from sdpa_cli.grading.proving import prove, prove_course
from sdpa_cli.grading.reading import read_exercise
from sdpa_cli.grading.statements import statement


@pytest.mark.parametrize("name", names_in(EXERCISES))
def test_every_exercise_is_proved(box, name):
    assert prove(EXERCISES / name, SOLUTIONS / name, box).objections == ()


def test_the_tool_s_own_exercises_are_these():
    assert own_exercises() == EXERCISES
    assert {"F1", "F2", "F3", "F4", "F5"} < set(names_in(EXERCISES))


def test_a_new_exercise_is_a_folder_of_data_that_is_proved_at_once(box, tmp_path):
    begun = begin_exercise(tmp_path / "course" / "E1", "en")
    assert begun.next_command == f"sdpa prove {tmp_path}/course/E1-solution --exercises {tmp_path}/course"
    (proof,) = prove_course(tmp_path / "course", tmp_path / "course" / "E1-solution", box)
    assert (proof.exercise, proof.objections) == ("E1", ())
    with pytest.raises(InputError, match="is there already"):
        begin_exercise(tmp_path / "course" / "E1", "en")


@pytest.fixture
def f1(tmp_path):
    shutil.copytree(EXERCISES / "F1", tmp_path / "F1")
    shutil.copytree(SOLUTIONS / "F1", tmp_path / "solutions" / "F1")
    return tmp_path / "F1"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


SPOILT = {
    "a stray file": (lambda f: (f / "notes.txt").write_text("x"), "notes.txt belongs to nothing"),
    "a stray starter": (lambda f: (f / "starter" / "x.py").write_text("x"), "starter/x.py belongs to nothing"),
    "a stray case": (lambda f: (f / "cases" / "unused.yaml").write_text("x"), "cases/unused.yaml belongs to nothing"),
    "a case called as something else of the file": (
        lambda f: shutil.copy(f / "cases" / "square.yaml", f / "cases" / "value.yaml"),
        "cases/value.yaml belongs to nothing",
    ),
    "a case in a folder": (
        lambda f: shutil.copytree(f / "cases", f / "cases" / "old"),
        "cases/old/square.yaml belongs to nothing",
    ),
    "a case of another ending": (
        lambda f: shutil.copy(f / "cases" / "square.yaml", f / "cases" / "square.yml"),
        "cases/square.yml belongs to nothing",
    ),
    "no starter": (lambda f: (f / "starter" / "definition.py").unlink(), "starter/definition.py is missing"),
    "no Hungarian statement": (lambda f: (f / "README.hu.md").unlink(), "README.hu.md is missing"),
    "a text too few": (
        lambda f: edit(f / "texts/da.yaml", "    a4:", "    a5:"),
        "da.yaml lacks the text blocks.proof.a4",
    ),
    "a text too many": (
        lambda f: edit(f / "texts/da.yaml", "    a4:", "    a5:"),
        "da.yaml: nothing uses the text blocks.proof.a5",
    ),
    "an open place": (
        lambda f: edit(f / "texts/en.yaml", '"the definition"', '"the {definition}"'),
        "checks.definition leaves something open",
    ),
    "blocks not listed": (lambda f: edit(f / "README.hu.md", "<!-- blocks: proof -->", ""), "README.hu.md lists []"),
    "a starter that is solved": (
        lambda f: shutil.copy(SOLUTIONS / "F1" / "definition.py", f / "starter" / "definition.py"),
        "the starter passes definition",
    ),
    "a starter that does not parse": (
        lambda f: edit(f / "starter/definition.py", "return", "retrun x"),
        "definition.py:8: invalid syntax",
    ),
    "a solution that is not": (
        lambda f: shutil.copy(EXERCISES / "F1" / "starter" / "answers.yaml", f.parent / "solutions" / "F1"),
        "the solution does not pass proof: ['answer.missing']",
    ),
    "no solution": (lambda f: (f.parent / "solutions" / "F1" / "answers.yaml").unlink(), "answers.yaml is missing"),
    "a definition that cannot be read": (
        lambda f: edit(f / "exercise.yaml", "points: 4", "pionts: 4"),
        "unknown key 'pionts'",
    ),
}


@pytest.mark.parametrize(("spoil", "objection"), SPOILT.values(), ids=SPOILT)
def test_what_does_not_hold_together_is_said(box, f1, spoil, objection):
    spoil(f1)
    objections = prove(f1, f1.parent / "solutions" / "F1", box).objections
    assert any(objection in one for one in objections), objections


def test_what_is_missing_is_said_before_anything_is_run(box, f1):
    (f1 / "starter" / "definition.py").unlink()
    (f1 / "missing.txt").write_text("x")
    assert prove(f1, f1.parent / "solutions" / "F1", box).objections == (
        f"{f1}/starter/definition.py is missing",
        f"{f1}/missing.txt belongs to nothing",
    )


def test_a_stray_file_keeps_nothing_from_being_tried(box, f1):
    (f1 / "missing.txt").write_text("x")
    shutil.copy(SOLUTIONS / "F1" / "definition.py", f1 / "starter" / "definition.py")
    objections = prove(f1, f1.parent / "solutions" / "F1", box).objections
    assert objections[:2] == (f"{f1}/missing.txt belongs to nothing", "the starter passes definition")


BROKEN = {
    "a kind that is none": ("  - witness: answers.yaml", "  - wittness: answers.yaml", "checks[5] is a mapping"),
    "an unknown case": ("[two-token, square, given]", "[two-token, sqare]", "sqare.yaml' does not exist"),
    "a need that comes later": ("needs: [definition]", "needs: [proof]", "needs proof, which is no check before it"),
    "a name twice": ("id: row-sums", "id: definition", "two checks are called definition"),
    "a circle": ("p1: [a1, a2, a3]", "p1: [c1]", "rests on itself"),
    "an unknown block": ("p1: [a1, a2, a3]", "p1: [a1, b7]", "rests on b7"),
    "a distractor that is a block": ("[a4, c2, p4]", "[a1]", "a block of the proof is a distractor, too"),
    "a file that is not handed in": ("  - witness: answers.yaml", "  - witness: replies.yaml", "reads replies.yaml"),
    "a function's file that is not handed in": ("file: definition.py", "file: other.py", "other.py is not among"),
    "no points": ("    points: 4\n", "", "none of points, bonus is given"),
    "a law of what is not returned": ("law: non-negative", "law: linearity", "needs a function that returns output"),
    "no checks of a file": ("files: [definition.py, answers.yaml]", "files: []", "files is empty"),
    "a check of nothing": ("[two-token, square, given]", "[]", "checks[1].value is empty"),
    "a file elsewhere": ("answers.yaml]", "../answers.yaml]", "'../answers.yaml' cannot be used here"),
    "a name that is a path": ("id: definition", "id: ../x", "'../x' cannot be used here"),
    "a name that is the tool's": ("id: definition", "id: loads", "'loads' cannot be used here"),
    "a function that Python cannot have": ("name: weights", "name: lambda", "'lambda' cannot be used here"),
    "an unknown law": ("law: non-negative", "law: non-negativ", "is 'non-negativ'"),
}


@pytest.mark.parametrize(("old", "new", "message"), BROKEN.values(), ids=BROKEN)
def test_a_definition_that_is_wrong_says_what(f1, old, new, message):
    edit(f1 / "exercise.yaml", old, new)
    with pytest.raises(InputError) as caught:
        read_exercise(f1)
    assert any(message in problem.message for problem in caught.value.problems), caught.value.problems


MORE_THAN_QKV = {
    "multi-head": "X",
    "score-dot": "score",
    "alibi": "alibi",
    "kv-cache": "cache",
    "decode": "decode",
}


@pytest.mark.parametrize(("name", "more"), MORE_THAN_QKV.items(), ids=MORE_THAN_QKV)
def test_a_case_that_is_more_than_q_k_and_v_is_of_no_function(f1, name, more):
    case = f1 / "cases" / "two-token.yaml"
    case.write_text((EXERCISES / "examples" / f"{name}.yaml").read_text("utf-8").split("\n---\n")[0], "utf-8")
    with pytest.raises(InputError) as caught:
        read_exercise(f1)
    assert caught.value.problems[0].message == f"{case} has {more}, which no function of an exercise is given"


PLACES = {
    "a name twice": ("id: row-sums", "id: definition", "id: definition", 9),
    "a need that comes later": ("needs: [definition]", "needs: [definition, proof]", "needs: [definition, proof]", 25),
    "an unknown case": ("[two-token, square, given]", "[two-token, sqare]", "[two-token, sqare]", 5),
    "a file that is not handed in": ("  - witness: answers.yaml", "  - witness: replies.yaml", "witness: replies", 5),
    "a function's file that is not handed in": ("file: definition.py", "file: other.py", "file: other.py", 9),
    "a law of what is not returned": ("law: non-negative", "law: linearity", "law: linearity", 10),
    "a circle": ("p1: [a1, a2, a3]", "p1: [c1]", "a1: []", 7),
    "a distractor that is a block": ("[a4, c2, p4]", "[a1]", "distractors: [a1]", 18),
}


@pytest.mark.parametrize(("old", "new", "line", "column"), PLACES.values(), ids=PLACES)
def test_what_is_wrong_with_a_definition_is_told_at_its_place(f1, old, new, line, column):
    edit(f1 / "exercise.yaml", old, new)
    with pytest.raises(InputError) as caught:
        read_exercise(f1)
    place = caught.value.problems[0].place
    lines = (f1 / "exercise.yaml").read_text().splitlines()
    numbers = [i for i, text in enumerate(lines, 1) if line in text]
    number = numbers[1 if line == "id: definition" else 0]
    assert (place.file, place.line, place.column) == (str(f1 / "exercise.yaml"), number, column)


def test_an_unknown_kind_of_check_is_told_from_its_neighbour(f1):
    edit(f1 / "exercise.yaml", "  - witness: answers.yaml", "  - wittness: answers.yaml")
    with pytest.raises(InputError) as caught:
        read_exercise(f1)
    assert caught.value.problems[0].hint == "did you mean witness?"


def test_a_course_needs_checks(f1):
    text = (f1 / "exercise.yaml").read_text()
    (f1 / "exercise.yaml").write_text(text[: text.index("checks:")] + "checks: []\n")
    with pytest.raises(InputError, match="checks is empty"):
        read_exercise(f1)


def test_a_definition_without_a_function_has_no_checks_of_code(f1):
    text = (f1 / "exercise.yaml").read_text()
    start, end = text.index("function:"), text.index("checks:")
    (f1 / "exercise.yaml").write_text(text[:start] + text[end:])
    with pytest.raises(InputError, match="a check of code needs a function"):
        read_exercise(f1)


def test_a_proof_is_bounded(f1):
    edit(f1 / "exercise.yaml", "      a1: []\n", "      a1: []\n" + "".join(f"      q{i}: []\n" for i in range(15)))
    with pytest.raises(InputError, match="more than 15 blocks"):
        read_exercise(f1)


@pytest.mark.parametrize("language", ["en", "hu", "da"])
def test_a_statement_words_every_block_once(exercise, language):
    text = statement(exercise("F2"), language)
    texts = exercise("F2").texts(language)
    for block in ("d1", "s8", "m2"):
        assert f"- `{block}`: {texts(f'blocks.proof.{block}')}" in text
    assert f"- `a`: {texts('options.reason.a.text')}" in text
    assert "<!--" not in text
    assert texts("options.reason.a.why-not") not in text


def test_an_exercise_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(InputError, match="there is no exercise F9") as caught:
        find_exercise(EXERCISES, "F9")
    assert "F1, F2, F3" in caught.value.problems[0].expected
    assert find_exercise(EXERCISES, "f3").name == "F3"
