"""Leading singular triplets: those of the dense decomposition, certified by residuals, and the same every time."""

import numpy as np
import pytest
import scipy.sparse

from cosep.matrix import leading
from cosep.matrix.leading import leading_triplets
from cosep.matrix.validation import as_matrix

RANDOM = np.random.default_rng(3)
LARGE = {
    "full rank": RANDOM.gamma(0.3, size=(260, 170)),
    "wide": RANDOM.gamma(0.3, size=(170, 260)),
    "rank one": np.outer(RANDOM.uniform(size=200), RANDOM.uniform(size=180)),
    "rank three": RANDOM.uniform(size=(200, 3)) @ RANDOM.uniform(size=(3, 180)),
    "identity": np.eye(180),
    "blocks": np.kron(np.eye(20), np.ones((9, 9))),
    "flat": RANDOM.poisson(0.05, size=(250, 230)).astype(float),
    "very long and very short columns": RANDOM.uniform(size=(200, 180)) * np.logspace(-8, 8, 180),
    "zero": np.zeros((160, 170)),
}
SMALL = {
    "one row": RANDOM.uniform(size=(1, 7)),
    "one column": RANDOM.uniform(size=(7, 1)),
    "one entry": np.array([[3.0]]),
    "two rows": RANDOM.uniform(size=(2, 9)),
    "small": RANDOM.gamma(0.3, size=(20, 12)),
}


def assert_leading(X, k, U, s, V, *, rel=1e-9):
    exact = np.linalg.svd(X, compute_uv=False)
    k = min(k, *X.shape)
    largest = max(exact[0], 1e-300)
    assert U.shape == (X.shape[0], k)
    assert V.shape == (X.shape[1], k)
    np.testing.assert_allclose(s, exact[:k], rtol=rel, atol=1e-13 * largest)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-12)
    # The best approximation of rank k leaves no more than the other singular values.
    error = np.linalg.norm(X - U * s @ V.T)
    assert error <= np.linalg.norm(exact[k:]) * (1 + 1e-9) + 1e-12 * largest


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("case", LARGE | SMALL)
def test_triplets_are_those_of_the_dense_decomposition(case, k, form):
    X = (LARGE | SMALL)[case]
    assert_leading(X, k, *leading_triplets(as_matrix(form(X)), k))


@pytest.mark.parametrize("k", [150, 169, 170])
def test_nearly_all_triplets_can_be_asked_for(k):
    X = LARGE["full rank"]
    assert_leading(X, k, *leading_triplets(as_matrix(X), k))


@pytest.mark.parametrize("case", LARGE)
def test_the_same_call_gives_the_same_vectors_to_the_last_bit(case):
    first, second = (leading_triplets(as_matrix(LARGE[case]), 2) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [19, 20, 30, 40])
def test_no_copy_of_a_repeated_singular_value_is_missed(k):
    # Every start of the Krylov space finds one copy of it; the space was taken for complete after as many as fit.
    U, s, V = leading_triplets(as_matrix(np.kron(np.eye(40), np.ones((9, 9)))), k)
    np.testing.assert_allclose(s, 9.0)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(U, V * np.sign(np.sum(U * V, axis=0)), atol=1e-9)


def test_both_ways_give_the_same_values(monkeypatch):
    X = LARGE["full rank"]
    values = [leading_triplets(as_matrix(X), 3)[1]]
    monkeypatch.setattr(leading, "MAX_GRAM_COLUMNS", 1000)
    values.append(leading_triplets(as_matrix(X), 3)[1])
    np.testing.assert_allclose(*values, rtol=1e-12)


def test_an_unfinished_search_still_gives_orthonormal_vectors(monkeypatch):
    monkeypatch.setattr(leading, "MAX_RESTARTS", 1)
    X = LARGE["flat"]
    U, s, V = leading_triplets(as_matrix(X), 2)
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(U.T @ X @ V, np.diag(s), atol=1e-9 * s[0])
    assert s[0] == pytest.approx(np.linalg.norm(X, 2), rel=1e-3)
