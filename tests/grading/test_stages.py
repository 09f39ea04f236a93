"""What the numbers themselves say: the first wrong step, a precision, a factor."""

import numpy as np
import pytest
from grading.items import EXERCISES

from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.cases import load_case
from sdpa_cli.faults import CATALOGUE
from sdpa_cli.grading.quantities import arguments, forbidden, right
from sdpa_cli.grading.saying import speaker
from sdpa_cli.grading.stages import STAGES, read_numbers, stage_of_fault

STRICT = Tolerance(1e-12, 1e-12)


def case(name="rectangular"):
    return load_case(EXERCISES / "F3" / "cases" / f"{name}.yaml")


def attention(one, *, dtype=np.float64, factor=1.0):
    """The textbook's lines in a precision, with the scores multiplied."""
    (Q, K, V), _ = arguments(one, ("Q", "K", "V"), ())
    Q, K, V = (x.astype(dtype) for x in (Q, K, V))
    S = (Q @ K.T / np.sqrt(Q.shape[1]).astype(dtype) * dtype(factor)).astype(dtype)
    S = np.where(forbidden(one), -np.inf, S).astype(dtype)
    P = np.exp(S - S.max(-1, keepdims=True))
    A = P / P.sum(-1, keepdims=True)
    return {"weights": A, "output": A @ V}


def said(reading):
    return [speaker("en").say(message) for message in reading.messages]


@pytest.mark.parametrize("name", ["float32", "float16"])
@pytest.mark.parametrize("shape", ["rectangular", "tall", "causal", "given"])
def test_a_lower_precision_is_recognised(name, shape):
    reading = read_numbers(case(shape), attention(case(shape), dtype=getattr(np, name)), STRICT)
    assert [message.key for message in reading.messages] == [f"reading.{name}"]


@pytest.mark.parametrize(
    ("factor", "named"),
    [(2**0.5, "√d_k"), (2.0, "d_k"), (0.5, "1/d_k"), (3.0, "Tk"), (1.2345, "1.2345"), (-1.0, None), (-2.0, "−d_k")],
)
def test_a_factor_of_the_scores_is_named(factor, named):
    reading = read_numbers(case(), attention(case(), factor=factor), STRICT)
    if named is None:
        assert reading.stage == "scale"
    else:
        shown = f"{factor:.6g}".replace("-", "−")
        assert (reading.stage, said(reading)) == ("scale", [f"the scores are off by the factor {named} ({shown})"])


@pytest.mark.parametrize(
    ("change", "stage", "key"),
    [
        (lambda a: a | {"output": a["output"] * 3}, "output", "reading.factor"),
        (lambda a: a | {"output": a["output"] + 1}, "output", None),
        (lambda a: a | {"weights": a["weights"] * 1.1}, "weights", "reading.row-sum"),
        (lambda a: a | {"weights": a["weights"] * np.nan}, "weights", "reading.not-finite"),
        (lambda a: a | {"weights": a["weights"][:, ::-1]}, "scores", None),
        (lambda a: a | {"weights": np.eye(2, 3)}, "mask", "reading.live-weight"),
    ],
    ids=["output times 3", "output plus 1", "row sums", "nan", "reordered", "a live key at 0"],
)
def test_the_first_wrong_step_is_read_off_the_numbers(change, stage, key):
    reading = read_numbers(case(), change(attention(case())), Tolerance(1e-6, 1e-6))
    assert (reading.stage, [message.key for message in reading.messages]) == (stage, [key] if key else [])


def test_a_forbidden_weight_is_a_matter_of_the_mask():
    wrong = attention(case("given"))
    wrong["weights"] = np.where(forbidden(case("given")), 1e-3, wrong["weights"])
    reading = read_numbers(case("given"), wrong, Tolerance())
    assert (reading.stage, said(reading)) == ("mask", ["5 forbidden weights are not exactly 0"])


def test_where_only_the_output_is_known_a_factor_can_still_be_seen():
    output = right(case(), ("output",))["output"]
    assert said(read_numbers(case(), {"output": output / 2}, Tolerance())) == [
        "output is off by the factor 1/d_k everywhere (0.5)"
    ]


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_fault_first_goes_wrong_at_one_of_the_steps(name):
    folders = [EXERCISES / "F3" / "cases", EXERCISES / "X1" / "cases"]
    found = {stage_of_fault(name, load_case(path)) for folder in folders for path in sorted(folder.glob("*.yaml"))}
    assert found - {None}
    assert found <= {*STAGES, None}
