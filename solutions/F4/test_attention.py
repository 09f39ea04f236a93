"""F4: a check that the faulty function does not pass, and a right one does."""

import numpy as np
from attention import attention

Q = np.array([[1.0, 0.0], [0.0, 1.0]])
K = np.array([[1.0, 1.0], [2.0, 0.0]])
V = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
CAUSAL = np.array([[False, True], [False, False]])


def test_masked_rows_sum_to_one():
    O, A = attention(Q, K, V, mask=CAUSAL)
    # That A[0, 1] is 0 holds for the faulty function, too. What gives it away is the sum: 0.3302 instead of 1.
    assert A[0, 1] == 0
    assert np.allclose(A.sum(axis=-1), 1)
    # And so the first output row is the first value itself, not 0.3302 times it.
    assert np.allclose(O[0], V[0])
