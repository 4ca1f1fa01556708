"""A sparse matrix plus a product of thin factors answers as the dense matrix of the same entries."""

import numpy as np
import pytest
import scipy.sparse

from cosep.matrix import STORED_QUESTIONS
from cosep.matrix.completed import Completed
from cosep.matrix.local import LocalMatrix

RANDOM = np.random.default_rng(0)
W, H = RANDOM.uniform(size=(9, 3)), RANDOM.uniform(size=(3, 7))
W[4], H[:, 2] = 0.0, 0.0  # an all-zero row and column
OBSERVED = RANDOM.uniform(size=(9, 7)) < 0.4
X = np.where(OBSERVED, RANDOM.integers(0, 4, size=(9, 7)) / 2.0, W @ H)
X[4], X[:, 2] = 0.0, 0.0


def pair(exponent=0):
    """Return the matrix as a sum, and dense."""
    pattern = scipy.sparse.csr_array(OBSERVED)
    R = scipy.sparse.csr_array(((X - W @ H)[OBSERVED], pattern.indices, pattern.indptr), shape=X.shape)
    return Completed(R, W, H, exponent), LocalMatrix(X, exponent)


B, C = RANDOM.uniform(size=(7, 2)), RANDOM.uniform(size=(9, 2))
SOME = np.array([5, 0, 3])
GROUPS = scipy.sparse.csr_array(RANDOM.uniform(size=(2, 9))), scipy.sparse.csr_array(RANDOM.uniform(size=(3, 7)))
ANSWERS = {
    "shape": lambda M: M.shape,
    "dtype": lambda M: M.dtype,
    "is_sparse": lambda M: M.is_sparse,
    "T": lambda M: M.T.take(),
    "raw": lambda M: M.mantissa.take(),
    "mantissa": lambda M: M.mantissa.take(),
    "in_data_units": lambda M: M.in_data_units().take(),
    "dot": lambda M: M.dot(B),
    "cross": lambda M: M.cross(C),
    "between": lambda M: M.between(*GROUPS),
    "gram": lambda M: np.stack([M.gram(), M.T.T.gram(np.arange(7))]),
    "take": lambda M: M.take(SOME, np.array([6, 2])),
    "dense_blocks": lambda M: np.concatenate([block for _, block in M.dense_blocks()]),
    "rows": lambda M: M.rows(SOME).take(),
    "columns": lambda M: M.columns(SOME).take(),
    "part": lambda M: M.part(SOME, SOME).take(),
    "scaled": lambda M: M.scaled(np.arange(9.0), np.arange(7.0)).take(),
    "stored_by_rows": lambda M: M.stored_by_rows().take(),
    "stored_per_row": lambda M: M.stored_per_row(),
    "largest": lambda M: M.largest(),
    "smallest": lambda M: M.smallest(),
    "filled_columns": lambda M: np.stack([M.filled_columns()]),
    "squared_lengths": lambda M: M.squared_lengths(np.arange(7.0)),
    "largest_differences": lambda M: M.largest_differences(M.scaled(np.full(9, 2.0), np.ones(7))),
    "squared_norms": lambda M: np.concatenate([M.squared_norms(), M.T.squared_norms()]),
    "column": lambda M: M.column(3),
    "sums": lambda M: M.sums(),
}
# It stores no single entry, so that no one asks for it; the number of nonzeros is that of the observed zeros alone.
OTHERS = {"to_arrays", "counts", "count_nonzero"}


@pytest.mark.parametrize("question", ANSWERS)
@pytest.mark.parametrize("exponent", [0, 3])
def test_the_sum_answers_as_the_dense_matrix(question, exponent):
    ours, dense = (ANSWERS[question](M) for M in pair(exponent))
    np.testing.assert_allclose(ours, dense, atol=1e-12) if question != "dtype" else None
    assert np.shape(ours) == np.shape(dense)


def test_every_question_is_asked_here():
    assert {*STORED_QUESTIONS} <= {*ANSWERS, *OTHERS}


def test_nonzeros_are_counted_without_a_dense_block():
    ours, dense = pair()
    weights = np.arange(9.0)
    for found, expected in zip(ours.counts(weights), dense.counts(weights), strict=True):
        np.testing.assert_allclose(found, expected)
    assert ours.count_nonzero() == dense.count_nonzero()


def test_an_observed_zero_is_exactly_zero():
    ours, _ = pair()
    assert not ours.take()[X == 0].any()


def test_a_transpose_shares_what_is_known():
    ours, _ = pair()
    np.testing.assert_allclose(ours.T.T.squared_norms(), ours.squared_norms())
    assert ours.to_arrays().keys() == {"data", "indices", "indptr", "shape", "left", "right"}
