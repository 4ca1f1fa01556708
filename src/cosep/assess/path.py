"""The order in which selected rows and columns are best added, and what the first of them explain."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cosep.assess.additions import Additions, fidelity
from cosep.fit.in_memory import InMemory
from cosep.fit.plan import make_plan
from cosep.matrix.checks import check_callback, check_choice, check_nonzero, check_number
from cosep.matrix.leading import squared_singular_values
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Scaling
from cosep.matrix.validation import as_matrix
from cosep.metrics.bounds import bound_of
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.select.method import Method
from cosep.utils.messages import shown
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """Selected rows and columns in the order in which they are best added, and what the first of them explain.

    Attributes
    ----------
    row_indices, col_indices : ndarray of int
        The selected rows and columns; the first s of them are the choice of size s.
    rows : ndarray of shape (n_rows,)
        The share of X that the first 1, 2, ... rows explain on their own.
    cols : ndarray of shape (n_cols,)
        The same for columns.
    core : ndarray of shape (max(n_rows, n_cols),)
        The share that the core of the first s rows and the first s columns explains, of all rows or columns where there
        are fewer than s. Unlike the others, it can fall.
    bound : ndarray of shape (max(n_rows, n_cols),)
        The share of the best approximation of rank s, which no s rows, s columns or s components exceed.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import selection_path
    >>> path = selection_path(np.diag([1.0, 3.0, 2.0, 4.0]), 4, 4, scaling=None)
    >>> path.col_indices, path.cols.round(2)
    (array([3, 1, 2, 0]), array([0.53, 0.83, 0.97, 1.  ]))
    """

    row_indices: Indices
    col_indices: Indices
    rows: Array
    cols: Array
    core: Array
    bound: Array

    def n_needed(self, share: float = 0.9, *, part: str = "core", of: str = "bound") -> int | None:
        """Return how many of the first rows and columns reach this share of what is possible.

        Parameters
        ----------
        share : float
            Default: 0.9.
        part : {"core", "rows", "cols"}
            Whose fidelity must reach it: that of the core of as many rows as columns, of the rows alone, or of the
            columns alone. Default: "core".
        of : {"bound", "all"}
            What the share is of: the bound of the largest size, which nothing of that size can exceed, or what all rows
            and columns of the path explain. Default: "bound".

        Returns
        -------
        int or None
            The smallest size; None if all of them are too few, or explain nothing.

        Examples
        --------
        >>> import numpy as np
        >>> from cosep import selection_path
        >>> path = selection_path(np.diag([1.0, 3.0, 2.0, 4.0]), 4, 4, scaling=None)
        >>> path.n_needed(0.9), path.n_needed(0.8, part="rows")
        (3, 2)
        """
        share = check_number(share, "share", 0.0, 1.0)
        reached: Array = getattr(self, check_choice(part, "part", ("core", "rows", "cols")))
        rank = min(len(self.rows), len(self.cols)) if part == "core" else len(reached)
        whole = {"bound": self.bound[rank - 1], "all": reached[-1]}[check_choice(of, "of", ("bound", "all"))]
        enough = np.flatnonzero((reached >= share * whole - TIE_TOL) & (whole > 0))
        return int(enough[0]) + 1 if len(enough) else None


def selection_path(
    X: Any,
    n_rows: int | None = None,
    n_cols: int | None = None,
    *,
    factorization: Factorization | None = None,
    method: Method = "faithful",
    scaling: Any = "degree",
    sample_weight: Any = None,
    callback: Callback | None = None,
) -> SelectionPath:
    """Order selected rows so that the first s have a small ``min ||X - U X(rows,:)||``, U >= 0; the same for columns.

    It begins with the row that explains most on its own. Then it always adds the one of the selected rows that lowers
    the error most, with the best nonnegative weights each time. So it answers how many of them are needed, and which
    to give up first.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    n_rows, n_cols : int, optional
        How many rows and columns to select, as `CoSeparableNMF` does.
    factorization : Factorization, optional
        Rows and columns that are selected already, such as ``factorization_`` of `CoSeparableNMF`, instead of
        ``n_rows`` and ``n_cols``. Its norm is used, and ``method``, ``scaling`` and ``sample_weight`` are not.
    method : str or callable
        How to select; see `CoSeparableNMF`.
    scaling : {"degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None
        The norm of the model; see `CoSeparableNMF`.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as. Default: 1.
    callback : callable, optional
        Called during the selection, and then as ``callback("path", size, largest size, nan)``.

    Returns
    -------
    SelectionPath
        Its last entries are the fidelities of the model, to rounding.

    See Also
    --------
    choose_rank : how many rows and columns predict held-out entries best.

    Notes
    -----
    A selection of s rows from the start, ``CoSeparableNMF(s, s)``, need not be the first s of a larger one, and usually
    explains a little more. For a row that is a candidate to be added, the products with its slopes give a bound of what
    it can gain, so that only a few candidates are compared exactly. Each comparison is at most m nonnegative
    least-squares problems of size s.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, selection_path
    >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.1, random_state=0)
    >>> model = CoSeparableNMF(n_rows=6, n_cols=6).fit(X)
    >>> path = selection_path(X, factorization=model.factorization_)
    >>> bool(abs(path.rows[-1] - model.row_fidelity_) < 1e-9)
    True
    >>> path.n_needed(0.99, part="rows")
    3
    """
    M = as_matrix(X)
    check_callback(callback)
    if factorization is None:
        sizes = {"n_rows": n_rows, "n_cols": n_cols}
        selection, norm = _select(M, **sizes, method=method, scaling=scaling, weights=sample_weight, callback=callback)
    else:
        selection, norm = _selected(M, factorization, n_rows, n_cols)
    check_nonzero(M)
    data = (M if norm is None else norm.apply(M)).mantissa
    rows, cols = np.asarray(selection.row_indices), np.asarray(selection.col_indices)
    n_sizes, of_rows, of_cols = max(len(rows), len(cols)), Additions(data.T, rows), Additions(data, cols)
    S = data.take(rows, cols) / of_rows.norms[:, None] / of_cols.norms
    core = np.zeros(n_sizes)
    for size in range(n_sizes):
        for side in (of_rows, of_cols):
            side.add_next()
        U, V = (side.V[:, side.added] for side in (of_rows, of_cols))
        core[size] = fidelity(data, U @ S[np.ix_(of_rows.added, of_cols.added)], V)
        if callback is not None:
            callback("path", size + 1, n_sizes, np.nan)
    squares, total = squared_singular_values(data, n_sizes), data.squared_norm()
    bounds = [bound_of(squares, total, size, size).refitted for size in range(1, n_sizes + 1)]
    return SelectionPath(
        rows[of_rows.added],
        cols[of_cols.added],
        np.array(of_rows.fidelities),
        np.array(of_cols.fidelities),
        core,
        np.array(bounds),
    )


def _select(
    M: LocalMatrix, *, n_rows: Any, n_cols: Any, method: Method, scaling: Any, weights: Any, callback: Any
) -> tuple[Selection, Scaling | None]:
    """Return the rows and columns that `CoSeparableNMF` selects, and its norm."""
    plan = make_plan(
        M.shape,
        in_blocks=False,
        col_names=None,
        n_rows=n_rows,
        n_cols=n_cols,
        method=method,
        scaling=scaling,
        preselect=None,
        sample_size=None,
        max_iter=1,
        tol=0.0,
        random_state=None,
        row_pool=None,
        col_pool=None,
        callback=callback,
        checkpoint=None,
        sample_weight=weights,
    )
    check_nonzero(M)
    steps = InMemory(M, plan)
    chosen = steps.select(steps.scale())
    return chosen.selection, chosen.norm.scaling_of(M)


def _selected(M: LocalMatrix, factorization: Any, n_rows: Any, n_cols: Any) -> tuple[Selection, Scaling | None]:
    """Return the rows and columns of a factorization of M, and its norm."""
    known = isinstance(factorization, Factorization)
    selection = factorization.selection if known else None
    if selection is None or selection.row_indices is None or selection.col_indices is None:
        got = "one without" if known else shown(factorization)
        msg = (
            f"factorization must be a Factorization with selected rows and columns, got {got}; pass factorization_ of "
            "a fitted CoSeparableNMF, or make one with cosep.mix."
        )
        raise ValueError(msg)
    for name, size in (("n_rows", n_rows), ("n_cols", n_cols)):
        if size is not None:
            msg = f"{name}={shown(size)} was given, but factorization has its own rows and columns; pass one of them."
            raise ValueError(msg)
    if factorization.shape != M.shape:
        msg = f"X has shape {M.shape}, but factorization has shape {factorization.shape}; pass the matrix of the fit."
        raise ValueError(msg)
    return selection, factorization.scaling
