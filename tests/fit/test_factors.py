import numpy as np
import pytest

from cosep import Factorization, Selection, mix
from cosep.fit.explainer import RowExplainer, factors_of_rows
from cosep.fit.factor_sums import ColumnSide, factor_sums
from cosep.fit.outcome import outcome
from cosep.matrix.local import LocalMatrix
from cosep.matrix.row_blocks import Column
from cosep.solve.nonnegative import coefficients
from in_blocks import DATA, FORMATS, lengths_of, local
from oracles import qp_orthant

BLOCKINGS = [(1, False, "csc"), (9, True, "dense"), (40, False, "csr")]


def problem(data, r1=4, r2=3, seed=0):
    X, random = DATA[data], np.random.default_rng(seed)
    filled_rows, filled_cols = np.flatnonzero(X.any(axis=1)), np.flatnonzero(X.any(axis=0))
    rows, cols = random.choice(filled_rows, r1, replace=False), random.choice(filled_cols, r2, replace=False)
    n = X.shape[1]
    topics = random.uniform(size=(n, r1)), random.uniform(size=(n, r2))
    return X, rows, cols, random.uniform(size=(r2, n)), topics, 1 / np.sqrt(np.maximum(X.sum(axis=0), 1))


def slow_balanced(X, col_scale):
    totals = X.sum(axis=1)
    return X * col_scale / np.sqrt(np.where(totals > 0, totals, 1))[:, None]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "name"), BLOCKINGS)
def test_sums_of_blocks_are_those_of_the_whole(data, count, ragged, name):
    X, rows, cols, P2, topics, col_scale = problem(data)
    S = X[np.ix_(rows, cols)]
    found = local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[name]).reduce(
        factor_sums, ColumnSide(S, cols, S @ P2, topics, col_scale)
    )
    A = slow_balanced(X, col_scale)
    parts = [coefficients(LocalMatrix(X), S @ P2) @ S, X[:, cols], *(coefficients(LocalMatrix(A), F.T) for F in topics)]
    for G, B, part, M in zip(found.grams, found.products, parts, [X, X, A, A], strict=True):
        np.testing.assert_allclose(G, part.T @ part, rtol=1e-9, atol=1e-9 * np.abs(part).max() ** 2)
        np.testing.assert_allclose(B, M.T @ part, rtol=1e-9, atol=1e-9 * np.abs(part).max() * M.max())


def test_factors_of_rows_solve_the_problem_of_each_row():
    X, rows, cols, P2, topics, col_scale = problem("noisy", 3, 3)
    S, R = X[np.ix_(rows, cols)], X[rows]
    fit = RowExplainer(S, cols, S @ P2, R, P2, topics[0], col_scale, np.ones((X.shape[1], 3)))
    columns = [Column(3, np.dtype(float)), Column(3, np.dtype(float)), Column(None, np.dtype(int))]
    P1, U, labels = local(X, lengths_of(len(X), 7)).map_rows(factors_of_rows, fit, columns)
    for i in range(0, 900, 50):
        np.testing.assert_allclose(U[i], qp_orthant(R @ R.T, R @ X[i]), atol=1e-7)
        H = S @ P2
        assert np.linalg.norm(X[i] - P1[i] @ H) <= np.linalg.norm(X[i] - qp_orthant(H @ H.T, H @ X[i]) @ H) + 1e-9
    shares = coefficients(LocalMatrix(slow_balanced(X, col_scale)), topics[0].T) * np.linalg.norm(topics[0], axis=0)
    np.testing.assert_array_equal(labels, shares.argmax(axis=1))


def test_rows_without_a_topic_belong_to_the_strongest_one_and_zero_rows_to_none():
    X = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3], [0, 0, 0]])
    topics = np.array([[1.0, 0], [0, 1], [0, 0]])
    fit = RowExplainer(
        np.eye(2), np.array([0, 1]), X[:2], X[:2], X[:2], topics, np.ones(3), np.ones((3, 2)), strongest=1
    )
    assert factors_of_rows(fit, LocalMatrix(X), 0)[2].tolist() == [0, 1, 1, -1]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("count", "ragged", "name"), BLOCKINGS)
def test_errors_are_those_of_the_factorization_of_the_whole(data, count, ragged, name):
    X, rows, cols, _, topics, col_scale = problem(data)
    whole = mix(X, Selection(rows, cols), max_iter=5)
    S, P2 = whole.core, whole.col_factor
    shares = np.random.default_rng(1).uniform(size=(X.shape[1], 3))
    fit = RowExplainer(S, cols, S @ P2, X[rows], whole.col_weights, topics[0], col_scale, shares)
    found = local(X, lengths_of(len(X), count, ragged=ragged), FORMATS[name]).reduce(outcome, fit)
    total = (X**2).sum()
    fidelity = 1 - np.sqrt(found.squared_errors[:3] / total)
    np.testing.assert_allclose(fidelity, whole.fidelity(X), rtol=1e-9)
    P1 = coefficients(LocalMatrix(X), S @ P2)
    np.testing.assert_allclose(
        np.sqrt(found.squared_errors[3] / total), Factorization(P1, S, P2).relative_error(X), rtol=1e-9
    )
    A = slow_balanced(X, col_scale)
    of_rows = coefficients(LocalMatrix(A), topics[0].T) * np.linalg.norm(topics[0], axis=0)
    np.testing.assert_allclose(found.squared_shares, (of_rows**2).sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.meetings, of_rows.T @ A @ shares, rtol=1e-9)
