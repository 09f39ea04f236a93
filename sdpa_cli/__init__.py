"""Scaled dot-product attention, computed, explained and graded.

The names below are the whole public façade. They are imported on first use, so that ``sdpa --help`` does not wait
for NumPy.

Examples
--------
>>> import numpy as np
>>> from sdpa_cli import attend
>>> q, k, v = np.eye(2), np.array([[1, 1], [2, 0]]), np.array([[1, 0, 0], [0, 1, 0]])
>>> attend(q, k, v).output.round(4)
array([[0.3302, 0.6698, 0.    ],
       [0.6698, 0.3302, 0.    ]])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdpa_cli.attention import Mask as Mask
    from sdpa_cli.attention import attend as attend
    from sdpa_cli.cases import load_case as load_case

__version__ = "0.1.0"
__all__ = ["Mask", "__version__", "attend", "load_case"]

_HOMES = {"attend": "sdpa_cli.attention", "Mask": "sdpa_cli.attention", "load_case": "sdpa_cli.cases"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sdpa_cli' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
