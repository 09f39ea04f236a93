"""Scaled dot-product attention: NumPy in, NumPy out. No files, no printing."""

from sdpa_cli.attention.attending import attend
from sdpa_cli.attention.masks import Mask, Window
from sdpa_cli.attention.refusals import EmptyRowsError, NonFiniteScoreError
from sdpa_cli.attention.result import Attention
from sdpa_cli.attention.softmax import SoftmaxState

__all__ = ["Attention", "EmptyRowsError", "Mask", "NonFiniteScoreError", "SoftmaxState", "Window", "attend"]
