"""The order in which selected rows and columns are best added, and what the first of them explain."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.assess.additions import Additions, fidelity
from cosep.assess.normed_data import NormedData
from cosep.matrix.checks import check_callback, check_choice, check_nonzero, check_number
from cosep.matrix.leading import squared_singular_values
from cosep.metrics.bounds import bound_of
from cosep.records.factorization import Factorization
from cosep.records.filled_data import data_of
from cosep.records.model import factorization_of
from cosep.records.selection import Selection
from cosep.utils.display import Readable, View, grid_of
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices


@dataclass(frozen=True, eq=False, repr=False)
class SelectionPath(Readable):
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
    row_names, col_names : ndarray of str or None
        Names of these rows and columns, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CoSeparableNMF, selection_path
    >>> X = np.diag([1.0, 3.0, 2.0, 4.0])
    >>> path = selection_path(X, CoSeparableNMF(4, 4, scaling=None).fit(X))
    >>> path.col_indices, path.cols.round(2)
    (array([3, 1, 2, 0]), array([0.53, 0.83, 0.97, 1.  ]))
    """

    row_indices: Indices
    col_indices: Indices
    rows: Array
    cols: Array
    core: Array
    bound: Array
    row_names: NDArray[Any] | None = None
    col_names: NDArray[Any] | None = None

    def _view(self) -> View:
        sizes = np.arange(len(self.core))
        columns: dict[str, Any] = {"size": sizes + 1}
        for kind, order, names, shares in (
            ("row", self.row_indices, self.row_names, self.rows),
            ("column", self.col_indices, self.col_names, self.cols),
        ):
            own = [f"{kind} {i}" for i in order] if names is None else list(names)
            columns[f"next {kind}"] = [*own, *[""] * (len(sizes) - len(own))]
            columns[f"{kind}s"] = np.append(shares, np.full(len(sizes) - len(shares), np.nan))
        grid = grid_of("", {**columns, "core": self.core, "possible": self.bound})
        return View("What the first selected rows and columns explain", (), (grid,))

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
        >>> from cosep import CoSeparableNMF, selection_path
        >>> X = np.diag([1.0, 3.0, 2.0, 4.0])
        >>> path = selection_path(X, CoSeparableNMF(4, 4, scaling=None).fit(X))
        >>> path.n_needed(0.9), path.n_needed(0.8, part="rows")
        (3, 2)
        """
        share = check_number(share, "share", 0.0, 1.0)
        reached: Array = getattr(self, check_choice(part, "part", ("core", "rows", "cols")))
        rank = min(len(self.rows), len(self.cols)) if part == "core" else len(reached)
        whole = {"bound": self.bound[rank - 1], "all": reached[-1]}[check_choice(of, "of", ("bound", "all"))]
        enough = np.flatnonzero((reached >= share * whole - TIE_TOL) & (whole > 0))
        return int(enough[0]) + 1 if len(enough) else None


def selection_path(X: Any, model: Any, *, callback: Callback | None = None) -> SelectionPath:
    """Order selected rows so that the first s have a small ``min ||X - U X(rows,:)||``, U >= 0; the same for columns.

    It begins with the row that explains most on its own. Then it always adds the one of the selected rows that lowers
    the error most, with the best nonnegative weights each time. So it answers how many of them are needed, and which
    to give up first.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        The matrix that the model was fitted to.
    model : fitted CoSeparableNMF or Factorization
        What selected rows and columns of X. Its norm is used, and its names, or those of X.
    callback : callable, optional
        Called as ``callback("path", size, largest size, nan)``.

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
    >>> path = selection_path(X, model)
    >>> bool(abs(path.rows[-1] - model.row_fidelity_) < 1e-9)
    True
    >>> path.n_needed(0.99, part="rows")
    3
    """
    factorization = factorization_of(model, X)
    observed = data_of(X, factorization)
    check_callback(callback)
    return path_in(NormedData(observed, factorization), callback)


def path_in(given: NormedData, callback: Callback | None) -> SelectionPath:
    """Return what `selection_path` returns."""
    M, factorization = given.M, given.factorization
    selection = _selected(factorization, M.shape)
    check_nonzero(M)
    data = given.scaled
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
        *(
            None if names is None else names[order]
            for names, order in (
                (factorization.row_names, rows[of_rows.added]),
                (factorization.col_names, cols[of_cols.added]),
            )
        ),
    )


def _selected(factorization: Factorization, shape: tuple[int, int]) -> Selection:
    """Return the rows and columns of a factorization of a matrix of this shape."""
    selection = factorization.selection
    if selection is None or selection.row_indices is None or selection.col_indices is None:
        msg = "model must have selected rows and columns; pass a fitted CoSeparableNMF, or what cosep.mix returns."
        raise ValueError(msg)
    if factorization.shape != shape:
        msg = f"X has shape {shape}, but the model has shape {factorization.shape}; pass the matrix of the fit."
        raise ValueError(msg)
    return selection
