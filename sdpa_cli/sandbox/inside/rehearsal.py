"""A rehearsal in the zygote: a child copies every page that it is the first to write to, so let it be the second.

CPython counts and specialises a function's bytecode in its first calls, OpenBLAS makes its workspace in the first
product; what has been done before the fork costs no child anything.
"""

from __future__ import annotations

import os
import random
import socket
import sys
from collections.abc import Sequence

import numpy as np

from sdpa_cli.sandbox.inside import pytesting, wire
from sdpa_cli.sandbox.inside.channel import NOBODY, Channel
from sdpa_cli.sandbox.inside.serve import Service

_OPENINGS, _CALLS = 8, 3
_FUNCTION = b"""
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
_TESTS = b"""
import numpy as np
import pytest
from rehearsal import attention

def test_attention():
    Q = np.array([[1.0, 0.0], [0.0, 1.0]])
    O, A = attention(Q, Q, Q, mask=np.array([[False, True], [False, False]]))
    assert np.allclose(O, [[1.0, 1.0], [1.0, 1.0]], atol=1e-4)
    assert np.allclose(A.sum(axis=-1), 2)
    with pytest.raises(ValueError):
        raise ValueError("refused")
"""
_Message = tuple[bytes, object]


def rehearse() -> None:
    """Serve a function and its tests, both our own, and forget them."""
    matrix, mask = np.ones((2, 2)), np.tri(2, k=-1, dtype=bool).T
    function, tests = {"rehearsal.py": _FUNCTION}, {"test_rehearsal.py": _TESTS}
    call = (wire.CALL, ("attention", (matrix, matrix, matrix), (("mask", mask),)))
    test = (wire.CALL, ("test_attention", (), ()))
    answer = (wire.ANSWER, (matrix, matrix))
    for _ in range(_OPENINGS):
        _play(function, (), [call])
        _play(tests | function, ("rehearsal.attention",), [test, answer])
    sys.modules["pytest"] = pytesting.stand_in()
    random.seed(0)  # the same submission, the same outcome
    np.random.seed(0)


def _play(files: dict[str, bytes], provided: tuple[str, ...], messages: Sequence[_Message]) -> None:
    """Open these files, and send the messages of a call some times."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # a read gets one message, as in earnest
    nowhere = os.open(os.devnull, os.O_WRONLY)
    sys.modules["pytest"] = pytesting.stand_in()
    service = Service(Channel(theirs.fileno(), nowhere))
    opening = (wire.OPEN, (tuple(files), tuple(files.values()), provided, 1 << 20, 1 << 20))
    for exchange in ([opening], *[messages] * _CALLS):
        for kind, value in exchange:
            body = wire.encode(value)
            ours.send(wire.HEADER.pack(NOBODY, kind, len(body)) + body)
        service.answer_one()
    ours.close()
    theirs.close()
    os.close(nowhere)
    del sys.meta_path[0]
    for file in files:
        sys.modules.pop(file.removesuffix(".py"), None)
