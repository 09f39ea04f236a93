"""A rehearsal in the zygote: a child copies every page that it is the first to write to, so let it be the second.

CPython counts and specialises a function's bytecode in its first calls, OpenBLAS makes its workspace in the first
product; what has been done before the fork costs no child anything.
"""

from __future__ import annotations

import os
import random
import sys

import numpy as np

from sdpa_cli.sandbox.inside import pytesting, wire
from sdpa_cli.sandbox.inside.channel import NOBODY, Channel
from sdpa_cli.sandbox.inside.serve import Service

_ROUNDS = 20
_FILE = "rehearsal.py"
_SOURCE = b"""
import numpy as np

def attention(Q, K, V, mask=None):
    if mask is None:
        return Q
    S = Q @ K.T / np.sqrt(K.shape[-1])
    S = np.where(mask, -np.inf, S)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    return A @ V, A
"""


def rehearse() -> None:
    """Serve one submission of our own, over a pipe to nowhere, and forget it."""
    source, orders = os.pipe()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    service = Service(Channel(source, nowhere))
    matrix, mask = np.ones((4, 4)), np.tri(4, k=-1, dtype=bool).T
    opening = wire.encode(((_FILE,), (_SOURCE,), (), 1 << 20))
    call = wire.encode(("attention", (matrix, matrix, matrix), (("mask", mask),)))
    for kind, body in [(wire.OPEN, opening), *[(wire.CALL, call)] * _ROUNDS]:
        os.write(orders, wire.HEADER.pack(NOBODY, kind, len(body)) + body)
        service.answer_one()
    for descriptor in (source, orders, nowhere):
        os.close(descriptor)
    del sys.meta_path[0], sys.modules[_FILE.removesuffix(".py")]
    sys.modules["pytest"] = pytesting.stand_in()
    random.seed(0)  # the same submission, the same outcome
    np.random.seed(0)
