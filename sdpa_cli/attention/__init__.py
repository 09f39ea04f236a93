"""Scaled dot-product attention: NumPy in, NumPy out. No files, no printing.

What is imported here at once is what every attention needs; layers, caches and recurrences come on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdpa_cli.attention.attending import attend
from sdpa_cli.attention.masks import Mask, Window
from sdpa_cli.attention.placement import Placement
from sdpa_cli.attention.positions import Rope, alibi_slopes, rotate, sinusoidal
from sdpa_cli.attention.refusals import EmptyRowsError, NonFiniteScoreError
from sdpa_cli.attention.result import Attention
from sdpa_cli.attention.score_functions import Additive, Dot, General, Linear
from sdpa_cli.attention.softmax import SoftmaxState

if TYPE_CHECKING:
    from sdpa_cli.attention.cache import KVCache, cache_bytes
    from sdpa_cli.attention.decoding import Decoded, decode
    from sdpa_cli.attention.heads import Projections, combine, merge_heads, project, split_heads
    from sdpa_cli.attention.layer import MultiHead, multi_head
    from sdpa_cli.attention.linear import LinearState, elu_plus_one, linear_recurrence

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

_HOMES = {
    **dict.fromkeys(("KVCache", "cache_bytes"), "cache"),
    **dict.fromkeys(("Decoded", "decode"), "decoding"),
    **dict.fromkeys(("Projections", "combine", "merge_heads", "project", "split_heads"), "heads"),
    **dict.fromkeys(("MultiHead", "multi_head"), "layer"),
    **dict.fromkeys(("LinearState", "elu_plus_one", "linear_recurrence"), "linear"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
