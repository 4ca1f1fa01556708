"""Stability of a selection: how often it is found again in random parts of the data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from cosep.assess.selecting import select_from_part
from cosep.matrix.checks import check_callback, check_jobs, check_nonzero, check_number, check_positive, check_random
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import check_scaling, check_weights, scale
from cosep.matrix.validation import as_matrix
from cosep.records.selection import Selection, check_selection
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback, Indices, Table


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each selected row and column is selected again if a part of the data is missing.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each row (column) selected from all of X; ``pandas.DataFrame(rows)`` shows it.

        index
            Its position.
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
    selection: Selection,
    *,
    method: Method = "faithful",
    scaling: Any = "degree",
    sample_weight: Any = None,
    n_draws: int = 20,
    share: float = 0.8,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Stability:
    """Select again from random draws of the rows and columns, and count how often each selected one is found again.

    A draw has ``share`` of the rows and ``share`` of the columns, without replacement; ``method`` selects as many of
    each as ``selection`` has. frequency(k) = P(row k is selected | row k is in the draw), over ``n_draws`` draws.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        The rows and columns selected from X.
    method : str or callable
        The method that selected them: a name that `CoSeparableNMF` accepts, or a function
        ``(X, n_rows, n_cols) -> Selection``. For a model with further options, pass
        ``lambda X, *sizes: CoSeparableNMF(*sizes, ...).fit(X).factorization_.selection`` and ``scaling=None``.
    scaling : {"degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None
        The norm of the model that selected them, as in `CoSeparableNMF`. A draw is scaled by its own sums.
    sample_weight : array-like of shape (m,), optional
        How many copies of it a row counts as in each selection. Default: 1.
    n_draws : int
        Number of draws. Default: 20. The cost is that of one selection per draw; no factors are refitted.
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
    M = as_matrix(X)
    check_nonzero(M)
    rows, cols = check_selection(selection, M.shape)
    if rows is None or cols is None:
        msg = (
            f"selection={shown(selection)} must have row_indices and col_indices; use cosep.both_sides to select both."
        )
        raise ValueError(msg)
    select = method_named(method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
    n_draws = check_positive(n_draws, "n_draws")
    share = check_number(share, "share", np.finfo(np.float64).tiny, 1.0)
    n_jobs = check_jobs(n_jobs)
    check_callback(callback)
    norm = check_scaling(scaling, M.shape), check_weights(sample_weight, M.shape[0])
    data, random = M.mantissa, check_random(random_state)
    draws = [_draw(data.shape, (len(rows), len(cols)), share, random) for _ in range(n_draws)]
    # Processes, because all threads of a process share its warning filters.
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator")
    chosen = []
    for one in parallel(delayed(_select)(data, draw, norm, select, (len(rows), len(cols))) for draw in draws):
        chosen.append(one)
        if callback is not None:
            callback("stability", len(chosen), n_draws, np.nan)
    scaled = scale(data, norm[0], norm[1])[0]
    return Stability(
        _table(scaled.T, rows, [draw.rows for draw in draws], [one[0] for one in chosen]),
        _table(scaled, cols, [draw.cols for draw in draws], [one[1] for one in chosen]),
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


def _table(M: LocalMatrix, chosen: Indices, draws: list[Indices], found: list[Indices]) -> Table:
    """Return the table of the selected columns, see `Stability`."""
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
        "index": chosen,
        "frequency": (drawn & again).sum(axis=0) / times,
        "similarity": (drawn * nearest).sum(axis=0) / times,
    }
