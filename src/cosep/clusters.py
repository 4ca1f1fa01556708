"""A matrix and its co-separable factors enter, factors of its scaled twin with the clusters they tell of leave.

Notation
--------
A : data with rows and columns divided by the square roots of their sums
P1, S, P2 : factors and core of A
"""

import numpy as np

from cosep.factorization import Factorization
from cosep.matrix.local import Array, Indices, LocalMatrix
from cosep.mixing import Budget, check_selection, factor_labels, refit
from cosep.scaling import scale


def co_cluster(M: LocalMatrix, factors: Factorization, budget: Budget) -> Factorization:
    """Refit the factors to A, where long rows and frequent columns do not outweigh the others, and label by them.

    A row belongs to the component with the largest share ``P1[i,k] ||(S P2)[k,:]||``, a column likewise: shares do not
    depend on how the scale is split between the factors. A row that no component touches belongs to the strongest
    one, an all-zero row to none, -1.
    """
    rows, cols = check_selection(factors.selection, M.shape)
    A, scaling = scale(LocalMatrix(M.values), "degree")
    P1 = factors.row_factor * scaling.rows[:, None] / scaling.rows[rows]
    P2 = factors.col_factor * scaling.cols / scaling.cols[cols][:, None]
    S = A.take(rows, cols)
    P1, P2, objective = refit(A, S, P1, P2, budget)
    return Factorization(
        row_factor=P1,
        core=S,
        col_factor=P2,
        selection=factors.selection,
        row_labels=_labels(P1, np.linalg.norm(S @ P2, axis=1), M.T.sums()),
        col_labels=_labels(P2.T, np.linalg.norm(P1 @ S, axis=0), M.sums()),
        scaling=scaling,
        meta={"objective": objective},
    )


def _labels(factor: Array, strengths: Array, sums: Array) -> Indices:
    labels = factor_labels(factor, strengths)
    strongest = (strengths * np.linalg.norm(factor, axis=0)).argmax()
    return np.where((labels < 0) & (sums > 0), strongest, labels)
