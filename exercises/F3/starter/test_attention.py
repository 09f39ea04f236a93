"""F3: the test of your own function. It is run against a right attention, and against wrong ones it should catch."""

import numpy as np
from attention import attention

Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 1.0], [2.0, 0.0]])
V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def test_shapes():
    O, A = attention(Q, K, V)
    assert O.shape == (2, 3)
    assert A.shape == (2, 2)
