"""Other libraries' habits, against what those libraries are known to give."""

from dataclasses import replace

import numpy as np
import pytest
from explaining.questions import case, trace

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.explaining.comparing.conventions import LIBRARIES, explain_as
from sdpa_cli.explaining.trace import Pair, Table, Words

GIVEN = np.array([[False, True, False], [True, False, False]])


def step(found, name):
    return next(step for step in found.steps if step.name == name)


def there(found):
    """The weights that the other library gives."""
    return next(
        p for s in found.steps for p in s.parts if isinstance(p, Pair) and p.right.look == "shaded"
    ).other.values


@pytest.mark.parametrize("library", ["torch", "onnx", "jax"])
def test_true_means_attend_elsewhere(library):
    expected = attend(case("given").q, case("given").k, case("given").v, mask=~GIVEN).weights()
    np.testing.assert_allclose(there(explain_as(library, case("given"))), expected, rtol=1e-12)


@pytest.mark.parametrize(("library", "offset"), [("flash", 1), ("torch", 0), ("onnx", 0), ("jax", 0)])
def test_causality_is_anchored_at_the_library_s_corner(library, offset):
    """Two queries, three keys: bottom right stands after one key, top left after none."""
    name = "top-left" if offset else "offset"
    found = explain_as(library, case(name))
    mask = Mask(causal=True, query_offset=offset)
    expected = attend(case(name).q, case(name).k, case(name).v, mask=mask).weights()
    np.testing.assert_allclose(there(found), expected, rtol=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_same_anchor_makes_no_difference(library):
    name = "offset" if library == "flash" else "top-left"
    assert step(explain_as(library, case(name)), "difference").title.key == "as.same-title"


def test_empty_rows_are_the_mean_of_all_values_in_jax_and_zeros_elsewhere(tmp_path):
    from sdpa_cli.cases import load_case

    path = tmp_path / "case.yaml"
    path.write_text(
        "Q: [[1, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1, 0, 0], [0, 1, 0]]\nmask: {causal: true, query_offset: -1}\n",
        "utf-8",
    )
    # The anchor differs as well; what counts here is the row without a live key in the other computation.
    found = explain_as("jax", load_case(path))
    (table,) = [part for part in step(found, "habits").parts if isinstance(part, Table)]
    assert [row[3].key for row in table.rows] == ["as.does-not", "as.does", "as.does"]


@pytest.mark.parametrize(("library", "row"), [("jax", [0.5, 0.5]), ("torch", [0.0, 0.0])])
def test_a_row_without_a_live_key(library, row):
    """True means attend there, so the row that is all False here is the one that is empty there."""
    turned = replace(case("empty"), mask=Mask(forbidden=np.array([[False, False], [True, False]])))
    found = explain_as(library, turned)
    np.testing.assert_allclose(there(found)[0], row)


def test_how_to_hand_it_over_speaks_of_what_differs():
    keys = [part.key for part in step(trace("given as torch"), "translation").parts if isinstance(part, Words)]
    assert keys == ["as.do.polarity-attend"]
    keys = [part.key for part in step(trace("two as torch"), "translation").parts if isinstance(part, Words)]
    assert keys == ["as.do.nothing"]


@pytest.mark.parametrize(
    ("mask", "library", "keys"),
    [
        (Mask(causal=True, window=Window(1, 0)), "torch", ["as.do.matrix"]),
        (Mask(causal=True, segments=[0, 1]), "jax", ["as.do.matrix"]),
        (Mask(key_lengths=1), "onnx", ["as.do.matrix"]),
        (Mask(causal=True, forbidden=np.array([[False, False], [False, True]])), "torch", ["as.do.matrix"]),
        (Mask(causal=True, window=Window(1, 0)), "flash", ["as.do.window"]),
        (Mask(causal=True, segments=[0, 1]), "flash", ["as.do.packed"]),
    ],
    ids=str,
)
def test_what_no_flag_says_is_handed_over_another_way(mask, library, keys):
    found = explain_as(library, replace(case("two"), mask=mask))
    assert [part.key for part in step(found, "translation").parts if isinstance(part, Words)] == keys
