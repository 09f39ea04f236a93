"""F3: tests of the function. Each of them has a fault in mind that it would catch."""

import numpy as np
import pytest
from attention import attention

Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 1.0], [2.0, 0.0]])
V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
CAUSAL = np.array([[False, True], [False, False]])


def test_example():
    # Numbers, not only shapes: a forgotten scale has the right shape.
    O, A = attention(Q, K, V)
    assert O.shape == (2, 3)
    assert A.shape == (2, 2)
    assert np.allclose(A, [[0.3302, 0.6698], [0.6698, 0.3302]], atol=1e-4)
    assert np.allclose(O, [[0.3302, 0.6698, 0], [0.6698, 0.3302, 0]], atol=1e-4)


def test_example_with_a_causal_mask():
    O, A = attention(Q, K, V, mask=CAUSAL)
    assert np.allclose(O, [[1, 0, 0], [0.6698, 0.3302, 0]], atol=1e-4)
    # Exactly 0, and a sum of 1: a mask after the softmax fails the second, a large negative number can fail the first.
    assert A[0, 1] == 0
    assert np.allclose(A.sum(axis=-1), 1)


def test_a_query_without_a_key_is_refused():
    with pytest.raises(ValueError):
        attention(Q, K, V, mask=np.array([[True, True], [False, False]]))
