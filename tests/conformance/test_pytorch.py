"""PyTorch on the CPU computes the same, once its conventions are translated.

There, True in a mask of `scaled_dot_product_attention` means attend, in `MultiheadAttention` forbidden; a causal mask
begins at the upper left corner; weights of linear layers are transposed; and a row without any key gives zeros.
"""

import numpy as np
import pytest
from attention.oracles import normal, random_mask

from sdpa_cli.attention import General, Linear, Mask, Projections, alibi_slopes, attend, elu_plus_one, multi_head

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make conformance` installs it")
from torch.nn.functional import bilinear, elu, scaled_dot_product_attention  # noqa: E402

# An output is a mean of values: its error is that of the values, and of weights whose scores are a few units large.
TOLERANCE = {np.float64: 1e-13, np.float32: 2e-5}
SHAPES = {  # B, H, H_kv, Tq, Tk, d_k, d_v
    "square": (2, 3, 3, 5, 5, 4, 4),
    "one-query": (1, 4, 4, 1, 9, 8, 8),
    "more-keys": (2, 2, 2, 3, 11, 5, 7),
    "more-queries": (1, 2, 2, 9, 4, 6, 3),
    "grouped": (2, 6, 2, 7, 7, 4, 6),
    "multi-query": (1, 8, 1, 6, 10, 3, 3),
    "several-tiles": (1, 2, 1, 70, 600, 16, 8),
}
MASKS = ["none", "causal", "shared", "per-head", "bias", "empty-rows"]


def translated(kind, shape, scale, dtype):
    """One mask as PyTorch's arguments, and as ours."""
    batch, heads, _, queries, keys, *_ = shape
    if kind == "none":
        return {}, {}
    if kind == "causal":
        # With is_causal and a scale of 0 or less, PyTorch 2.13 gives NaN on the CPU, but not with the mask as an array.
        plain = scale is None or scale > 0
        theirs = {"is_causal": True} if plain else {"attn_mask": torch.ones(queries, keys, dtype=torch.bool).tril()}
        return theirs, {"mask": Mask(causal=True, query_offset=0)}
    if kind == "bias":
        (bias,) = normal(5, (batch, heads, queries, keys), dtype=dtype)
        return {"attn_mask": torch.from_numpy(bias)}, {"bias": bias}
    forbidden = random_mask(6, (queries, keys) if kind == "shared" else (batch, heads, queries, keys))
    if kind == "empty-rows":
        forbidden[..., 0, :] = True
    return {"attn_mask": torch.from_numpy(~forbidden)}, {"mask": forbidden, "empty_rows": "zero"}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=["float64", "float32"])
@pytest.mark.parametrize("scale", [None, 0.3, -1.0, 0.0], ids=lambda scale: f"scale-{scale}")
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_scaled_dot_product_attention(shape, kind, scale, dtype):
    batch, heads, kv_heads, queries, keys, d_k, d_v = shape
    q, k, v = normal(
        1, (batch, heads, queries, d_k), (batch, kv_heads, keys, d_k), (batch, kv_heads, keys, d_v), dtype=dtype
    )
    theirs, ours = translated(kind, shape, scale, dtype)
    expected = scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)), scale=scale, enable_gqa=heads != kv_heads, **theirs
    )
    found = attend(q, k, v, scale=scale, **ours)
    assert found.output.dtype == dtype
    np.testing.assert_allclose(found.output, expected.numpy(), rtol=0, atol=TOLERANCE[dtype])


def layer(heads, d_model, d_memory, seed, *, bias):
    """The same layer in PyTorch, and as our projections."""
    module = torch.nn.MultiheadAttention(
        d_model, heads, bias=bias, kdim=d_memory, vdim=d_memory, batch_first=True, dtype=torch.float64
    )
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(rng.standard_normal(tuple(parameter.shape))))
    if d_memory == d_model:
        w_q, w_k, w_v = module.in_proj_weight.chunk(3)
    else:
        w_q, w_k, w_v = module.q_proj_weight, module.k_proj_weight, module.v_proj_weight
    weights = [w.detach().numpy().T for w in (w_q, w_k, w_v, module.out_proj.weight)]
    offsets = [*module.in_proj_bias.chunk(3), module.out_proj.bias] if bias else []
    return module, Projections(*weights, *(b.detach().numpy() for b in offsets), num_heads=heads)


@pytest.mark.parametrize("bias", [False, True], ids=["plain", "biases"])
@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("kind", ["none", "causal", "forbidden", "per-head", "padding", "bias"])
@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
def test_multihead_attention(cross, kind, heads, bias):
    module, projections = layer(heads, 8, 5 if cross else 8, 3, bias=bias)
    x, memory = normal(4, (2, 6, 8), (2, 7, 5))
    memory = memory if cross else None
    source = x if memory is None else memory
    keys = source.shape[1]
    theirs, ours = {}, {}
    if kind == "causal":
        theirs["attn_mask"] = torch.ones(6, keys, dtype=torch.bool).triu(1)
        ours["mask"] = Mask(causal=True, query_offset=0)
    elif kind == "forbidden":
        ours["mask"] = random_mask(7, (6, keys))
        theirs["attn_mask"] = torch.from_numpy(ours["mask"])
    elif kind == "per-head":
        ours["mask"] = random_mask(7, (2, heads, 6, keys))
        theirs["attn_mask"] = torch.from_numpy(ours["mask"].reshape(2 * heads, 6, keys))
    elif kind == "padding":
        ours["mask"] = Mask(key_lengths=[keys, keys - 3])
        theirs["key_padding_mask"] = torch.arange(keys) >= torch.tensor([[keys], [keys - 3]])
    elif kind == "bias":
        (ours["bias"],) = normal(8, (6, keys))
        theirs["attn_mask"] = torch.from_numpy(ours["bias"])
    tensors = (torch.from_numpy(x), torch.from_numpy(source), torch.from_numpy(source))
    output, weights = module(*tensors, average_attn_weights=False, **theirs)
    found = multi_head(x, projections, memory=memory, **ours)
    np.testing.assert_allclose(found.output, output.detach().numpy(), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.attention.weights(), weights.detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_slopes_as_an_additive_mask(heads):
    q, k, v = normal(9, *[(1, heads, 12, 4)] * 3)
    distance = np.abs(np.arange(12)[:, None] - np.arange(12))
    mask = -torch.from_numpy(alibi_slopes(heads)[:, None, None] * distance)[None]
    mask = mask.masked_fill(torch.ones(12, 12, dtype=torch.bool).triu(1), -torch.inf)
    expected = scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)), attn_mask=mask)
    found = attend(q, k, v, alibi=True, mask=Mask(causal=True))
    np.testing.assert_allclose(found.output, expected.numpy(), rtol=0, atol=1e-13)


def test_general_score_is_bilinear():
    w, q, k, v = normal(10, (3, 4), (5, 3), (7, 4), (7, 2))
    pairs = (torch.from_numpy(np.repeat(q, 7, axis=0)), torch.from_numpy(np.tile(k, (5, 1))))
    scores = bilinear(*pairs, torch.from_numpy(w)[None]).reshape(5, 7)
    found = attend(q, k, v, score=General(w))
    np.testing.assert_allclose(found.scores(), scores.numpy(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.weights(), torch.softmax(scores, -1).numpy(), rtol=0, atol=1e-14)


def test_the_feature_map_is_elu_plus_one():
    x = np.linspace(-6, 6, 101)
    np.testing.assert_allclose(elu_plus_one(x), (elu(torch.from_numpy(x)) + 1).numpy(), rtol=0, atol=1e-15)


def test_linear_attention():
    q, k, v = normal(11, (5, 3), (5, 3), (5, 2))
    phi = [elu(torch.from_numpy(x)) + 1 for x in (q, k)]
    shares = (phi[0] @ phi[1].T).tril()
    expected = shares / shares.sum(-1, keepdim=True) @ torch.from_numpy(v)
    found = attend(q, k, v, score=Linear(), mask=Mask(causal=True))
    np.testing.assert_allclose(found.output, expected.numpy(), rtol=0, atol=1e-13)
