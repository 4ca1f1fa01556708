"""The Cholesky factor that follows a changing list of indices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosep.kernels.cholesky import PIVOT_FLOOR, append, remove, solve

both = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def kernels(compiled):
    return [kernel if compiled else kernel.py_func for kernel in (append, remove, solve)]


@both
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8))
def test_the_factor_follows_what_joins_and_leaves(compiled, seed, n):
    add, drop, backsolve = kernels(compiled)
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    G = A @ A.T + 0.1 * np.eye(n)
    free, L, listed = np.empty(n, np.int64), np.zeros((n, n)), []
    for _ in range(3 * n):
        outside = sorted(set(range(n)) - set(listed))
        if outside and (not listed or rng.random() < 0.6):
            entry = int(rng.choice(outside))
            add(G, free, len(listed), L, entry)
            listed.append(entry)
        else:
            position = int(rng.integers(len(listed)))
            drop(free, len(listed), L, position)
            del listed[position]
        size = len(listed)
        assert free[:size].tolist() == listed
        block = np.tril(L[:size, :size])
        np.testing.assert_allclose(block @ block.T, G[np.ix_(listed, listed)], atol=1e-10)
        right = rng.standard_normal(n)
        z = right.copy()
        backsolve(L, size, z)
        np.testing.assert_allclose(G[np.ix_(listed, listed)] @ z[:size], right[:size], atol=1e-8)
        np.testing.assert_array_equal(z[size:], right[size:])


@both
def test_the_pivot_of_a_dependent_entry_stays_positive(compiled):
    add, *_ = kernels(compiled)
    G, free, L = np.full((2, 2), 4.0), np.empty(2, np.int64), np.zeros((2, 2))
    add(G, free, 0, L, 0)
    add(G, free, 1, L, 1)
    assert L[1, 1] == pytest.approx(np.sqrt(4.0 * PIVOT_FLOOR))
