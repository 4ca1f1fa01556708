"""Stability of a selection: how often it is found again in random parts of the data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from cosep.assess.selected_by import selected_by
from cosep.assess.selecting import select_from_part
from cosep.matrix.checks import check_callback, check_jobs, check_nonzero, check_number, check_positive, check_random
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import check_scaling, check_weights, scale
from cosep.matrix.validation import as_matrix
from cosep.records.filled_data import matrix_of
from cosep.records.model import factorization_of
from cosep.records.selection import Selection
from cosep.select import BOTH_SELECTORS
from cosep.select.faithful import faithful, faithful_near
from cosep.select.method import Method, method_named
from cosep.utils.display import ColumnTable, Readable, View, grid_of
from cosep.utils.lookup import names_at
from cosep.utils.types import Array, Callback, Indices, Table


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Readable):
    """How often each selected row and column is selected again if a part of the data is missing.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each row (column) selected from all of X; ``pandas.DataFrame(rows)`` shows it.

        index, name
            Position and name; "row 17" or "column 17" if there are no names.
        frequency
            The share of the draws with this row in which it was selected; nan if no draw has it.
        similarity
            The largest cosine, in the norm, between this row and a row selected in the draw, over all columns of X, as
            the mean over the draws with this row: 1 if a multiple of it is always selected; nan if no draw has it.
    n_draws : int
        The number of draws.
    share : float
        The share of the rows and of the columns in a draw; larger than requested if a draw would otherwise have fewer
        rows or columns than are selected.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection, stability
    >>> stability(np.ones((5, 5)), Selection([0], [0]), n_draws=3).rows["frequency"]
    array([1.])
    """

    rows: Table
    cols: Table
    n_draws: int
    share: float

    def _view(self) -> View:
        draws = f"{self.n_draws} draws, each of {self.share:.0%} of the rows and columns"
        grids = (grid_of("rows", self.rows, ("index",)), grid_of("columns", self.cols, ("index",)))
        return View("How often each was selected again", (draws,), grids)


class Subset(NamedTuple):
    """A random part of the rows and columns.

    Parameters
    ----------
    rows, cols : ndarray of int
        Positions, in ascending order.
    seed : int
        Seed for a method that takes one.
    """

    rows: Indices
    cols: Indices
    seed: int


def stability(
    X: Any,
    model: Any,
    *,
    method: Method | None = None,
    scaling: Any = "same",
    sample_weight: Any = None,
    n_draws: int = 20,
    share: float = 0.8,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Stability:
    """Select again from random draws of the rows and columns, and count how often each selected one is found again.

    A draw has ``share`` of the rows and ``share`` of the columns, without replacement; ``method`` selects as many of
    each as the model has. frequency(k) = P(row k is selected | row k is in the draw), over ``n_draws`` draws.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    model : fitted CoSeparableNMF, Factorization or Selection
        What was fitted to X, or the rows and columns selected from it.
    method : str or callable, optional
        How to select: a name that `CoSeparableNMF` accepts, or a function ``(X, n_rows, n_cols) -> Selection``.
        Default: the method of the model; "faithful" for a record that does not say it. Pools of a model are not used:
        every row and column of a draw may be selected.
    scaling : {"same", "degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None
        The norm, as in `CoSeparableNMF`. A draw is scaled by its own sums. Default: "same", the norm of the model and
        its weights of rows; "degree" for a `Selection`.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as in each selection. Default: as in the model, or 1.
    n_draws : int
        Number of draws. Default: 20. The cost is that of one selection per draw; no factors are refitted. With the
        method "faithful", the search in a draw begins near the topics of the model, and has one round of exchanges: a
        third of the time for about the same result. If only a `Selection` is passed, it begins from nothing.
    share : float
        Share of the rows and of the columns in a draw, above 0 and at most 1. Default: 0.8. A draw has at least as many
        rows and columns as are selected.
    random_state : int, RandomState instance or None
        Seed of the draws, and of a method that draws random numbers.
    n_jobs : int, optional
        Number of draws that are processed at the same time, each in a process of its own, at most one for each
        processor; -1 uses all processors. Default: one. The result does not depend on it. Processes take seconds to
        start.
    callback : callable, optional
        Called as ``callback("stability", draw, n_draws, nan)`` after each draw.

    Returns
    -------
    Stability

    Notes
    -----
    Warnings of the method, for example that it found fewer rows than requested, are not shown. Nothing is selected from
    a draw without a nonzero entry. The cosine compares whole rows, not only the columns of the draw.

    A stable selection need not be right: a method can select the same wrong rows again and again. Meinshausen and
    Buehlmann, J. R. Stat. Soc. B 72, 417-473, 2010, doi:10.1111/j.1467-9868.2010.00740.x, count selections in the same
    way.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import faithful, stability
    >>> X = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((9, 6)))
    >>> result = stability(X, faithful(X, 3, 3), n_draws=5)
    >>> result.rows["frequency"], result.rows["similarity"]
    (array([1., 1., 1.]), array([1., 1., 1.]))
    """
    chosen_by = selected_by(model, X)
    M = as_matrix(X) if isinstance(model, Selection) else matrix_of(X, factorization_of(model, X))
    check_nonzero(M)
    rows, cols = chosen_by.indices_in(M.shape)
    select = method_named(chosen_by.method if method is None else method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
    if isinstance(scaling, str) and scaling == "same":
        scaling = chosen_by.scaling
        sample_weight = chosen_by.weights if sample_weight is None else sample_weight
    n_draws = check_positive(n_draws, "n_draws")
    share = check_number(share, "share", np.finfo(np.float64).tiny, 1.0)
    n_jobs = check_jobs(n_jobs)
    check_callback(callback)
    norm = check_scaling(scaling, M.shape), check_weights(sample_weight, M.shape[0])
    data, random = M.mantissa, check_random(random_state)
    sizes = len(rows), len(cols)
    draws = [_draw(data.shape, sizes, share, random) for _ in range(n_draws)]
    # Processes, because all threads of a process share its warning filters.
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator")
    chosen = []
    for one in parallel(
        delayed(_select)(data, draw, norm, _near(select, chosen_by.topics, draw), sizes) for draw in draws
    ):
        chosen.append(one)
        if callback is not None:
            callback("stability", len(chosen), n_draws, np.nan)
    scaled = scale(data, norm[0], norm[1])[0]
    return Stability(
        ColumnTable(
            index=rows,
            name=names_at(rows, chosen_by.row_names, "row"),
            **_frequencies(scaled.T, rows, [draw.rows for draw in draws], [one[0] for one in chosen]),
        ),
        ColumnTable(
            index=cols,
            name=names_at(cols, chosen_by.col_names, "column"),
            **_frequencies(scaled, cols, [draw.cols for draw in draws], [one[1] for one in chosen]),
        ),
        n_draws,
        max(share, len(rows) / M.shape[0], len(cols) / M.shape[1]),
    )


def _draw(shape: tuple[int, int], smallest: tuple[int, int], share: float, random: np.random.RandomState) -> Subset:
    """Return a random draw with at least ``smallest`` rows and columns."""
    rows, cols = (
        np.sort(random.choice(size, max(round(share * size), least), replace=False))
        for size, least in zip(shape, smallest, strict=True)
    )
    return Subset(rows, cols, int(random.randint(2**31)))


def _near(
    select: Callable[..., Selection], topics: tuple[Array, Array] | None, draw: Subset
) -> Callable[..., Selection]:
    """Return a selector of a draw that begins near the topics of the model, if the method can."""
    if topics is None or select is not faithful:
        return select
    return partial(faithful_near, topics=(topics[0][draw.rows], topics[1][draw.cols]))


def _select(
    M: LocalMatrix,
    draw: Subset,
    norm: tuple[Any, Array | None],
    select: Callable[..., Selection],
    sizes: tuple[int, int],
) -> tuple[Indices, Indices]:
    """Return the rows and columns selected from the draw, as positions in all of M."""
    counted = draw.rows if norm[1] is None else draw.rows[norm[1][draw.rows] > 0]
    if M.part(counted, draw.cols).count_nonzero() == 0:
        return draw.rows[:0], draw.cols[:0]
    chosen = select_from_part(M, (draw.rows, draw.cols), norm, select, sizes, draw.seed)
    return draw.rows[chosen.row_indices], draw.cols[chosen.col_indices]


def _frequencies(M: LocalMatrix, chosen: Indices, draws: list[Indices], found: list[Indices]) -> Table:
    """Return how often the selected columns were found again, see `Stability`."""
    lengths = np.sqrt(M.squared_norms())
    lengths[lengths == 0] = np.inf
    cosines: Array = np.minimum(M.cross(M.take(cols=chosen)) / lengths[:, None] / lengths[chosen], 1.0)
    drawn = np.array([np.isin(chosen, cols) for cols in draws])
    again = np.array([np.isin(chosen, cols) for cols in found])
    nearest = np.array([cosines[cols].max(axis=0, initial=0.0) for cols in found])
    # The cosine of a column with itself is one, without rounding.
    nearest[again] = 1.0
    times = np.where(drawn.any(axis=0), drawn.sum(axis=0), np.nan)
    return {
        "frequency": (drawn & again).sum(axis=0) / times,
        "similarity": (drawn * nearest).sum(axis=0) / times,
    }
