"""Written answers: proofs, matrices, choices, witnesses and the protocol, and every way of getting them wrong."""

import pytest
import yaml
from grading.items import EXERCISES, SOLUTIONS, item, keys

from sdpa_cli.grading.report import Status
from sdpa_cli.grading.saying import speaker


def answered(graded, name, file="answers.yaml", **changes):
    """The report on the solution with some answers changed; None takes an answer away."""
    given = yaml.safe_load((SOLUTIONS / name / file).read_text())
    given.update(changes)
    text = yaml.safe_dump({key: value for key, value in given.items() if value is not None}, default_flow_style=None)
    return graded(name, {file: text.replace("!!float ", "")}, solved=True)


def said(report, name):
    """What a check says, in English."""
    return [speaker("en").say(message) for message in item(report, name).finding.messages]


@pytest.mark.parametrize(
    ("order", "points", "message"),
    [
        (["x1", "a1", "a3", "a2", "p2", "p1", "p3", "c1"], 4, None),
        (
            ["a1", "a2", "a3", "p1", "p2", "p3", "x1"],
            3,
            "all of it stands up to block 7, the last one, but the proof is not complete",
        ),
        (
            ["a1", "a2", "p1", "a3", "p2", "p3", "x1", "c1"],
            3,
            "the proof stands up to block 2; block 3, p1, does not follow",
        ),
        (["c2", "a1"], 0, "the first block, c2, cannot begin the proof"),
        (
            ["a1", "a2", "a3", "p1", "p2", "p3", "x1", "c1", "c2"],
            3,
            "the proof stands up to block 8; block 9, c2, does not follow",
        ),
        (["a1", "a1", "a2"], 0, "used more than once: a1"),
        ([], 0, "answers.yaml: proof has no answer yet"),
    ],
    ids=["another order", "unfinished", "one early", "a false start", "one false", "twice", "empty"],
)
def test_a_proof_of_blocks(graded, order, points, message):
    report = answered(graded, "F1", proof=order)
    assert item(report, "proof").earned == points
    assert said(report, "proof") == ([message] if message else [])


def test_partial_credit_comes_in_quarters_and_tells_no_length(graded):
    earned = {
        item(answered(graded, "F1", proof=["a1", "a2", "a3", "p1", "p2", "p3", "x1"][:n]), "proof").earned
        for n in range(1, 8)
    }
    assert earned <= {0, 1, 2, 3}


def test_the_instructor_s_run_does_not_say_where_a_proof_first_fails(graded):
    order = "proof: [a1, p1, a2, a3, p2, p3, x1, c1]\nQ: [[1, 0]]\nK: [[-1, 0]]\n"
    found = item(graded("F1", {"answers.yaml": order}, solved=True, seed=3), "proof")
    assert (found.earned, keys(found)) == (3, ["proof.partial"])


def test_unknown_blocks_are_an_error_with_the_list_of_those_there_are(graded):
    report = answered(graded, "F1", proof=["a1", "a9"])
    lines = said(report, "proof")
    assert lines[0].startswith("answers.yaml:")
    assert "'a9'" in lines[0]
    assert lines[1] == "expected: one of: a1, a2, a3, a4, c1, c2, p1, p2, p3, p4, x1"
    assert item(report, "witness").status is Status.PASSED


def test_a_wrong_key_is_named_with_its_place_where_an_answer_is_missing(graded):
    text = "prof: [a1]\nQ: [[1, 0]]\nK: [[-1, 0]]\n"
    report = graded("F1", {"answers.yaml": text}, solved=True)
    assert said(report, "proof")[0] == "answers.yaml:1:1: unknown key 'prof'"
    assert any("proof" in line for line in said(report, "proof")[1:])
    assert item(report, "witness").status is Status.PASSED


def test_a_wrong_key_is_told_where_it_is_meant(graded):
    text = "sums_without_shift: [8.3891, 4.0862]\nweights_with_shfit: [[1]]\n"
    report = graded("F2", {"answers.yaml": text})
    assert said(report, "weights-with-shift")[0] == "answers.yaml:2:1: unknown key 'weights_with_shfit'"
    assert keys(item(report, "sums-with-shift")) == ["answer.missing"]
    assert item(report, "sums-without-shift").status is Status.PASSED


@pytest.mark.parametrize(
    "data",
    [b"a: [1\n", b"\xff\xfe\x00", b"- 1\n", b"", b"proof: [a1]\n---\n{}\n"],
    ids=["syntax", "binary", "list", "empty", "two"],
)
def test_a_file_of_answers_that_cannot_be_read_fails_with_its_reason(graded, data):
    report = graded("F1", {"answers.yaml": data}, solved=True)
    assert item(report, "witness").status is Status.FAILED
    assert item(report, "definition").status is Status.PASSED
    assert said(report, "witness")


@pytest.mark.parametrize(
    ("check", "changes", "message"),
    [
        (
            "weights-with-shift",
            {"weights_with_shift": [[0.1192, 0.8808, 0], [0.6652, 0.09, 0.2]]},
            "weights_with_shift[2,3]: 0.2 is not right, and may be off by 0.000102 (1 of 6 cells differ)",
        ),
        (
            "weights-with-shift",
            {"weights_with_shift": [[0.1192, 0.8808], [0.6652, 0.09]]},
            "weights_with_shift has the shape (2, 2); it should have (2, 3)",
        ),
        (
            "sums-without-shift",
            {"sums_without_shift": [1.1353, 1.5032]},
            "sums_without_shift[1]: 1.1353 is not right, and may be off by 0.00108 (2 of 2 cells differ)",
        ),
        ("reason", {"reason": "d"}, "d is not right"),
        (
            "overflow",
            {"overflow_row": [[700, 0]]},
            "the softmax of this row is finite even without a shift: "
            "its largest score is 700, and exp of it 1.01423e+304",
        ),
        ("overflow", {"overflow_row": [[1], [2]]}, "one row is wanted, written as [[…]]; this has the shape (2, 1)"),
        ("nan", {"nan_row": [[0, -800]]}, "this row has a finite maximum, 0, so the shift goes well"),
        (
            "nan",
            {"nan_row": [[float("nan"), 0]]},
            "NaN and +inf are no scores; a score is finite, or −inf where a key is forbidden",
        ),
    ],
    ids=["cell", "shape", "sum", "choice", "no overflow", "rows", "no nan", "nan itself"],
)
def test_what_f2_says_about_a_wrong_answer(exercise, graded, check, changes, message):
    found = item(answered(graded, "F2", **changes), check)
    voice = speaker("en", exercise("F2"))
    assert voice.say(found.finding.messages[0]) == message
    assert found.status is Status.FAILED


@pytest.mark.parametrize(
    ("sums", "hint"),
    [
        ("[1.1353, 1,5032]", "a comma separates values: if 1,5032 is one number, write 1.5032"),
        ("[1.1353, 1.5032, 2.5]", None),
    ],
)
def test_an_answer_of_the_wrong_length_may_have_a_decimal_comma(graded, sums, hint):
    text = f"# Worked out by hand.\nsums_with_shift: {sums}\n"
    found = item(graded("F2", {"answers.yaml": text}), "sums-with-shift")
    hints = [message.values["hint"] for message in found.finding.messages if message.key == "answer.hint"]
    assert hints == ([] if hint is None else [hint])


def test_a_wrong_choice_says_why_it_is_wrong(exercise, graded):
    found = item(answered(graded, "F4", cause="d"), "cause")
    voice = speaker("en", exercise("F4"))
    assert voice.say(found.finding.messages[1]).startswith("Then a forbidden key would have the score 0")


def test_an_answer_that_is_wrong_does_not_tell_the_right_one(graded):
    report = answered(graded, "F2", weights_with_shift=[[0.5, 0.5, 0], [0.6652, 0.09, 0.2447]])
    assert "0.11" not in " ".join(said(report, "weights-with-shift"))
    assert "0.33" not in " ".join(said(answered(graded, "F4", row_sum=0.5), "row-sum"))


@pytest.mark.parametrize(
    ("q", "k", "status", "key"),
    [
        ([[1, 0]], [[-1, 0]], "passed", None),
        ([[1, 1]], [[1, 1], [1, 0]], "passed", None),
        ([[1.0]], [[0.25], [0.75]], "failed", "witness.all-distributions"),
        ([[1, 0]], [[1, 0, 0]], "failed", "witness.shapes"),
        ([[float("inf"), 0]], [[1, 0]], "failed", "witness.not-finite"),
    ],
    ids=["negative", "sum", "a distribution", "shapes", "infinite"],
)
def test_the_witness_of_f1(graded, q, k, status, key):
    found = item(answered(graded, "F1", Q=q, K=k), "witness")
    assert (str(found.status), keys(found)) == (status, [key] if key else [])


ARMS = yaml.safe_load((SOLUTIONS / "F5" / "protocol.yaml").read_text())["arms"]
SETTINGS = ARMS[0]["settings"]


@pytest.mark.parametrize(
    ("check", "changes", "key"),
    [
        ("complete", {"goal": "find out"}, "protocol.too-short"),
        ("complete", {"baseline": {"arm": "scaled", "reason": "why not"}}, "protocol.too-short"),
        ("complete", {"hypothesis": None}, "answer.missing"),
        ("one-factor", {"arms": ARMS[:1]}, "protocol.arms"),
        ("one-factor", {"arms": [ARMS[0], ARMS[0]]}, "protocol.varying"),
        (
            "one-factor",
            {"arms": [ARMS[0], {**ARMS[1], "settings": {**ARMS[1]["settings"], "batch": 32}}]},
            "protocol.varying",
        ),
        ("one-factor", {"arms": [ARMS[0], {**ARMS[1], "settings": {"scale": "1"}}]}, "protocol.varying"),
        ("one-factor", {"factor": "batch"}, "protocol.varying"),
        ("one-factor", {"baseline": {"arm": "other", "reason": "it is the usual one"}}, "protocol.baseline"),
        ("repetitions", {"arms": [{**ARMS[0], "seeds": [1, 2]}, ARMS[1]]}, "protocol.seeds-differ"),
        ("repetitions", {"arms": [{**arm, "seeds": [1, 1]} for arm in ARMS]}, "protocol.repetitions"),
        ("split", {"split": {"train": [1, 4000], "valid": [4000, 5000]}}, "protocol.overlap"),
        ("split", {"split": {"train": [1, 4000]}}, "protocol.ranges"),
        ("split", {"split": {"train": [4000, 1], "valid": [5000, 6000]}}, "protocol.ranges"),
        ("metric", {"metric": {"name": "loss", "data": "valid", "decided": "after"}}, "protocol.metric-after"),
        ("metric", {"metric": {"name": "loss", "decided": "before"}}, "protocol.metric-data"),
        ("limits", {"validity_limits": ["one layer is not many layers"]}, "protocol.limits"),
        ("limits", {"validity_limits": ["one layer is not many", "One  layer is not many!"]}, "protocol.limits-alike"),
        ("nothing-run", {"results": "the scaled arm won"}, "protocol.results"),
        ("split", {"split": {"train": [1, 4000], "vaild": [4001, 5000]}}, "answer.problem"),
    ],
)
def test_what_f5_says_about_a_protocol(graded, check, changes, key):
    found = item(answered(graded, "F5", "protocol.yaml", **changes), check)
    assert (found.status, keys(found)[0]) == (Status.FAILED, key)


def test_the_starter_of_f5_has_everything_to_be_filled_in(graded):
    """Nothing was run, which is so from the start; whatever else is missing is missing, and not wrong."""
    text = (EXERCISES / "F5" / "starter" / "protocol.yaml").read_text("utf-8")
    assert set(yaml.safe_load(text)["metric"]) == {"name", "data", "decided"}
    report = graded("F5", {"protocol.yaml": text})
    found = {one.check: keys(one)[:1] for one in report.items if one.status is not Status.PASSED}
    assert "nothing-run" not in found
    assert (found["complete"], found["metric"]) == (["answer.missing"], ["answer.missing"])
    assert report.points == 0


@pytest.mark.parametrize(
    ("files", "key"),
    [
        ({}, "file.missing"),
        ({"protocol.yaml": "goal: a: b\n"}, "answer.problem"),
        ({"protocol.yaml": "reslts: x\n"}, "answer.problem"),
    ],
    ids=["no file", "no YAML", "another key"],
)
def test_of_a_protocol_that_cannot_be_read_nobody_says_that_nothing_was_run(graded, files, key):
    assert keys(item(graded("F5", files), "nothing-run"))[0] == key


def test_a_choice_is_taken_in_upper_and_lower_case(graded):
    for written, status in (("C", Status.PASSED), ("c", Status.PASSED), ("D", Status.FAILED)):
        assert item(answered(graded, "F2", reason=written), "reason").status is status
    assert keys(item(answered(graded, "F1", proof=["A1", "a2"]), "proof")) == ["proof.unfinished"]


@pytest.mark.parametrize(
    ("name", "file", "changes", "check"),
    [
        ("F5", "protocol.yaml", {"metric": {"name": "loss", "data": "valid", "decided": "efter"}}, "metric"),
        ("F1", "answers.yaml", {"proof": ["a1", "p11"]}, "proof"),
        ("F2", "answers.yaml", {"reason": "cc"}, "reason"),
    ],
    ids=["a word", "a block", "a letter"],
)
def test_no_hint_proposes_an_answer(graded, name, file, changes, check):
    found = item(answered(graded, name, file, **changes), check)
    assert keys(found) == ["answer.problem", "answer.expected"]


def test_what_only_a_person_can_judge_stays_open(graded):
    report = graded("F5", {}, solved=True)
    found = item(report, "sense")
    assert (found.status, found.earned, keys(found)) == (Status.OPEN, 0, ["reader.needed"])
    assert (report.points, report.open_points, report.max_points, report.complete) == (8, 4, 12, True)


@pytest.mark.parametrize("given", ["{file: q.csv}", "{random: normal, shape: [4, 4], seed: 1}", "q.csv"])
def test_an_answer_holds_its_matrix_itself(graded, tmp_path, monkeypatch, given):
    # Whoever grades has files of their own: no answer may read them, or have their graders draw numbers.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("a secret\n")
    report = graded("F1", {"answers.yaml": f"proof: [a1]\nQ: {given}\nK: [[1]]\n"}, solved=True)
    lines = said(report, "witness")
    assert lines[1:] == ["expected: a matrix such as [[1, 0], [0, 1]]"]
    assert "secret" not in lines[0]
