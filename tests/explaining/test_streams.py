"""The streaming explanation walks the engine's own tiles, and what it folds is what the engine gives."""

from dataclasses import replace

import numpy as np
import pytest
from explaining.questions import HUGE, case, trace
from hypothesis import given
from hypothesis import strategies as st

from sdpa_cli.attention import Mask, Window, attend
from sdpa_cli.attention.attending import attention_of
from sdpa_cli.attention.tiles import tiles
from sdpa_cli.explaining import streaming
from sdpa_cli.explaining.requests import Request, answer
from sdpa_cli.explaining.selecting import Selectors
from sdpa_cli.explaining.streaming import stream
from sdpa_cli.explaining.streams import two_pass, walk_tiles
from sdpa_cli.explaining.trace import Check, Table
from sdpa_cli.explaining.walk import row_maximum

MASKS = st.sampled_from(
    [
        Mask(),
        Mask(causal=True, query_offset=0),
        Mask(causal=True, query_offset=2),
        Mask(window=Window(2, 1), query_offset=0),
        Mask(key_lengths=4),
    ]
)


def problem(rng, queries, keys, mask, block):
    q, k, v = rng.standard_normal((queries, 3)), rng.standard_normal((keys, 3)) * 3, rng.standard_normal((keys, 2))
    return attend(q, k, v, mask=mask, empty_rows="zero", block_size=block)


@given(st.integers(0, 99), st.integers(1, 6), st.integers(5, 12), MASKS, st.integers(1, 5))
def test_what_is_folded_is_the_engine_s_output(seed, queries, keys, mask, block):
    found = problem(np.random.default_rng(seed), queries, keys, mask, block)
    for rows, steps in walk_tiles(found, np.arange(queries), block):
        state = steps[-1].after
        alive = state.l > 0
        np.testing.assert_allclose(
            state.acc[alive] / state.l[alive][:, None], found.output[rows][alive], rtol=1e-12, atol=1e-13
        )
        np.testing.assert_allclose((state.m + np.log(state.l))[alive], found.lse[rows][alive], rtol=1e-12)


@given(st.integers(0, 99), st.integers(1, 6), st.integers(5, 12), MASKS, st.integers(1, 5))
def test_each_step_turns_the_state_before_into_the_state_after(seed, queries, keys, mask, block):
    found = problem(np.random.default_rng(seed), queries, keys, mask, block)
    for _, steps in walk_tiles(found, np.arange(queries), block):
        for step in steps:
            np.testing.assert_array_equal(step.after.m, np.maximum(step.before.m, step.alone.m))
            total = step.factor * step.before.l + step.own_factor * step.alone.l
            np.testing.assert_allclose(step.after.l, total, rtol=1e-13)
            seen = np.isfinite(step.before.m)
            assert (step.factor[~seen] == 0).all()
            np.testing.assert_array_equal(step.factor[seen], np.exp(step.before.m[seen] - step.after.m[seen]))


@pytest.mark.parametrize("name", ["two", "causal", "window", "padding", "given", "offset", "bias", "alibi", "additive"])
def test_the_tiles_are_those_the_engine_meets(name, monkeypatch):
    """The engine is watched while it computes; the explanation must walk the tiles that it met."""
    given_inputs = case(name).attend().inputs
    inputs = replace(given_inputs, options=replace(given_inputs.options, block_size=1, threads=1))
    met = []

    def watched(*arguments):
        for tile in tiles(*arguments):
            met.append((tile.cols, tile.verdict))
            yield tile

    for path in ("streaming", "unshifted"):
        monkeypatch.setattr(f"sdpa_cli.attention.{path}.tiles", watched)
    attention = attention_of(inputs)
    assert met
    monkeypatch.undo()
    one = attention.at(*(0,) * len(inputs.lead))
    walked = [steps for _, steps in walk_tiles(one, np.arange(inputs.queries), 1)]
    heads = inputs.heads[1] * inputs.heads[2] * inputs.heads[0]
    assert [(step.cols, step.verdict) for steps in walked for step in steps] * heads == met


def test_the_two_pass_result_is_the_engine_s():
    found = attend(np.eye(3), np.eye(3) * 9, np.arange(6.0).reshape(3, 2))
    np.testing.assert_allclose(
        two_pass(found, np.arange(3), row_maximum(found, np.arange(3))), found.output, rtol=1e-14
    )


def test_nan_behind_the_mask_does_not_reach_the_fold():
    v = np.array([[1.0], [2.0], [np.nan]])
    found = attend(np.ones((1, 2)), np.ones((3, 2)), v, mask=Mask(key_lengths=2))
    ((_, steps),) = walk_tiles(found, np.arange(1), 3)
    np.testing.assert_allclose(steps[-1].after.output, [[1.5]])


def test_skipped_tiles_are_named():
    steps = {step.name: step for step in trace("stream big").steps}
    skipped = [step for step in steps.values() if step.title.key == "stream.skipped.title"]
    assert skipped
    assert all(not any(isinstance(part, Table) for part in step.parts) for step in skipped)


def test_a_long_stream_shows_its_ends():
    names = [step.name for step in trace("stream big").steps]
    assert "hidden-tiles" in names
    assert len(names) <= 12 + 3


def test_the_checks_of_a_stream_hold():
    for step in trace("stream two").steps:
        for part in step.parts:
            assert not isinstance(part, Check) or part.holds


NOT_A_NUMBER = "Q: [[.nan, 0], [0, 1]]\nK: [[1, 1], [2, 0]]\nV: [[1], [2]]\nnonfinite: propagate\n"


@pytest.mark.parametrize(
    ("text", "overflows"), [(HUGE, True), (NOT_A_NUMBER, False)], ids=["sums that overflow", "NaN in both"]
)
def test_what_is_not_finite_in_both_is_no_deviation(tmp_path, text, overflows):
    path = tmp_path / "case.yaml"
    path.write_text(text, "utf-8")
    end = answer(Request(str(path), stream=True)).steps[-1]
    (check,) = (part for part in end.parts if isinstance(part, Check))
    assert check.holds
    assert ("stream.end.overflow" in [getattr(part, "key", None) for part in end.parts]) is overflows


def test_a_stream_that_ends_elsewhere_fails_its_check(monkeypatch):
    monkeypatch.setattr(streaming, "two_pass", lambda *asked: two_pass(*asked) + 1e-12)
    (check,) = (part for part in stream(case("two"), Selectors()).steps[-1].parts if isinstance(part, Check))
    assert not check.holds
