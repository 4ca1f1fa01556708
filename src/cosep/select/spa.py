"""SPA, the successive projection algorithm: columns that are farthest from the span of those chosen before.

Notation
--------
M : data, by default with columns divided by their sums
"""

from typing import Any

from cosep.matrix.checks import check_count, check_number, check_switch
from cosep.matrix.filled import filled
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.successive_projections import pursue, spa_weights


def spa(X: Any, r: int, *, normalize: bool = True, tol: float = 1e-9, pool: Pool | None = None) -> Selection:
    """Choose ``r`` columns, each time ``argmax_j ||m_j - projection on the span of those chosen||``.

    Araujo et al., Chemom. Intell. Lab. Syst. 57, 65-73, 2001; Gillis and Vavasis, doi:10.1109/TPAMI.2013.226.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    normalize : bool
        Divide each column by its sum for the choice (default). Separability is a property of cones: only with this is
        SPA certain to find the columns that generate a separable matrix.
    tol : float
        Stop, with a warning and fewer than r columns, when the largest squared residual over the largest squared
        norm falls to this value: the columns chosen explain everything. ``tol=0`` continues as long as rounding allows.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.

    Returns
    -------
    Selection
        ``col_indices`` in the order chosen; ``history`` holds the residual norm of each, relative to the first.

    Notes
    -----
    Among columns that tie within 1e-6 the one with the largest original norm wins, then the lowest index. All-zero
    columns are never chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import spa
    >>> spa(np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), 2).col_indices
    array([0, 1])
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    tol = check_number(tol, "tol", 0.0, 1.0)
    normalize = check_switch(normalize, "normalize")
    positions = check_pool(pool, r, M.shape[1])
    part = filled(M, cols=positions.include)
    weights = spa_weights(part.M, normalize=normalize)
    chosen, residuals = pursue(part.M, r, weights, tol=tol, positions=positions.within(part.cols))
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(chosen), history=tuple(residuals))
