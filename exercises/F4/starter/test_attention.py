"""F4: a check that the function in attention.py does not pass, and a right one does."""

import numpy as np
from attention import attention

Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 1.0], [2.0, 0.0]])
V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
CAUSAL = np.array([[False, True], [False, False]])


def test_forbidden_weight():
    O, A = attention(Q, K, V, mask=CAUSAL)
    assert A[0, 1] == 0
