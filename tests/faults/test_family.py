"""The recipe knows every score function, slope and mask that the engine knows."""

import numpy as np
import pytest
from attention.oracles import normal

from sdpa_cli.attention import Additive, Dot, General, Linear, Mask, Window, attend
from sdpa_cli.attention.inputs import Options, prepare
from sdpa_cli.faults import Recipe


@pytest.mark.parametrize(
    ("options", "mask"),
    [
        pytest.param({"score": Dot()}, None, id="dot"),
        pytest.param({"score": General(np.arange(9.0).reshape(3, 3) / 9)}, None, id="general"),
        pytest.param({"score": Additive(np.array([1.0, -2, 0.5]))}, Mask(causal=True), id="additive"),
        pytest.param({"score": Linear()}, Mask(causal=True), id="linear"),
        pytest.param({"alibi": True}, Mask(causal=True), id="alibi"),
        pytest.param({}, Mask(window=Window(1, 0), global_tokens=[2]), id="sparse"),
        pytest.param({}, Mask(segments=[0, 0, 1, 1], key_lengths=3, padding_side="left"), id="documents"),
    ],
)
def test_the_right_recipe_is_the_engine(options, mask):
    q, k, v = normal(1, (2, 4, 4, 3), (2, 2, 4, 3), (2, 2, 4, 5))
    options = {**options, "empty_rows": "zero"}
    found = attend(q, k, v, mask=mask, **options)
    steps = Recipe().run(prepare({"Q": q, "K": k, "V": v}, mask, None, Options(**options)))
    np.testing.assert_allclose(steps.logits.reshape(found.scores().shape), found.scores(), atol=1e-13)
    np.testing.assert_allclose(steps.output.reshape(found.output.shape), found.output, atol=1e-13)
