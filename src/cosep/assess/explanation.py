"""What each selected row and column explains, what is lost without it, and the error of each row and column.

Notation
--------
M : data; A = M(:,K) the selected columns; V the best weights, M ~ A V'; B = M'A
W : directions, possible weights of a column outside the selection in all columns; R = M - A V' without the k-th column
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import check_callback, check_nonzero
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.records.factorization import Factorization
from cosep.records.product import CANCELLATION
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import nonnegative
from cosep.solve.pursuit import several_largest
from cosep.utils.messages import shown
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices, Table

# For each selected column, the gains of this many columns outside are computed, and the weights of the best of these.
N_RIVALS, N_FINALISTS = 32, 8
# More are considered as long as there are at most this many problems: columns of M times finalists.
CHEAP_PROBLEMS = 1 << 14


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each selected row and column explains, what is lost without it, and its best replacement.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each selected row (column), in the order of the selection; ``pandas.DataFrame(rows)`` shows it.
        Empty if no rows (columns) were selected.

        index, name
            Position and name; "row 17" or "column 17" if there are no names.
        share
            The share of ``||X||^2`` that it explains, ``<X, u_k x_k> / ||X||^2``, where u_k are its weights in the best
            nonnegative approximation of X by the selected rows. Shares are at least 0 and add up to
            ``1 - (1 - fidelity)^2``.
        loss
            How much the fidelity falls if it is left out and the weights are computed again.
        runner_up, runner_up_name, runner_up_loss
            The best row found outside the selection to replace it, and how much the fidelity falls with this
            replacement: at most ``loss``, and negative if the fidelity rises. The runner-up need not be similar to the
            row that it replaces, if another part of X matters more. If no row helps: -1, "" and ``loss``.
        size
            How many rows have their largest share in it, by the same weights.
    row_errors : ndarray of shape (m,)
        ``||x_i - reconstruction_i|| / ||x_i||`` for each row, by the refitted factors; nan for an all-zero row.
    col_errors : ndarray of shape (n,)
        The same for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection, explain, mix
    >>> X = np.diag([3.0, 4.0])
    >>> explain(mix(X, Selection([1, 0], [0, 1])), X).rows["share"]
    array([0.64, 0.36])
    """

    rows: Table
    cols: Table
    row_errors: Array
    col_errors: Array


def explain(factorization: Factorization, X: Any, *, callback: Callback | None = None) -> Explanation:
    """Return what each selected row contributes to ``min ||X - U X(rows,:)||`` over ``U >= 0``; the same for columns.

    The fidelity of the rows is ``1 - min ||X - U X(rows,:)|| / ||X||``. The loss without a row is exact: weights are
    computed again wherever it had a positive weight. The fidelity with its runner-up is exact too. The choice of the
    runner-up is exact for at most 128 rows. For more rows it has three steps. Every row outside the selection is judged
    by how much it lowers the error with weights proportional to those of a selected row, with equal weights, or with a
    weight in itself alone. The 32 best of these are judged by their best weights while the other weights stay fixed,
    and the eight best of these exactly. Another row may then be slightly better.

    Parameters
    ----------
    factorization : Factorization
        A factorization with a selection, as `mix` returns it, or ``factorization_`` of `CoSeparableNMF`. Its names are
        used if it has any.
    X : array-like or sparse of shape (m, n)
        The matrix that the rows and columns were selected from.
    callback : callable, optional
        Called as ``callback("explain", step, number of selected rows and columns, nan)`` after each selected row or
        column.

    Returns
    -------
    Explanation

    Notes
    -----
    The cost for each selected row is at most 9 m small nonnegative least-squares problems and the products of X with 32
    of its rows. No dense array of the size of X is created. Deterministic; transposing X swaps rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CoSeparableNMF, explain, make_coseparable
    >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.1, random_state=0)
    >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
    >>> why = explain(model.factorization_, X)
    >>> bool(np.isclose(why.rows["share"].sum(), 1 - (1 - model.row_fidelity_) ** 2))
    True
    >>> bool((why.rows["loss"] >= why.rows["runner_up_loss"]).all())
    True
    """
    if not isinstance(factorization, Factorization) or factorization.selection is None:
        got = "one without" if isinstance(factorization, Factorization) else shown(factorization)
        msg = f"factorization must be a Factorization with a selection, got {got}; create one with cosep.mix."
        raise ValueError(msg)
    M = as_matrix(X)
    check_callback(callback)
    row_errors = factorization.row_errors(M)
    check_nonzero(M)
    selection, steps = factorization.selection, count(1)
    sizes = [0 if indices is None else len(indices) for indices in (selection.row_indices, selection.col_indices)]

    def report() -> None:
        if callback is not None:
            callback("explain", next(steps), sum(sizes), np.nan)

    # The tables do not depend on the units of X.
    data = M.mantissa
    return Explanation(
        _table(data.T, selection.row_indices, factorization.row_names, "row", report),
        _table(data, selection.col_indices, factorization.col_names, "column", report),
        row_errors,
        factorization.T.row_errors(M.T),
    )


class WeightedColumns(NamedTuple):
    """An approximation ``M ~ A V'`` by some columns.

    Parameters
    ----------
    A : ndarray of shape (m, r)
        The columns.
    B : ndarray of shape (n, r)
        Their products with all columns, ``M'A``.
    V : ndarray of shape (n, r)
        Their weights in all columns.
    """

    A: Array
    B: Array
    V: Array

    def error(self, M: LocalMatrix) -> float:
        """``||M - A V'|| / ||M||``, without cancellation where it is small."""
        squared = 2.0 * half_squared_error(M.squared_norm(), *self)
        if squared > CANCELLATION:
            return float(np.sqrt(squared))
        return Factorization(self.A, None, self.V.T).relative_error(M)

    def squared_errors(self) -> Array:
        """``||m_l - A v_l||^2 - ||m_l||^2`` for each column l of M."""
        return np.asarray(np.einsum("ij,ij->i", self.V @ (self.A.T @ self.A) - 2.0 * self.B, self.V))

    def replaced(self, k: int, a: Array, b: Array, start: Array) -> "WeightedColumns":
        """Replace the k-th column by ``a``, with ``b = M'a``, and compute weights again wherever they can change.

        ``start`` are weights of ``a`` to start from, positive wherever its weights can be.
        """
        changed = np.flatnonzero((self.V[:, k] > 0) | (start > 0))
        A, B, V = (part.copy() for part in self)
        A[:, k], B[:, k], V[:, k] = a, b, start
        V[changed] = nonnegative(A, B[changed], V[changed], exact=True)
        return WeightedColumns(A, B, V)

    def without(self, k: int) -> tuple["WeightedColumns", "WeightedColumns"]:
        """Return the fits without the k-th column: with the best weights of the others, and with unchanged weights."""
        zeros = np.zeros(len(self.V))
        rest = self.replaced(k, np.zeros(len(self.A)), zeros, zeros)
        return rest, rest._replace(V=np.where(np.arange(len(rest.A.T)) == k, 0.0, self.V))


def _table(
    M: LocalMatrix, chosen: Indices | None, names: NDArray[Any] | None, kind: str, report: Callable[[], None]
) -> Table:
    """Return the table of the selected columns, see `Explanation`."""
    chosen = np.zeros(0, np.intp) if chosen is None else chosen
    A, r = M.take(cols=chosen), len(chosen)
    B = M.cross(A)
    fit = WeightedColumns(A, B, nonnegative(A, B, np.zeros_like(B), exact=True))
    find_rivals = _rival_finder(M, chosen, fit.V)
    errors, runners_up, runner_up_errors = np.zeros(r), np.full(r, -1), np.zeros(r)
    for k in range(r):
        fits = fit.without(k)
        errors[k] = fits[0].error(M)
        runners_up[k], runner_up_errors[k] = _runner_up(M, chosen, fits, k, find_rivals(fits))
        report()
    labels = factor_labels(fit.V, np.linalg.norm(A, axis=0)) if r else np.zeros(0, np.intp)
    error = fit.error(M)
    losses = np.maximum(errors - error, 0.0)
    return {
        "index": chosen,
        "name": _named(chosen, names, kind),
        "share": np.einsum("ij,ij->j", B, fit.V) / M.squared_norm(),
        "loss": losses,
        "runner_up": runners_up,
        "runner_up_name": _named(runners_up, names, kind),
        "runner_up_loss": np.where(runners_up < 0, losses, np.minimum(runner_up_errors - error, losses)),
        "size": np.bincount(labels[labels >= 0], minlength=r),
    }


def _rival_finder(
    M: LocalMatrix, chosen: Indices, V: Array
) -> Callable[[tuple[WeightedColumns, WeightedColumns]], Indices]:
    """Return a function that finds the columns outside the selection that can lower the error of two fits most.

    With weights ``t w`` and the best t, column j lowers the squared error by ``max(m_j' R w, 0)^2 / (||m_j||^2
    ||w||^2)``. The directions w are the weights of the selected columns, equal weights for all columns, and a weight
    for column j alone.
    """
    W = np.column_stack([V, np.ones(len(V))])
    M_M_W, squares, norms = M.cross(M.dot(W)), np.einsum("ij,ij->j", W, W), M.squared_norms()
    squares[squares == 0] = 1.0
    norms[norms == 0] = np.inf

    def gains(fit: WeightedColumns) -> Array:
        similarity = np.maximum(M_M_W - fit.B @ (fit.V.T @ W), 0.0) / np.sqrt(squares)
        own = np.where(norms < np.inf, norms - np.einsum("ij,ij->i", fit.B, fit.V), 0.0)
        return np.asarray(np.maximum(similarity.max(axis=1), own) ** 2 / norms)

    def find_rivals(fits: tuple[WeightedColumns, WeightedColumns]) -> Indices:
        rest, unchanged = fits
        rise = float((unchanged.squared_errors() - rest.squared_errors()).sum())
        best = np.maximum(gains(rest), gains(unchanged) - rise)
        best[chosen] = 0.0
        return several_largest(best, max(N_RIVALS, CHEAP_PROBLEMS // len(norms)))

    return find_rivals


def _runner_up(
    M: LocalMatrix, chosen: Indices, fits: tuple[WeightedColumns, WeightedColumns], k: int, rivals: Indices
) -> tuple[int, float]:
    """Return the rival that explains most instead of the k-th column, and the error with it; -1 if none helps."""
    rest, unchanged = fits
    best, least = -1, rest.error(M)
    if least <= TIE_TOL or not rivals.size:
        return best, least
    M_D, norms = M.gram(rivals), M.squared_norms()[rivals]
    # Proportional to the best weight of each rival in each column while the other weights stay fixed.
    P, Q = (np.maximum(M_D - fit.V @ M_D[chosen], 0.0) for fit in fits)
    rise = unchanged.squared_errors() - rest.squared_errors()
    gains = np.maximum(P**2 / norms, Q**2 / norms - rise[:, None]).sum(axis=0)
    for i in several_largest(gains, max(N_FINALISTS, CHEAP_PROBLEMS // len(M_D))):
        error = rest.replaced(k, M.take(cols=rivals[[i]])[:, 0], M_D[:, i], P[:, i] / norms[i]).error(M)
        if error < least - TIE_TOL or (error < least + TIE_TOL and rivals[i] < best):
            best, least = int(rivals[i]), min(error, least)
    return best, least


def _named(indices: Indices, names: NDArray[Any] | None, kind: str) -> NDArray[np.str_]:
    named = ["" if j < 0 else f"{kind} {j}" if names is None else str(names[j]) for j in indices]
    return np.array(named, dtype=np.str_)
