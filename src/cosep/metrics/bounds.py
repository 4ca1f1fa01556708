"""Bounds of fidelities: what no selection, and no factorization, of the same size could exceed."""

from cosep.matrix.leading import squared_singular_values
from cosep.matrix.local import LocalMatrix
from cosep.records.fidelity import Fidelity
from cosep.utils.types import Array

# Rounding: a bound is this much larger than computed.
SLACK = 1e-12


def fidelity_bound(A: LocalMatrix, n_rows: int, n_cols: int) -> Fidelity:
    """Return the bounds of the fidelities of ``n_rows`` rows, ``n_cols`` columns, their core, and refitted factors.

    By Eckart and Young, no approximation of rank r explains a larger share of ``||A||^2`` than the r largest squared
    singular values of A. They are computed to rounding from the Gram matrix if A has few rows or columns, otherwise by
    Lanczos' method: a numerical bound, to which its residuals are added.

    Parameters
    ----------
    A : LocalMatrix
        The data, scaled by the norm of the model.
    n_rows, n_cols : int
        0 for a side that is not selected.
    """
    return bound_of(squared_singular_values(A, max(n_rows, n_cols)), A.squared_norm(), n_rows, n_cols)


def bound_of(squares: Array, total: float, n_rows: int, n_cols: int) -> Fidelity:
    """Return the bounds from the leading squared singular values and the squared norm."""

    def best(rank: int) -> float:
        return min(float(squares[:rank].sum()) / total + SLACK, 1.0) if total > 0 else 1.0

    if 0 in (n_rows, n_cols):
        return Fidelity(best(n_rows) if n_rows else None, best(n_cols) if n_cols else None, None, best(n_rows + n_cols))
    return Fidelity(best(n_rows), best(n_cols), best(min(n_rows, n_cols)), best(min(n_rows, n_cols)))
