"""Scaled dot-product attention: NumPy in, NumPy out. No files, no printing."""

from sdpa_cli.attention.attending import attend
from sdpa_cli.attention.cache import KVCache, cache_bytes
from sdpa_cli.attention.decoding import Decoded, decode
from sdpa_cli.attention.heads import Projections, combine, merge_heads, project, split_heads
from sdpa_cli.attention.layer import MultiHead, multi_head
from sdpa_cli.attention.linear import LinearState, elu_plus_one, linear_recurrence
from sdpa_cli.attention.masks import Mask, Window
from sdpa_cli.attention.placement import Placement
from sdpa_cli.attention.positions import Rope, alibi_slopes, rotate, sinusoidal
from sdpa_cli.attention.refusals import EmptyRowsError, NonFiniteScoreError
from sdpa_cli.attention.result import Attention
from sdpa_cli.attention.score_functions import Additive, Dot, General, Linear
from sdpa_cli.attention.softmax import SoftmaxState

__all__ = [
    "Additive",
    "Attention",
    "Decoded",
    "Dot",
    "EmptyRowsError",
    "General",
    "KVCache",
    "Linear",
    "LinearState",
    "Mask",
    "MultiHead",
    "NonFiniteScoreError",
    "Placement",
    "Projections",
    "Rope",
    "SoftmaxState",
    "Window",
    "alibi_slopes",
    "attend",
    "cache_bytes",
    "combine",
    "decode",
    "elu_plus_one",
    "linear_recurrence",
    "merge_heads",
    "multi_head",
    "project",
    "rotate",
    "sinusoidal",
    "split_heads",
]
