"""Odd matrices: one entry, one row, rank one, rows of very different sizes."""

import numpy as np
import pytest

from calls import (
    X,
    dense_and_sparse,
)
from cosep.matrix.gram import GramMatrix
from cosep.matrix.validation import as_matrix
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.nmf.trisymmetric import trisymmetric

EXTREMES = {
    "one entry": np.array([[7.0]]),
    "one row": X[:1],
    "one column": X[:, :1],
    "one nonzero entry": np.diag([3.0, 0.0, 0.0, 0.0]),
    "rank one": np.outer(np.arange(1.0, 6.0), np.arange(1.0, 5.0)),
    "equal rows and columns": np.ones((5, 4)),
    "a diagonal": np.eye(4),
    "rows far apart in size": np.diag([1e100, 1.0, 1e-40, 1e30]) @ X[:4, :4],
    "columns far apart in size": X[:4, :4] @ np.diag([1e100, 1.0, 1e-40, 1e30]),
    "float32 near its limits": np.float32([[1e38, 1e-38], [3e38, 1e-30], [2e38, 0.0]]),
}


@pytest.mark.filterwarnings("ignore::cosep.SelectionWarning")
@dense_and_sparse
@pytest.mark.parametrize("case", EXTREMES)
@pytest.mark.parametrize("nmf", [ahals, minvol, biorthogonal, trisymmetric])
def test_odd_matrices_get_finite_nonnegative_factors_that_explain_them_or_are_refused(nmf, case, form):
    data = EXTREMES[case]
    target = GramMatrix(as_matrix(data)) if nmf is trisymmetric else data
    for r in range(1, min(data.shape) + 1):
        fit = nmf(form(data), r)
        assert all(part.min() >= 0 for part in (fit.row_factor, fit.col_factor))
        assert fit.relative_error(target) <= 1.0 + 1e-9
        if np.linalg.matrix_rank(data.astype(float)) == 1 and nmf is not minvol:
            assert fit.relative_error(target) < (1e-2 if nmf is biorthogonal else 1e-3)
