"""What each selected row and column explains, what is lost without it, and the error of each row and column.

Notation
--------
M : data; A, V : selected columns, and the weights that explain all columns by them, M ~ A V'; B = M'A
J : the sum of errors that the selection makes small; k : position of a selected column; j : its rival
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.assess.normed_data import NormedData
from cosep.matrix.checks import check_callback, check_nonzero
from cosep.matrix.filled import filled
from cosep.matrix.local import LocalMatrix
from cosep.metrics.bounds import fidelity_bound
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.filled_data import data_of
from cosep.records.model import factorization_of
from cosep.select.column_choice import ColumnChoice, explained_by
from cosep.select.exchange import (
    EQUAL_ERROR_TOL,
    EQUAL_SUM_TOL,
    Exchanges,
    n_trials,
    products_of,
    promising,
    trials_of,
)
from cosep.select.fixed_rows import FixedRows, fixed_rows
from cosep.select.rays import distinct
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import nonnegative_of
from cosep.solve.pursuit import all_positions
from cosep.utils.blas import one_blas_thread
from cosep.utils.display import ColumnTable, Readable, View, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices, Table


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Readable):
    """What each selected row and column explains, what is lost without it, and its best replacement.

    Losses are changes of ``J = e_rows + e_cols + 0.3 e_core``, the sum of errors that `faithful` makes small. Its terms
    are the shares of ``||X||^2`` that the selected rows, the selected columns, and the core with the weights of both do
    not explain. If only rows or only columns are selected, J is their error alone.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each selected row (column), in the order of the selection; ``pandas.DataFrame(rows)`` shows it.
        Empty if no rows (columns) were selected.

        index, name
            Position and name; "row 17" or "column 17" if there are no names.
        share
            The share of ``||X||^2`` that it explains, ``<X, u_k x_k> / ||X||^2``, where u_k are its weights in the best
            nonnegative approximation of X by the selected rows. Shares are at least 0 and add up to the fidelity of
            the rows.
        loss
            How much J rises if the row is left out and the weights of the other rows are computed again. The error of
            the rows then never falls, but that of the core can: a loss below 0 means that J is smaller without the row.
        runner_up, runner_up_name
            Position and name of the row outside the selection that gives the smallest J in its place, of those that
            were tried. The runner-up need not be similar to the row that it replaces, if another part of X matters
            more. If J is not smaller with any of them than with nothing in its place: -1 and "".
        runner_up_loss
            How much J rises with the runner-up instead: at most ``loss``, and below 0 if J falls. Without a runner-up
            it is ``loss``.
        size
            How many rows are in its cluster.
    row_errors : ndarray of shape (m,)
        ``||x_i - reconstruction_i|| / ||x_i||`` for each row, by the refitted factors; nan for an all-zero row.
    col_errors : ndarray of shape (n,)
        The same for each column.
    sum_of_errors : float
        J of the selection.
    bound : Fidelity or None
        What no rows, columns and factors of the same number could explain more of; None for a side that is not
        selected.
    row_names, col_names : ndarray of str or None
        Names of all rows and columns, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection, explain, mix
    >>> X = np.diag([3.0, 4.0])
    >>> explain(X, mix(X, Selection([1, 0], [0, 1]))).rows["share"]
    array([0.64, 0.36])
    """

    rows: Table
    cols: Table
    row_errors: Array
    col_errors: Array
    sum_of_errors: float
    bound: Fidelity | None = None
    row_names: NDArray[Any] | None = None
    col_names: NDArray[Any] | None = None

    def _view(self) -> View:
        hidden = ("index", "runner_up")
        grids = [grid_of(name, table, hidden) for name, table in (("rows", self.rows), ("columns", self.cols)) if table]
        return View(
            "What each selected row and column explains",
            (f"sum of errors: {self.sum_of_errors:.4g}", "loss: how much it rises without the row or column"),
            tuple(grids),
        )


def explain(X: Any, model: Any, *, callback: Callback | None = None) -> Explanation:
    """Return what each selected row and column contributes to ``J = e_rows + e_cols + 0.3 e_core``.

    J is the sum of errors that `faithful` makes small; see `Explanation` for its terms. Everything is measured in the
    norm of the model, and every number is exact: weights are computed again wherever they can change.

    The runner-up is the best of a few rows: those that the search of `faithful` tries last in place of the selected
    row, or, if it tries none, the one that its closed form ranks first. Other rows may be better. All-zero rows are not
    tried, and of rows that are multiples of each other only the longest.

    An exchange that the search has tried does not lower J. A runner-up can lower J if another method selected the rows
    and columns, or if the search did not try that exchange.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        The matrix that the rows and columns were selected from.
    model : fitted estimator or Factorization
        A fitted `CoSeparableNMF` or `SeparableNMF`, or what `mix` returns. Its names are used, or those of X.
    callback : callable, optional
        Called as ``callback("explain", step, number of selected rows and columns, nan)`` after each selected row or
        column.

    Returns
    -------
    Explanation

    Notes
    -----
    The cost is that of one round of exchanges of `faithful`, and of two to three nonnegative least-squares problems for
    each selected row and each row in which it has a weight. No dense array of the size of X is created. Deterministic;
    all-zero rows and columns change nothing, and transposing X swaps rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CoSeparableNMF, explain, make_coseparable
    >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.1, random_state=0)
    >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
    >>> why = explain(X, model)
    >>> bool(np.isclose(why.rows["share"].sum(), model.row_fidelity_))
    True
    >>> bool((why.rows["loss"] >= why.rows["runner_up_loss"]).all())
    True
    >>> bool((why.rows["runner_up_loss"] >= 0).all())
    True
    """
    factorization = factorization_of(model, X)
    observed = data_of(X, factorization)
    check_callback(callback)
    return explained_in(NormedData(observed, factorization), callback)


def explained_in(given: NormedData, callback: Callback | None) -> Explanation:
    """Return what `explain` returns."""
    observed, factorization = given.observed, given.factorization
    if factorization.selection is None:
        msg = "model must have selected rows or columns; fit a CoSeparableNMF, or make a factorization with cosep.mix."
        raise ValueError(msg)
    row_errors = factorization.row_errors(observed)
    check_nonzero(given.M)
    selection, steps, data = factorization.selection, count(1), given.scaled
    none = np.zeros(0, np.intp)
    chosen = [none if one is None else one for one in (selection.row_indices, selection.col_indices)]
    sizes = len(chosen[0]), len(chosen[1])

    def report() -> None:
        if callback is not None:
            callback("explain", next(steps), sum(sizes), np.nan)

    part = filled(data, *chosen)
    A = part.M
    rows, cols = explained_by(A.T, part.row_positions(chosen[0])), explained_by(A, part.col_positions(chosen[1]))
    of_rows, of_cols = fixed_rows(A, rows if sizes[0] else None), fixed_rows(A.T, cols if sizes[1] else None)
    return Explanation(
        _table(A.T, rows, _losses(A.T, rows, of_cols, report), part.rows, factorization.T, "row"),
        _table(A, cols, _losses(A, cols, of_rows, report), part.cols, factorization, "column"),
        row_errors,
        factorization.T.row_errors(observed.T),
        of_rows.sum_of(A, cols) if sizes[1] else rows.error,
        fidelity_bound(data, *sizes),
        factorization.row_names,
        factorization.col_names,
    )


def _table(
    M: LocalMatrix,
    cols: ColumnChoice,
    found: tuple[Array, Indices, Array],
    positions: Indices,
    factorization: Factorization,
    kind: str,
) -> Table:
    """Return the table of the selected columns from what `_losses` found; ``positions`` are those of columns in X."""
    names, labels, r = factorization.col_names, factorization.col_labels, len(cols.chosen)
    losses, rivals, rival_losses = found
    if labels is None:
        labels = factor_labels(cols.V, np.linalg.norm(M.take(cols=cols.chosen), axis=0))
    labels = labels[labels >= 0] if r else np.zeros(0, np.intp)
    chosen, runners_up = positions[cols.chosen], np.where(rivals < 0, -1, positions[rivals])
    return ColumnTable(
        {
            "index": chosen,
            "name": names_at(chosen, names, kind),
            # Equal to <M, a_k v_k'> at the best weights; these add up to the fidelity for any weights.
            "share": np.einsum("ij,ij->j", 2.0 * cols.B - cols.V @ cols.B[cols.chosen], cols.V) / M.squared_norm(),
            "loss": losses,
            "runner_up": runners_up,
            "runner_up_name": names_at(runners_up, names, kind),
            "runner_up_loss": rival_losses,
            "size": np.bincount(labels, minlength=r),
        }
    )


@one_blas_thread
def _losses(
    M: LocalMatrix, cols: ColumnChoice, fixed: FixedRows, report: Callable[[], None]
) -> tuple[Array, Indices, Array]:
    """Return how much J rises without each selected column, the best rival that was tried, and the rise with it."""
    now, r, trials = fixed.sum_of(M, cols), len(cols.chosen), sorted(_trials(M, cols, fixed))
    losses, runners_up, runner_up_losses = np.zeros(r), np.full(r, -1), np.zeros(r)
    exchanges = Exchanges(M, cols, fixed, products_of(M, trials))
    totals = np.asarray(fixed.sum_with(*exchanges.errors(trials)))
    for k in range(r):
        losses[k] = least = _rise(fixed.sum_of(M, _without(M, cols, k)), now)
        for j, total in ((j, total) for (position, j), total in zip(trials, totals, strict=True) if position == k):
            rise = _rise(total, now)
            if rise < least - TIE_TOL:
                runners_up[k], least = j, rise
        runner_up_losses[k] = least
        report()
    return losses, runners_up, runner_up_losses


def _trials(M: LocalMatrix, cols: ColumnChoice, fixed: FixedRows) -> list[tuple[int, int]]:
    """Return the exchanges to try: as many as the search tries at a time, at least one for each position."""
    r = len(cols.chosen)
    if r == 0:
        return []
    positions = distinct(M, all_positions(M.shape[1]))
    return trials_of(promising(M, positions, cols, fixed), max(n_trials(positions, r), r))


def _without(M: LocalMatrix, cols: ColumnChoice, k: int) -> ColumnChoice:
    """Return the choice without the k-th column: weights can change only where it has one."""
    rest = np.delete(np.arange(len(cols.chosen)), k)
    chosen, B, V = cols.chosen[rest], cols.B[:, rest], cols.V[:, rest]
    G, changed = B[chosen], np.flatnonzero(cols.V[:, k] > 0)
    V[changed] = nonnegative_of((G + G.T) / 2.0, B[changed], V[changed], exact=True)
    return ColumnChoice(chosen, V, max(1.0 - float(np.vdot(B, V)) / M.squared_norm(), 0.0), B)


def _rise(total: float, now: float) -> float:
    """Return by how much the sum of errors rises; 0 if the search takes both for equal."""
    rise = float(total - now)
    return rise if rise > EQUAL_ERROR_TOL or rise < -EQUAL_SUM_TOL * now - EQUAL_ERROR_TOL else 0.0
