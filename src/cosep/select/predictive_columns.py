"""Predictive selection of columns: a panel from which all others are predicted best.

Notation
--------
M : data; e_j : one over the spread of column j; B = M diag(e) without the constant, whose columns have norm one
K : the chosen columns; P : projection onto these columns of B; E = B - P B what they leave
f, g : ``f_j = ||E'E_j||^2`` and ``g_j = ||E_j||^2``: choosing column j lowers ||E||^2 by f_j / g_j
Q : orthonormal basis of the constant and of the chosen columns; w = B'u for a unit vector u
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg

from cosep.matrix.checks import check_count, check_nonzero, check_positive
from cosep.matrix.filled import filled
from cosep.matrix.gram import GramMatrix
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import checked_factors
from cosep.matrix.scaling import check_weights
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection
from cosep.select.greedy import greedy_columns, residual_products
from cosep.select.pool import Pool, check_pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.pursuit import Positions, one_by_one
from cosep.solve.successive_projections import orthogonal
from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Indices

# A column is constant if its variance is a smaller share of its mean square.
MIN_VARIANCE_SHARE = 1e-10
# What the chosen columns leave of a column is nothing if it is a smaller share of its variance.
EXPLAINED_TOL = 1e-9
# A mean is far above the spread if its square is more than this many times the variance.
FAR = 1e4
# An exchange must lower the sum of the errors by more than this share of it.
MIN_GAIN = 1e-7


def predictive_columns(
    X: Any,
    r: int,
    *,
    sample_weight: Any = None,
    constant: Any = None,
    max_iter: int = 20,
    pool: Pool | None = None,
) -> Selection:
    """Choose ``r`` columns with a small ``sum_j ||x_j - b_j - X(:,cols) v_j||^2 / ||x_j - mean_j||^2``.

    b and v are the best intercept and weights of any sign for each column, so this is the sum of ``1 - R^2`` over the
    columns: each counts as much as any other, whatever its unit is, and its mean needs no column to explain it. That is
    what a panel to predict from should have: other selectors explain the columns as they are, means and all, and choose
    several columns that are large together.

    Columns are chosen one by one, each time the one that lowers the sum most, then exchanged for others as long as that
    lowers the sum, always by the best exchange, which has a closed form. X is never made dense.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    r : int
        Number of columns to select.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as. Default: 1.
    constant : array-like of shape (m,), optional
        The values of a constant in X, if its rows were multiplied by factors: those factors. Default: 1.
    max_iter : int
        Largest number of exchanges for each column.
    pool : Pool, optional
        Which columns may be chosen, and which must be; the latter come first. Default: any.

    Returns
    -------
    Selection
        ``col_indices``, first those that must be included, then the others by how much they lower the sum;
        ``history`` holds the root of the mean of ``1 - R^2`` after the first choice and each exchange.

    Notes
    -----
    All-zero rows do not count. Choosing one by one is greedy column subset selection with the recursions of `greedy`.
    If fewer than r columns explain all others exactly, further ones are those of `greedy`, which knows no intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import predictive_columns
    >>> size = np.arange(1.0, 7.0)
    >>> X = np.column_stack([size, 10 * size, 100 * size + 1, [3, 1, 3, 1, 1, 3]])
    >>> len(set(predictive_columns(X, 2).col_indices) & {0, 1, 2})  # one of the three sizes, and the other measurement
    1
    """
    M = as_matrix(X)
    r = check_count(r, "r", M.shape[1], "n_features")
    max_iter = check_positive(max_iter)
    weights = check_weights(sample_weight, M.shape[0])
    ones = np.ones(M.shape[0])
    factors = ones if constant is None else checked_factors(constant, "constant", 0.0)
    if len(factors) != len(ones):
        msg = f"constant must be one number for each of the {len(ones)} rows of X, got {len(factors)}."
        raise ValueError(msg)
    check_nonzero(M)
    positions = check_pool(pool, r, M.shape[1])
    roots = ones if weights is None else np.sqrt(weights)
    part = filled(M if weights is None else M.scaled(roots, np.ones(M.shape[1])), cols=positions.include)
    panel = Panel(part.M.mantissa, (roots * factors)[part.rows], positions.within(part.cols))
    panel.choose(r)
    history = [panel.error]
    for _ in range(max_iter * r):
        if not panel.exchange():
            break
        history.append(panel.error)
    panel.choose(r, among=panel.chosen)
    chosen = panel.chosen
    if len(chosen) < r:
        chosen, _ = greedy_columns(part.M, r, replace(positions.within(part.cols), include=chosen))
    warn_if_fewer(chosen, r, "columns")
    return Selection(None, part.cols[chosen], n_iter=len(history) - 1, history=tuple(history))


class Panel:
    """Chosen columns, and what they leave of all columns.

    Parameters
    ----------
    M : LocalMatrix
        Without all-zero rows.
    constant : ndarray of shape (m,)
    positions : Positions

    Attributes
    ----------
    chosen : ndarray of int
    """

    f: Array
    g: Array
    Q: Array
    chosen: Indices

    def __init__(self, M: LocalMatrix, constant: Array, positions: Positions) -> None:
        sizes = M.squared_norms()
        length = float(np.linalg.norm(constant))
        unit = constant / (length if length > 0 else 1.0)
        variances = np.maximum(sizes - M.cross(unit) ** 2, 0.0)
        varies = variances > MIN_VARIANCE_SHARE * sizes
        if not varies.any():  # one row, or copies of it
            varies, variances, unit = sizes > 0, sizes, np.zeros_like(unit)
        scale = np.divide(1.0, np.sqrt(variances), out=np.zeros_like(variances), where=varies)
        self.B = M.scaled(np.ones(M.shape[0]), scale)
        self.first = unit[:, None] if unit.any() else np.zeros((len(unit), 0))
        self.positions, self.sizes, self.varies = positions, sizes, varies
        # As long as nothing is chosen; E does not depend on the constant in B.
        self.start = self._products(), varies.astype(np.float64)
        self._reset(np.zeros(0, dtype=np.intp))

    @property
    def error(self) -> float:
        """The root of the mean share that is left of the columns."""
        return float(np.sqrt(self.g.sum() / self.varies.sum()))

    def choose(self, r: int, among: Indices | None = None) -> None:
        """Choose columns one by one, of all that are allowed or of the given ones."""
        self._reset(np.zeros(0, dtype=np.intp))
        allowed = self.positions.allowed
        if among is not None:
            allowed = np.isin(np.arange(len(allowed)), among) & allowed
        chosen, _ = one_by_one(
            r, Positions(allowed, self.positions.include, self.positions.sizes), self.sizes, self._merits, self._add
        )
        self.chosen = chosen

    def exchange(self) -> bool:
        """Make the best exchange of one chosen column for another; return False if none lowers the error.

        Without chosen column k, P loses u_k u_k', where u_k is the part of that column that the others do not span, so
        that E gains ``u_k w_k'``, f_j becomes ``f_j + 2 w_kj (E'E w_k)_j + w_kj^2 ||w_k||^2``, g_j ``g_j + w_kj^2``.
        """
        given = len(self.positions.include)
        free = self.chosen[given:]
        if len(free) == 0 or self.g.max() <= EXPLAINED_TOL:
            return False
        C = orthogonal(self.B.take(cols=self.chosen), self.first)
        values, vectors = scipy.linalg.eigh(C.T @ C)
        if values[0] <= EXPLAINED_TOL:  # columns that must be chosen depend on each other
            return False
        inverse = (vectors / values) @ vectors.T
        U = C @ (inverse / np.sqrt(np.diagonal(inverse)))[:, given:]
        W = self.B.cross(U)
        lost = np.einsum("ij,ij->j", W, W)
        products = self.B.cross(orthogonal(self.B.dot(W), self.Q))
        f = self.f[:, None] + 2.0 * W * products + W**2 * lost
        g = self.g[:, None] + W**2
        gains = np.divide(f, g, out=np.zeros_like(f), where=g > EXPLAINED_TOL) - lost
        gains[~self.positions.allowed | ~self.varies] = -np.inf
        gains[self.chosen] = -np.inf
        best = int(first_largest(gains.ravel()))
        j, k = divmod(best, len(free))
        before = self.g.sum()
        if not gains[j, k] > MIN_GAIN * before:
            return False
        chosen = self.chosen.copy()
        chosen[given + k] = j
        kept = self.f, self.g, self.Q, self.chosen
        self.f, self.g = np.maximum(f[:, k], 0.0), np.minimum(g[:, k], 1.0)
        self.Q = self._basis(np.delete(chosen, given + k))
        if self._add(j)[1] or not self.g.sum() < before * (1.0 - MIN_GAIN / 2.0):  # rounding
            self.f, self.g, self.Q, self.chosen = kept
            return False
        self.chosen = chosen
        return True

    def _reset(self, chosen: Indices) -> None:
        (f, g), self.Q, self.chosen = self.start, self.first, chosen
        self.f, self.g = f.copy(), g.copy()

    def _basis(self, chosen: Indices) -> Array:
        C = orthogonal(self.B.take(cols=chosen), self.first)
        return np.asarray(np.column_stack([self.first, np.linalg.qr(C)[0]]))

    def _products(self) -> Array:
        """Return f as long as nothing is chosen.

        In a sparse matrix few means are far above the spread: the share of the constant is subtracted from the others.
        """
        far = np.flatnonzero(self.B.squared_norms() > FAR) if self.B.is_sparse else np.arange(self.B.shape[1])
        exact = residual_products(self.B, self.first, far)[0]
        if len(far) == self.B.shape[1]:
            return exact
        gram = GramMatrix(self.B)
        f = gram.in_units(gram.squared_norms(), 2)
        for u in self.first.T:
            w = self.B.cross(u)
            left = self.B.cross(orthogonal(self.B.dot(w), self.first))
            f = f - 2.0 * w * left - w**2 * float(w @ w)
        f[far] = exact
        return np.asarray(np.maximum(f, 0.0))

    def _merits(self) -> Array:
        return np.asarray(np.divide(self.f, self.g, out=np.zeros_like(self.f), where=self.g > EXPLAINED_TOL))

    def _add(self, j: int) -> tuple[None, bool]:
        """Take a column into the basis; return whether the chosen ones explain it."""
        u = orthogonal(self.B.take(cols=np.array([j]))[:, 0], self.Q)
        length = float(np.linalg.norm(u))
        if length**2 <= EXPLAINED_TOL:
            return None, True
        u /= length
        w = self.B.cross(u)
        left = orthogonal(self.B.dot(w), self.Q)
        left -= u * (u @ left)
        self.f = np.maximum(self.f - 2.0 * w * self.B.cross(left) - w**2 * float(w @ w), 0.0)
        self.g = np.maximum(self.g - w**2, 0.0)
        self.Q = np.column_stack([self.Q, u])
        return None, False
