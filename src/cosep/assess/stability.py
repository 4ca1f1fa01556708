"""A matrix and a selection enter; how often draws of its rows and columns lead to the same choice leaves."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from cosep.matrix.checks import (
    as_matrix,
    check_callback,
    check_jobs,
    check_nonzero,
    check_number,
    check_positive,
    check_random,
)
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection, check_selection
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named, options_for, refuse_no_selection
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback, Indices, Table


@dataclass(frozen=True, eq=False)
class Stability:
    """How sure a selection is: what happens to it if a part of the rows and columns is missing.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each row (column) selected on the whole data; ``pandas.DataFrame(rows)`` shows it.

        index
            Its position.
        frequency
            The share of the draws with this row in which it was selected; nan if it is in no draw.
        similarity
            The mean over these draws of the largest cosine, over all columns of X, between it and a row selected
            there: 1 if its like is always selected, whichever stands for them; nan if it is in no draw.
    n_draws : int
    share : float
        Of the rows and of the columns in a draw; larger than asked for if otherwise they were fewer than selected.

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


class Draw(NamedTuple):
    """The rows and columns of a draw, in their order, and a seed for a method that wants one."""

    rows: Indices
    cols: Indices
    seed: int


def stability(
    X: Any,
    selection: Selection,
    *,
    method: Method = "faithful",
    n_draws: int = 20,
    share: float = 0.8,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Stability:
    """Select anew from draws of the rows and columns, and tell how often each selected one is found again.

    A draw has ``share`` of the rows and ``share`` of the columns, without replacement; ``method`` selects as many of
    each as ``selection`` has. frequency(k) = P(row k is selected | row k is in the draw), over ``n_draws`` draws.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
    selection : Selection
        The rows and columns selected from X.
    method : str or callable
        What selected them: a name that `CoSeparableNMF` knows, or a function ``(X, n_rows, n_cols) -> Selection``; of
        a model with further options, ``lambda X, *sizes: CoSeparableNMF(*sizes, ...).fit(X).factorization_.selection``.
    n_draws : int
        The cost is that of so many selections, each on a little less than X; nothing is refitted.
    share : float
        Above 0 and at most 1. A draw has at least as many rows and columns as are to be selected.
    random_state : int, RandomState instance or None
        Decides about the draws, and about the choices of a method that draws random numbers itself.
    n_jobs : int, optional
        How many draws at a time, each in a process of its own, at most one for each processor; -1 is all of
        them. The result is the same; the processes take seconds to start.
    callback : callable, optional
        Called as ``callback("stability", draw, n_draws, nan)`` after each draw.

    Returns
    -------
    Stability

    Notes
    -----
    Warnings of the method, such as that it found fewer than asked for, are not shown. From a draw without a nonzero
    entry nothing is selected. The cosine is that of the whole rows, whatever columns a draw has: it compares the rows
    themselves, not what the draw saw of them.

    Stability is no proof of truth: a method can choose the same wrong rows again and again. Meinshausen and Buehlmann,
    J. R. Stat. Soc. B 72, 417-473, 2010, doi:10.1111/j.1467-9868.2010.00740.x, count selections in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import faithful, stability
    >>> X = np.kron(np.diag([1.0, 2.0, 3.0]), np.ones((9, 6)))
    >>> sure = stability(X, faithful(X, 3, 3), n_draws=5)
    >>> sure.rows["frequency"], sure.rows["similarity"]
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
    data, random = LocalMatrix(M.values), check_random(random_state)
    draws = [_draw(data.shape, (len(rows), len(cols)), share, random) for _ in range(n_draws)]
    # Processes, since the filters of warnings belong to all threads of one.
    parallel = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator")
    chosen = []
    for one in parallel(delayed(_select)(data.values, draw, select, len(rows), len(cols)) for draw in draws):
        chosen.append(one)
        if callback is not None:
            callback("stability", len(chosen), n_draws, np.nan)
    return Stability(
        _table(data.T, rows, [draw.rows for draw in draws], [one[0] for one in chosen]),
        _table(data, cols, [draw.cols for draw in draws], [one[1] for one in chosen]),
        n_draws,
        max(share, len(rows) / M.shape[0], len(cols) / M.shape[1]),
    )


def _draw(shape: tuple[int, int], least: tuple[int, int], share: float, random: np.random.RandomState) -> Draw:
    sides = [
        np.sort(random.choice(size, max(round(share * size), few), replace=False))
        for size, few in zip(shape, least, strict=True)
    ]
    return Draw(sides[0], sides[1], int(random.randint(2**31)))


def _select(
    values: Any, draw: Draw, select: Callable[..., Selection], n_rows: int, n_cols: int
) -> tuple[Indices, Indices]:
    """Return what is selected from the draw, as positions in the whole."""
    part = values[draw.rows][:, draw.cols]
    if LocalMatrix(part).count_nonzero() == 0:
        return draw.rows[:0], draw.cols[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = select(part, n_rows, n_cols, **options_for(select, random_state=draw.seed))
    refuse_no_selection(chosen, select, ("row_indices", "col_indices"))
    return draw.rows[chosen.row_indices], draw.cols[chosen.col_indices]


def _table(M: LocalMatrix, chosen: Indices, draws: list[Indices], found: list[Indices]) -> Table:
    """Return how often each chosen column was found again in the draws that had it, and how similar what was found."""
    lengths = np.sqrt(M.squared_norms())
    lengths[lengths == 0] = np.inf
    cosines: Array = np.minimum(M.cross(M.take(cols=chosen)) / lengths[:, None] / lengths[chosen], 1.0)
    drawn = np.array([np.isin(chosen, cols) for cols in draws])
    again = np.array([np.isin(chosen, cols) for cols in found])
    nearest = np.array([cosines[cols].max(axis=0, initial=0.0) for cols in found])
    # A column is as near to itself as can be, whatever rounding makes of it.
    nearest[again] = 1.0
    times = np.where(drawn.any(axis=0), drawn.sum(axis=0), np.nan)
    return {
        "index": chosen,
        "frequency": (drawn & again).sum(axis=0) / times,
        "similarity": (drawn * nearest).sum(axis=0) / times,
    }
