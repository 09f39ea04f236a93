"""A case may say everything at once: layers as cases, against the textbook's formulas cell by cell.

No code of the package computes what is expected here: positions, heads, masks and softmax are written out with loops.
"""

import json
import math

import numpy as np
import pytest

from sdpa_cli.computing import compute

HEADS, KV_HEADS, D_K, D_V, D_MODEL = 6, 3, 4, 2, 5
SLOPES = [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
TOKENS, CACHED = 5, 2
KEYS = CACHED + TOKENS


def layer(draw, per_head):
    """Embeddings of two sequences and the weights of a layer, packed or per head."""

    def normal(*shape):
        return draw.normal(size=shape).round(2).tolist()

    def weight(heads, d):
        return normal(heads, D_MODEL, d) if per_head else normal(D_MODEL, heads * d)

    fields = {"X": normal(2, TOKENS, D_MODEL), "W_Q": weight(HEADS, D_K), "W_K": weight(KV_HEADS, D_K)}
    fields |= {"W_V": weight(KV_HEADS, D_V), "W_O": normal(HEADS * D_V, 3), "b_Q": normal(HEADS * D_K)}
    fields |= {"b_V": normal(KV_HEADS, D_V), "b_O": normal(3), "num_heads": HEADS, "num_kv_heads": KV_HEADS}
    fields["past"] = {"K": normal(2, KV_HEADS, CACHED, D_K), "V": normal(2, KV_HEADS, CACHED, D_V)}
    return fields | {"bias": normal(2, HEADS, TOKENS, KEYS)}


def mask(draw):
    """Some parts of a mask, the others left out."""
    parts = {
        "causal": True,
        "window": {"left": int(draw.integers(0, 4)), "right": int(draw.integers(0, 3))},
        "stride": int(draw.integers(2, 4)),
        "key_lengths": draw.integers(3, KEYS + 1, 2).tolist(),
        "segments": draw.integers(0, 2, (2, KEYS)).tolist(),
        "forbidden": (draw.random((TOKENS, KEYS)) < 0.2).astype(int).tolist(),
    }
    kept = {name: parts[name] for name in parts if draw.random() < 0.5}
    if {"window", "stride"} & kept.keys() and draw.random() < 0.5:
        kept["global_tokens"] = draw.integers(0, KEYS, 2).tolist()
    if "key_lengths" in kept and draw.random() < 0.5:
        kept["padding_side"] = "left"
    return kept


def allowed(mask, b, i, j):
    p = CACHED + i
    if "window" in mask or "stride" in mask:
        window, tokens = mask.get("window"), mask.get("global_tokens", ())
        near = window is not None and p - window["left"] <= j <= p + window["right"]
        strided = "stride" in mask and (p - j) % mask["stride"] == 0
        if not (near or strided or p in tokens or j in tokens):
            return False
    if "key_lengths" in mask:
        real = mask["key_lengths"][b]
        if j < KEYS - real if mask.get("padding_side") == "left" else j >= real:
            return False
    return not (
        (mask.get("causal") and j > p)
        or ("segments" in mask and mask["segments"][b][j] != mask["segments"][b][p])
        or ("forbidden" in mask and mask["forbidden"][i][j])
    )


def of_head(fields, letter, head, heads):
    weight, bias = np.array(fields[f"W_{letter}"]), np.array(fields.get(f"b_{letter}", 0.0))
    columns = weight[head] if weight.ndim == 3 else np.split(weight, heads, axis=1)[head]
    return columns, np.split(bias.ravel(), heads)[head] if bias.ndim else bias


def turned(rows, positions, dim=2):
    """RoPE of the first two components: one pair, which turns by one radian a position."""
    out = rows.copy()
    for row, p in zip(out, positions, strict=True):
        a, b = row[:dim]
        row[:dim] = a * math.cos(p) - b * math.sin(p), a * math.sin(p) + b * math.cos(p)
    return out


def head_output(fields, x, where):
    """One head of one sequence."""
    b, h = where
    g, given = h // (HEADS // KV_HEADS), fields.get("mask", {})
    padding = KEYS - given["key_lengths"][b] if given.get("padding_side") == "left" else 0
    positions = [max(CACHED + t - padding, 0) for t in range(TOKENS)]
    (w_q, b_q), (w_k, _), (w_v, b_v) = (
        of_head(fields, letter, *at) for letter, at in {"Q": (h, HEADS), "K": (g, KV_HEADS), "V": (g, KV_HEADS)}.items()
    )
    q, k = turned(x @ w_q + b_q, positions), turned(x @ w_k, positions)
    k = np.concatenate([fields["past"]["K"][b][g], k])
    v = np.concatenate([fields["past"]["V"][b][g], x @ w_v + b_v])
    rows = []
    for i in range(TOKENS):
        live = [j for j in range(KEYS) if allowed(given, b, i, j)]
        capped = [3 * math.tanh(q[i] @ k[j] / math.sqrt(D_K) / 3) for j in live]
        distances = [SLOPES[h] * abs(CACHED + i - j) for j in live]
        e = [math.exp(s + fields["bias"][b][h][i][j] - d) for s, d, j in zip(capped, distances, live, strict=True)]
        rows.append(sum((share * v[j] for share, j in zip(e, live, strict=True)), np.zeros(D_V)) / (sum(e) or 1))
    return np.array(rows)


@pytest.mark.parametrize("block_size", [None, 2], ids=["one-block", "blocks"])
@pytest.mark.parametrize("seed", range(24))
def test_a_layer_with_everything(case_of, seed, block_size):
    draw = np.random.default_rng(seed)
    fields = layer(draw, per_head=seed % 2 == 1) | {"mask": mask(draw), "alibi": True, "softcap": 3}
    fields |= {"rope": {"pairing": "half", "dim": 2}, "empty_rows": "zero", "decode": bool(seed % 3 == 0)}
    fields["mask"] |= {"causal": True} if fields["decode"] else {}
    fields |= {} if block_size is None else {"block_size": block_size}
    result = compute(
        case_of("".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items() if value != {}))
    )
    heads = np.array(
        [[head_output(fields, np.array(x), (b, h)) for h in range(HEADS)] for b, x in enumerate(fields["X"])]
    )
    np.testing.assert_allclose(result.attention.output, heads, atol=1e-12)
    side_by_side = np.concatenate(list(heads.swapaxes(0, 1)), axis=-1)
    np.testing.assert_allclose(result.projected, side_by_side @ fields["W_O"] + fields["b_O"], atol=1e-12)
