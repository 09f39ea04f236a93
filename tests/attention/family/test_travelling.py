"""Whatever a problem holds, it can be split, sent to another process and put together again."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from attention.oracles import normal

from sdpa_cli.attention import Additive, General, Linear, Mask, Window, attend
from sdpa_cli.attention.attending import attention_of
from sdpa_cli.attention.inputs import Options, prepare

SETTINGS = {
    "alibi": ({"alibi": True}, Mask(causal=True)),
    "general": ({"score": General(normal(1, (3, 3))[0])}, Mask()),
    "additive": ({"score": Additive(normal(2, (3,))[0])}, Mask(causal=True)),
    "linear": ({"score": Linear()}, Mask(causal=True)),
    "documents": ({}, Mask(segments=np.arange(400) // 90)),
    "sparse": ({}, Mask(window=Window(20, 5), stride=64, global_tokens=[0, 200])),
    "left-padding": ({}, Mask(key_lengths=[150, 400], padding_side="left")),
}


@pytest.mark.parametrize(("options", "mask"), SETTINGS.values(), ids=SETTINGS)
def test_a_problem_travels(options, mask):
    q, k, v = normal(3, (2, 4, 400, 3), (2, 2, 400, 3), (2, 2, 400, 2))
    inputs = prepare({"Q": q, "K": k, "V": v}, mask, None, Options(**options))
    arrived = pickle.loads(pickle.dumps(inputs))
    np.testing.assert_array_equal(attention_of(arrived).output, attention_of(inputs).output)


@pytest.mark.parametrize(("options", "mask"), SETTINGS.values(), ids=SETTINGS)
def test_a_problem_is_solved_in_parts(options, mask):
    q, k, v = normal(4, (2, 4, 400, 3), (2, 2, 400, 3), (2, 2, 400, 2))
    with ThreadPoolExecutor(2) as executor:
        apart = attend(q, k, v, mask=mask, executor=executor, **options)
    np.testing.assert_allclose(apart.output, attend(q, k, v, mask=mask, **options).output, atol=1e-13)
