"""CUR: a matrix of any sign explained by a few of its columns and rows."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.estimators.base import Factorizer, frobenius_error
from cosep.fit.products import in_data_units, unit_scaled
from cosep.fit.selector import selector_input
from cosep.matrix.checks import check_choice, check_count, check_random
from cosep.matrix.local import LocalMatrix
from cosep.select.cur import METHODS, cur
from cosep.select.method import Method, check_selected, method_named, options_for
from cosep.solve.cur_link import LINKS, link_selected


class CUR(Factorizer):
    """Explain a matrix of any sign by a few of its columns and rows: ``X ~ X[:, cols] @ U @ X[rows]``.

    Parameters
    ----------
    n_rows, n_cols : int
        How many rows and columns to select.
    method : {"leverage", "deim", "cross"} or callable
        How to select: a method of `cur` by name, or any ``(X, n_rows, n_cols) -> Selection``.
    link : {"optimal", "skeleton"}
        "optimal": ``U = C^+ X R^+``, the smallest error for these rows and columns. "skeleton": ``U = X[rows][:,
        cols]^+``, from the selected rows and columns alone (S. A. Goreinov, E. E. Tyrtyshnikov and N. L. Zamarashkin,
        Linear Algebra Appl. 261, 1-21, 1997, doi:10.1016/S0024-3795(96)00301-1).
    random_state : int, RandomState instance or None
        Passed to methods that draw random numbers; the named ones do not.

    Attributes
    ----------
    row_indices_, col_indices_ : ndarray of int
        The selected rows and columns.
    selected_features_ : ndarray of str
        Names of the selected columns, if X has names.
    n_rows_, n_cols_ : int
        How many were selected: fewer than asked for, with a warning, if the rank of X is smaller.
    row_factor_ : ndarray of shape (m, n_cols_)
        The selected columns.
    link_ : ndarray of shape (n_cols_, n_rows_)
        U.
    col_factor_, components_ : ndarray of shape (n_rows_, n_features)
        The selected rows.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the three.
    gap_ : None
    history_ : tuple
        History of the selection; see the method.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    ``transform`` returns the coefficients of new rows in the selected rows, ``X[:, cols] @ link_``: it uses only the
    selected columns. ``inverse_transform(transform(X))`` is ``X[:, cols] @ link_ @ components_``, for the data of
    the fit the decomposition itself.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CUR
    >>> X = np.outer([1.0, -2.0, 3.0], [2.0, 0.0, -1.0]) + np.outer([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    >>> model = CUR(n_rows=2, n_cols=2).fit(X)
    >>> round(model.score(X), 6)
    1.0
    """

    _signed = True

    def __init__(
        self,
        n_rows: int = 10,
        n_cols: int = 10,
        *,
        method: Method = "leverage",
        link: str = "optimal",
        random_state: Any = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.method = method
        self.link = link
        self.random_state = random_state

    def _fit(self, M: LocalMatrix) -> None:
        """Select rows and columns of X and find the matrix that links them."""
        check_count(self.n_rows, "n_rows", M.shape[0], "n_samples")
        check_count(self.n_cols, "n_cols", M.shape[1], "n_features")
        check_choice(self.link, "link", LINKS)
        check_random(self.random_state)
        known = {name: partial(cur, method=name) for name in METHODS}
        method = method_named(self.method, known, "X", "n_rows", "n_cols")
        options = options_for(method, random_state=self.random_state)
        chosen = method(selector_input(self.method, M), self.n_rows, self.n_cols, **options)
        selection = check_selected(chosen, method, ("row_indices", "col_indices"))
        factors = link_selected(M, selection, self.link)
        self._store(factors, selection)
        self.components_ = factors.col_factor
        self.link_ = np.asarray(factors.core)
        self.n_cols_, self.n_rows_ = self.link_.shape
        self.reconstruction_err_ = frobenius_error(M, factors)

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        U, shift = unit_scaled(self.link_)
        return in_data_units(M, M.take(cols=self.col_indices_) @ U, shift)
