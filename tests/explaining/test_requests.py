"""What may be asked together, and what is said where it may not."""

import pytest
from explaining.questions import CASES

from sdpa_cli.cases import Overrides
from sdpa_cli.errors import InputError
from sdpa_cli.explaining.requests import Request, answer
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.topics.building import TopicOptions


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "case.yaml"
    file.write_text(CASES["two"], "utf-8")
    return str(file)


def refused(**request):
    with pytest.raises(InputError) as error:
        answer(Request(**request))
    return [problem.message for problem in error.value.problems]


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ({}, "case"),
        ({"stream": True}, "stream"),
        ({"fault": "no-scale"}, "fault"),
        ({"library": "jax"}, "conventions"),
    ],
)
def test_ways_to_ask_about_a_case(path, request_, kind):
    assert answer(Request(path, **request_)).kind == kind


def test_the_named_steps_only_in_their_own_order(path):
    found = answer(Request(path, steps=("weights", "scale")))
    assert [step.name for step in found.steps] == ["scale", "weights"]


def test_a_mask_from_the_command_line_replaces_the_file_s(path):
    found = answer(Request(path, steps=("mask",), overrides=Overrides(mask="causal")))
    assert found.steps[0].parts[1].key == "step.mask.why"


def test_a_file_named_like_a_topic_is_a_file(path, monkeypatch, tmp_path):
    (tmp_path / "masks").write_text(CASES["two"], "utf-8")
    monkeypatch.chdir(tmp_path)
    assert answer(Request("masks")).kind == "case"


def test_one_case_of_several(tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text("---\n".join([CASES["two"], CASES["causal"]]), "utf-8")
    assert refused(subject=str(file)) == [f"{file} holds 2 cases, and one is explained at a time"]
    assert answer(Request(str(file), document=2)).subject == "two tokens, causal"
    assert refused(subject=str(file), document=3) == [f"--document 3: {file} holds 2 cases"]
    file.write_text(CASES["two"], "utf-8")
    assert refused(subject=str(file), document=2) == [f"--document 2: {file} holds 1 case"]


def test_contradictions_are_told_all_at_once():
    options = TopicOptions(heads=3)
    assert refused(subject="x.yaml", stream=True, fault="no-scale", options=options) == [
        "--stream and --fault are different explanations",
        "--heads: only topics have it",
    ]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"subject": "masks", "stream": True}, "--stream is about a case, and masks is a topic"),
        (
            {"subject": "masks", "selectors": Selectors(row=1)},
            "--row: only cases have it",
        ),
        (
            {"subject": "x.yaml", "selectors": Selectors(row=8, cell=(0, 0))},
            "--row and --cell both say which row",
        ),
        ({"subject": "masks", "faults": True}, "--faults is about a case, and masks is a topic"),
        ({"subject": "masks", "overrides": Overrides(mask="causal")}, "--mask: only cases have it"),
        ({"subject": "masks", "document": 2}, "--document: only cases have it"),
        ({"faults": True, "selectors": Selectors(block_size=2)}, "--block-size: only cases have it"),
        ({"faults": True, "steps": ("scale",)}, "--faults has no steps"),
        ({"fault": "no-scale", "selectors": Selectors(cell=(0, 0))}, "--cell: only cases have it"),
        (
            {"subject": "x.yaml", "fault": "no-scale", "selectors": Selectors(row=1, head=(0,))},
            "--head, --row: --fault looks for the first difference itself",
        ),
        ({"library": "torch"}, "--as needs a case file"),
        ({}, "what is to be explained?"),
        ({"subject": "maskz"}, "there is no file and no topic 'maskz'"),
        ({"subject": "masks", "steps": ("casual",)}, "there is no step 'casual' here"),
    ],
)
def test_what_does_not_make_sense(request_, message):
    assert message in refused(**request_)


def test_a_near_topic_is_named():
    with pytest.raises(InputError) as error:
        answer(Request("maskz"))
    assert error.value.problems[0].hint == "did you mean masks?"


def test_a_broken_case_gives_the_errors_of_compute(tmp_path):
    file = tmp_path / "broken.yaml"
    file.write_text("Q: [[1, 0]]\nK: [[1, 1, 1]]\nV: [[1]]\n", "utf-8")
    with pytest.raises(InputError) as error:
        answer(Request(str(file)))
    assert error.value.problems[0].message == "K has d_k = 3, Q has d_k = 2"
    assert str(error.value.problems[0].place) == f"{file}:2:4"
