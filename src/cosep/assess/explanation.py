"""A factorization and its matrix enter; what each selected row and column is worth, and each row's error, leave.

Notation
--------
M : data; A = M(:,K) the selected columns; V the best weights, M ~ A V'; B = M'A
W : directions, weights that a column outside may get in all others; R = M - A V' without the k-th column
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.checks import as_matrix, check_callback, check_nonzero
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.records.product import CANCELLATION
from cosep.select.pursuit import several_largest
from cosep.solve.alternation import half_squared_error
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import nonnegative
from cosep.utils.messages import shown
from cosep.utils.ties import TIE_TOL
from cosep.utils.types import Array, Callback, Indices, Table

# Of the columns outside, so many have their gain found in each place, and so many of these their weights solved for;
# more, where the problems to be solved, one for each column and finalist, are no more than this.
RIVALS, FINALISTS, CHEAP = 32, 8, 1 << 14


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the selected rows and columns: what each of them explains, what is lost without it, who comes next.

    Parameters
    ----------
    rows, cols : dict of ndarray
        One entry for each selected row (column), in the order of the selection; ``pandas.DataFrame(rows)`` shows it.
        Empty for a side of which nothing was selected.

        index, name
            Position and name; "row 17" or "column 17" where there are no names.
        share
            The part of ``||X||^2`` that it explains, ``<X, u_k x_k> / ||X||^2`` with u_k its faithful weights. Shares
            are at least 0 and add up to ``1 - (1 - fidelity)^2``.
        loss
            By so much the fidelity falls if it is left out and the weights are solved for anew.
        runner_up, runner_up_name, runner_up_loss
            The row outside the selection that is the best found in its place, and by how much the fidelity falls with
            it: at most ``loss``, and negative if it would be better. It need not be like the row that it replaces, if
            another part of X is worth more. Where none helps: -1, "" and ``loss``.
        size
            How many rows have their largest part in it, by the faithful weights.
    row_errors, col_errors : ndarray
        ``||x_i - reconstruction_i|| / ||x_i||`` by the refitted factors; nan for an all-zero row.

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
    """Say of each selected row k what ``min ||X - U X(rows,:)||`` over ``U >= 0`` owes to it; of columns likewise.

    The fidelity of the rows is ``1 - min ||X - U X(rows,:)|| / ||X||``. What is lost without a row is exact: weights
    are solved for anew where it had any. The fidelity with its runner-up is exact too, and of at most 128 rows so is
    the choice of the runner-up. Of more, every row outside is judged by how far it lowers the error with weights
    proportional to those of a selected row, or equal, or in itself alone; the 32 best of these by the best weights of
    their own, the others as they are; and the eight best of these exactly. Another row may then be a little better.

    Parameters
    ----------
    factorization : Factorization
        With a selection: of `mix`, or ``factorization_`` of `CoSeparableNMF`. Its names are used if it has any.
    X : array-like or sparse of shape (m, n)
        The matrix that the rows and columns were selected from.
    callback : callable, optional
        Called as ``callback("explain", step, number of selected rows and columns, nan)`` after each of them.

    Returns
    -------
    Explanation

    Notes
    -----
    For each selected row, at most nine times m small nonnegative least-squares problems and the products of X with 32
    of its rows; no dense array of the size of X. Deterministic; transposing X swaps rows and columns.

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
        msg = f"factorization must be a Factorization with a selection, got {got}; make one with cosep.mix."
        raise ValueError(msg)
    M = as_matrix(X)
    check_callback(callback)
    row_errors = factorization.row_errors(M)
    check_nonzero(M)
    selection, steps = factorization.selection, count(1)
    sizes = [0 if side is None else len(side) for side in (selection.row_indices, selection.col_indices)]

    def tick() -> None:
        if callback is not None:
            callback("explain", next(steps), sum(sizes), np.nan)

    # What is said is the same for a multiple of X.
    data = LocalMatrix(M.values)
    return Explanation(
        _table(data.T, selection.row_indices, factorization.row_names, "row", tick),
        _table(data, selection.col_indices, factorization.col_names, "column", tick),
        row_errors,
        factorization.T.row_errors(M.T),
    )


class Side(NamedTuple):
    """Columns A, their products B = M'A with all columns, and weights V of all columns."""

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

    def replaced(self, k: int, a: Array, b: Array, near: Array) -> "Side":
        """Put column ``a`` in the k-th place, ``b = M'a``, with weights near these; solve where weights can change."""
        changed = np.flatnonzero((self.V[:, k] > 0) | (near > 0))
        A, B, V = (part.copy() for part in self)
        A[:, k], B[:, k], V[:, k] = a, b, near
        V[changed] = nonnegative(A, B[changed], V[changed], exact=True)
        return Side(A, B, V)

    def without(self, k: int) -> tuple["Side", "Side"]:
        """Leave the k-th column out: with the best weights of the others, and with their weights as they are."""
        nothing = np.zeros(len(self.V))
        rest = self.replaced(k, np.zeros(len(self.A)), nothing, nothing)
        return rest, rest._replace(V=np.where(np.arange(len(rest.A.T)) == k, 0.0, self.V))


def _table(
    M: LocalMatrix, chosen: Indices | None, names: NDArray[Any] | None, word: str, tick: Callable[[], None]
) -> Table:
    """Return what is said of each chosen column."""
    chosen = np.zeros(0, np.intp) if chosen is None else chosen
    A, r = M.take(cols=chosen), len(chosen)
    B = M.cross(A)
    side = Side(A, B, nonnegative(A, B, np.zeros_like(B), exact=True))
    rivals_of = _scout(M, chosen, side.V)
    errors, runners_up, runner_up_errors = np.zeros(r), np.full(r, -1), np.zeros(r)
    for k in range(r):
        starts = side.without(k)
        errors[k] = starts[0].error(M)
        runners_up[k], runner_up_errors[k] = _runner_up(M, chosen, starts, k, rivals_of(starts))
        tick()
    labels = factor_labels(side.V, np.linalg.norm(A, axis=0)) if r else np.zeros(0, np.intp)
    error = side.error(M)
    losses = np.maximum(errors - error, 0.0)
    return {
        "index": chosen,
        "name": _named(chosen, names, word),
        "share": np.einsum("ij,ij->j", B, side.V) / M.squared_norm(),
        "loss": losses,
        "runner_up": runners_up,
        "runner_up_name": _named(runners_up, names, word),
        "runner_up_loss": np.where(runners_up < 0, losses, np.minimum(runner_up_errors - error, losses)),
        "size": np.bincount(labels[labels >= 0], minlength=r),
    }


def _scout(M: LocalMatrix, chosen: Indices, V: Array) -> Callable[[tuple[Side, Side]], Indices]:
    """Return a function that finds the columns outside that can lower the error of one side or the other most.

    With weights ``t w``, t the best, column j takes off ``max(m_j' R w, 0)^2 / (||m_j||^2 ||w||^2)`` at the least; the
    directions w are the weights of the chosen columns, equal weights for all columns, and a weight for j alone.
    """
    W = np.column_stack([V, np.ones(len(V))])
    M_M_W, squares, norms = M.cross(M.dot(W)), np.einsum("ij,ij->j", W, W), M.squared_norms()
    squares[squares == 0] = 1.0
    norms[norms == 0] = np.inf

    def gains(side: Side) -> Array:
        likeness = np.maximum(M_M_W - side.B @ (side.V.T @ W), 0.0) / np.sqrt(squares)
        own = np.where(norms < np.inf, norms - np.einsum("ij,ij->i", side.B, side.V), 0.0)
        return np.asarray(np.maximum(likeness.max(axis=1), own) ** 2 / norms)

    def rivals(starts: tuple[Side, Side]) -> Indices:
        rest, dropped = starts
        rise = float((dropped.squared_errors() - rest.squared_errors()).sum())
        best = np.maximum(gains(rest), gains(dropped) - rise)
        best[chosen] = 0.0
        return several_largest(best, max(RIVALS, CHEAP // len(norms)))

    return rivals


def _runner_up(
    M: LocalMatrix, chosen: Indices, starts: tuple[Side, Side], k: int, rivals: Indices
) -> tuple[int, float]:
    """Return the rival that explains most in the k-th place, and the error with it; -1 if none helps."""
    rest, dropped = starts
    best, least = -1, rest.error(M)
    if least <= TIE_TOL or not rivals.size:
        return best, least
    M_D, norms = M.gram(rivals), M.squared_norms()[rivals]
    # The best weight of each rival in each column, with the others as they are, and what that takes off the error.
    P, Q = (np.maximum(M_D - side.V @ M_D[chosen], 0.0) for side in starts)
    rise = dropped.squared_errors() - rest.squared_errors()
    gains = np.maximum(P**2 / norms, Q**2 / norms - rise[:, None]).sum(axis=0)
    for i in several_largest(gains, max(FINALISTS, CHEAP // len(M_D))):
        error = rest.replaced(k, M.take(cols=rivals[[i]])[:, 0], M_D[:, i], P[:, i] / norms[i]).error(M)
        if error < least - TIE_TOL or (error < least + TIE_TOL and rivals[i] < best):
            best, least = int(rivals[i]), min(error, least)
    return best, least


def _named(indices: Indices, names: NDArray[Any] | None, word: str) -> NDArray[np.str_]:
    named = ["" if j < 0 else f"{word} {j}" if names is None else str(names[j]) for j in indices]
    return np.array(named, dtype=np.str_)
