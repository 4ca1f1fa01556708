import numpy as np
import pytest

from cosep import Factorization, Selection, mix
from cosep.fit.explainer import RowExplainer, factors_of_rows
from cosep.fit.factor_sums import ColumnSide, factor_sums
from cosep.fit.gram_space import start_space
from cosep.fit.outcome import MeasuredSide, outcome
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm, RowRule
from cosep.matrix.row_blocks import Column
from cosep.matrix.scaling import norm_of
from cosep.solve.nonnegative import coefficients
from in_blocks import DATA, FORMATS, lengths_of, local
from oracles import qp_orthant

BLOCKINGS = [(1, False, "csc"), (9, True, "dense"), (40, False, "csr")]
NORMS = ["degree", "rows", None, "pair", "weights"]


def problem(data, r1=4, r2=3, seed=0):
    X, random = DATA[data], np.random.default_rng(seed)
    filled_rows, filled_cols = np.flatnonzero(X.any(axis=1)), np.flatnonzero(X.any(axis=0))
    rows, cols = random.choice(filled_rows, r1, replace=False), random.choice(filled_cols, r2, replace=False)
    return X, rows, cols, random.uniform(size=(r2, X.shape[1]))


def norm_named(name, X):
    """Return a norm, and its factors of all rows and columns."""
    random = np.random.default_rng(1)
    M, weights = LocalMatrix(X), random.integers(0, 3, len(X)).astype(float) if name == "weights" else None
    scaling = {"pair": (random.uniform(1, 2, len(X)), random.uniform(1, 2, X.shape[1])), "weights": "degree"}
    norm = norm_of(M, scaling.get(name, name), weights)
    D = norm.row_factors(M) * np.sqrt(norm.weights_of(M))
    return norm, D, norm.cols


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "kind"), BLOCKINGS)
def test_sums_of_blocks_are_those_of_the_whole(data, count, ragged, kind, name):
    X, rows, cols, P2 = problem(data)
    norm, D, E = norm_named(name, X)
    S, A = X[np.ix_(rows, cols)], D[:, None] * X * E
    Z = np.random.default_rng(2).uniform(size=(X.shape[1], 2))
    found = local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[kind]).reduce(
        factor_sums, ColumnSide(S, cols, S @ P2, Z, norm)
    )
    parts = [coefficients(LocalMatrix(A), S @ P2 * E) @ S, D[:, None] * X[:, cols], A @ Z]
    assert found.total == pytest.approx((A**2).sum())
    for G, B, part in zip(found.grams, found.products, parts, strict=True):
        np.testing.assert_allclose(G, part.T @ part, rtol=1e-9, atol=1e-9 * np.abs(part).max() ** 2)
        np.testing.assert_allclose(B, A.T @ part, rtol=1e-9, atol=1e-9 * np.abs(part).max() * A.max())


@pytest.mark.parametrize("name", NORMS)
def test_factors_of_rows_solve_the_problem_of_each_row(name):
    X, rows, cols, P2 = problem("noisy", 3, 3)
    norm, _, E = norm_named(name, X)
    S, R = X[np.ix_(rows, cols)], X[rows]
    fit = RowExplainer(S, cols, S @ P2, R, P2, norm)
    columns = [Column(3, np.dtype(float)), Column(3, np.dtype(float)), Column(None, np.dtype(int))]
    P1, U, labels = local(X, lengths_of(len(X), 7)).map_rows(factors_of_rows, fit, columns)
    H, R = S @ P2 * E, R * E
    for i in range(0, 900, 50):
        x = X[i] * E
        np.testing.assert_allclose(U[i], qp_orthant(R @ R.T, R @ x), atol=1e-7 * max(1, U[i].max()))
        assert np.linalg.norm(x - P1[i] @ H) <= np.linalg.norm(x - qp_orthant(H @ H.T, H @ x) @ H) + 1e-9
    np.testing.assert_array_equal(labels, (P1 * np.linalg.norm(H, axis=1)).argmax(axis=1))


def test_rows_without_a_share_belong_to_the_first_component_and_zero_rows_to_none():
    X = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3], [0, 0, 0]])
    fit = RowExplainer(np.eye(2), np.array([0, 1]), X[:2], X[:2], X[:2], Norm(None, np.ones(3), RowRule()))
    assert factors_of_rows(fit, LocalMatrix(X), 0)[2].tolist() == [0, 1, 0, -1]


@pytest.mark.parametrize("name", ["degree", None, "pair"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "kind"), BLOCKINGS)
def test_errors_are_those_of_the_factorization_of_the_whole(data, count, ragged, kind, name):
    X, rows, cols, _ = problem(data)
    norm, D, E = norm_named(name, X)
    scaling = name if name != "pair" else (D, E)
    whole = mix(X, Selection(rows, cols), scaling=scaling, max_iter=5)
    S, P2 = whole.core, whole.col_factor
    fit = RowExplainer(S, cols, S @ P2, X[rows], whole.col_weights, norm)
    Z = np.random.default_rng(2).uniform(size=(X.shape[1], 2))
    blocks = local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[kind])
    found = blocks.reduce(outcome, MeasuredSide(fit, Z))
    A = D[:, None] * X * E
    *errors, total = found.squared_errors
    assert total == pytest.approx((A**2).sum())
    np.testing.assert_allclose(1 - np.array(errors) / total, whole.fidelity(X), rtol=1e-9)
    *errors, total = found.plain_squared_errors
    plain = Factorization(
        whole.row_factor, S, P2, Selection(rows, cols), whole.row_weights, whole.col_weights
    ).fidelity(X)
    np.testing.assert_allclose(1 - np.array(errors) / total, plain, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.strengths, ((D[:, None] * whole.row_factor @ S) ** 2).sum(axis=0), rtol=1e-8)
    np.testing.assert_allclose(found.products, A.T @ (A @ Z), rtol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_few_products_find_the_leading_squares_and_never_too_small_ones(k):
    A = DATA["noisy"]
    exact = np.linalg.svd(A, compute_uv=False)[:k] ** 2
    rough = np.linalg.svd(A[::9], full_matrices=False)[2][: k + 4].T
    space, gaps = start_space(rough), []
    for _ in range(5):
        space = space.after(A.T @ (A @ space.directions))
        found = space.squares(k)
        assert (np.cumsum(found) >= np.cumsum(exact) * (1 - 1e-12)).all()
        gaps.append((found.sum() - exact.sum()) / exact.sum())
    assert gaps[-1] < 1e-6


def test_a_space_that_is_exhausted_stays_as_it_is():
    A = np.diag([3.0, 2.0, 1.0])
    space = start_space(np.eye(3))
    for _ in range(3):
        space = space.after(A.T @ (A @ space.directions))
    np.testing.assert_allclose(space.squares(3), [9, 4, 1], rtol=1e-12)
