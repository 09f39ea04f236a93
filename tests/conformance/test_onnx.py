"""The reference of ONNX's Attention operator computes the same, once its conventions are translated.

There, True in a mask means attend; a causal mask and a window count from the cached keys; a row without any key gives
zeros; attributes are float32; and the scale must not be negative, for its square root is taken.
"""

import numpy as np
import pytest
from attention.oracles import normal, random_mask

from sdpa_cli.attention import KVCache, Mask, Rope, Window, attend, rotate

onnx = pytest.importorskip("onnx", reason="onnx is not installed; `make conformance` installs it")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

OPSET = 25  # the first with windows
SHAPES = {  # B, H, H_kv, Tq, Tk, d_k, d_v
    "square": (2, 3, 3, 5, 5, 4, 4),
    "more-keys": (2, 2, 2, 3, 11, 5, 7),
    "grouped": (2, 6, 2, 7, 7, 4, 6),
    "multi-query": (1, 8, 1, 6, 10, 3, 3),
}


def run(operator, inputs, outputs, **attributes):
    """The reference's answer; None among the inputs is one that is left out."""
    names = [f"i{number}" if value is not None else "" for number, value in enumerate(inputs)]
    node = helper.make_node(operator, names, [f"o{number}" for number in range(outputs)], **attributes)
    given = {name: value for name, value in zip(names, inputs, strict=True) if name}
    kinds = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in given.items()}
    graph = helper.make_graph(
        [node],
        operator,
        [helper.make_tensor_value_info(name, kind, given[name].shape) for name, kind in kinds.items()],
        [helper.make_tensor_value_info(f"o{number}", TensorProto.DOUBLE, None) for number in range(outputs)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    return ReferenceEvaluator(model).run(None, given)


def problem(shape):
    batch, heads, kv_heads, queries, keys, d_k, d_v = shape
    return normal(1, (batch, heads, queries, d_k), (batch, kv_heads, keys, d_k), (batch, kv_heads, keys, d_v))


FORBIDDEN = {name: random_mask(2, (shape[3], shape[4])) for name, shape in SHAPES.items()}
BIASES = {name: normal(3, (shape[3], shape[4]))[0] for name, shape in SHAPES.items()}
SETTINGS = {
    "plain": lambda name: ({}, None, {}),
    "scale": lambda name: ({"scale": 0.25}, None, {"scale": 0.25}),
    "softcap": lambda name: ({"softcap": 1.5}, None, {"softcap": 1.5}),
    "causal": lambda name: ({"is_causal": 1}, None, {"mask": Mask(causal=True, query_offset=0)}),
    "window": lambda name: (
        {"left_window_size": 2, "right_window_size": 1},
        None,
        {"mask": Mask(window=Window(2, 1), query_offset=0), "empty_rows": "zero"},
    ),
    "causal-window": lambda name: (
        {"is_causal": 1, "left_window_size": 2},
        None,
        {"mask": Mask(causal=True, window=Window(left=2), query_offset=0)},
    ),
    "mask": lambda name: ({}, ~FORBIDDEN[name], {"mask": FORBIDDEN[name]}),
    "bias": lambda name: ({}, BIASES[name], {"bias": BIASES[name]}),
    "softcap-bias": lambda name: ({"softcap": 1.5}, BIASES[name], {"softcap": 1.5, "bias": BIASES[name]}),
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", SHAPES)
def test_attention(name, setting):
    q, k, v = problem(SHAPES[name])
    attributes, mask, ours = setting(name)
    (expected,) = run("Attention", [q, k, v, mask], 1, **attributes)
    np.testing.assert_allclose(attend(q, k, v, **ours).output, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", SHAPES)
def test_weights(name):
    """Mode 3 gives the weights."""
    q, k, v = problem(SHAPES[name])
    *_, weights = run("Attention", [q, k, v], 4, qk_matmul_output_mode=3)
    np.testing.assert_allclose(attend(q, k, v).weights(), weights, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", SHAPES)
def test_padding(name):
    q, k, v = problem(SHAPES[name])
    lengths = np.arange(2, 2 + len(k))
    (expected,) = run("Attention", [q, k, v, None, None, None, lengths], 1)
    np.testing.assert_allclose(attend(q, k, v, mask=Mask(key_lengths=lengths)).output, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("left", [None, 0, 2], ids=["all", "itself", "window"])
@pytest.mark.parametrize("name", ["square", "grouped"])
def test_cache(name, left):
    q, k, v = problem(SHAPES[name])
    past_k, past_v = normal(4, (*k.shape[:2], 6, k.shape[3]), (*v.shape[:2], 6, v.shape[3]))
    window = {} if left is None else {"left_window_size": left}
    expected, keys, values = run("Attention", [q, k, v, None, past_k, past_v], 3, is_causal=1, **window)
    cache = KVCache(past_k, past_v).append(k, v)
    np.testing.assert_array_equal(cache.k, keys)
    np.testing.assert_array_equal(cache.v, values)
    mask = Mask(causal=True, query_offset=6, window=None if left is None else Window(left=left))
    np.testing.assert_allclose(attend(q, cache.k, cache.v, mask=mask).output, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dim", [None, 4], ids=["all", "partial"])
@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_rotary_embedding(pairing, dim):
    (x,) = normal(5, (2, 3, 7, 8))
    rotary = dim or 8
    angles = np.arange(20)[:, None] * 10000.0 ** (-np.arange(0, rotary, 2) / rotary)
    positions = np.array([[0, 1, 2, 3, 4, 5, 6], [9, 8, 7, 3, 2, 1, 19]])
    (expected,) = run(
        "RotaryEmbedding",
        [x, np.cos(angles), np.sin(angles), positions],
        1,
        interleaved=int(pairing == "interleaved"),
        rotary_embedding_dim=dim or 0,
    )
    np.testing.assert_allclose(rotate(x, positions, Rope(pairing, dim)), expected, rtol=0, atol=1e-14)
