"""GeneralizedSeparableNMF: a matrix explained by a few of its rows plus a few of its columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.estimators.base import Factorizer, frobenius_error
from cosep.fit.preselect_sizes import check_preselect_pair
from cosep.fit.products import check_finite, unit_scaled
from cosep.fit.selector import selector_input
from cosep.matrix.checks import check_callback, check_number, check_positive, check_random
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import Selection
from cosep.select import EITHER_SELECTORS
from cosep.select.gspa import check_split
from cosep.select.method import Method, method_named, options_for
from cosep.select.preselected import preselected
from cosep.solve.mix_generalized import mix_generalized, row_weights
from cosep.utils.messages import shown
from cosep.utils.precision import narrow
from cosep.utils.types import Callback
from cosep.utils.verbose import with_verbose


class GeneralizedSeparableNMF(Factorizer):
    """Explain a nonnegative matrix by a few of its rows plus a few of its columns: ``P1 @ X[rows] + X[:, cols] @ P2``.

    J. Pan and N. Gillis, IEEE Trans. Pattern Anal. Mach. Intell. 43, 1546-1561, 2021,
    doi:10.1109/TPAMI.2019.2956046.

    Parameters
    ----------
    n_components : int, optional
        How many rows and columns to select in all; the method decides how many of each, possibly none of one side.
    n_rows, n_cols : int, optional
        How many of each. If ``n_components`` is given too, these are the largest numbers. One of them may be 0.
    method : {"gspa", "gsfgm"} or callable
        How to select: a function of this package by name, or any ``(X, r, n_rows=..., n_cols=...) -> Selection``; it
        is called with ``n_components``, ``n_rows`` and ``n_cols`` as given.
    preselect : int, pair of int or None
        Select among this many candidate rows and columns, which stand for clusters of the others; see `preselect`.
        Candidates make large data small, but the best ones may not be among them. Default: None, which keeps all of a
        side.
    max_iter : int
        Largest number of alternations of the fit.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    random_state : int, RandomState instance or None
        Passed to methods that draw random numbers; the named ones do not.
    callback : callable, optional
        Called as ``callback(stage, step, n_steps, relative_error)`` during ``fit``; the stages are
        "preselect", "select" and "mix".
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.

    Attributes
    ----------
    row_indices_, col_indices_ : ndarray of int or None
        The selected rows and columns, best first; None for a side of which none was selected.
    selected_features_ : ndarray of str
        Names of the selected columns, if there are any and X has names.
    n_rows_, n_cols_ : int
        How many were selected: fewer in all than asked for, with a warning, if the others are explained by these.
    row_factor_ : ndarray of shape (m, n_rows_ + n_cols_)
        The weights P1 of the selected rows, beside the selected columns.
    col_factor_, components_ : ndarray of shape (n_rows_ + n_cols_, n_features)
        The selected rows, above the weights P2 of the selected columns.
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share; -1 for an all-zero row or column.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    n_iter_ : int
        Alternations of the fit; 1 if only one side was selected, which needs none.
    gap_ : None
    history_ : tuple
        History of the selection; see the method.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    ``transform`` explains a new row x by the selected rows after its own entries in the selected columns have
    explained their part: ``x ~ p @ X[rows] + x[cols] @ P2`` with the best ``p >= 0``. It returns ``[p, x[cols]]``.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import GeneralizedSeparableNMF
    >>> X = np.outer([1, 0.5, 1, 0.2], [0, 4, 1, 0]) + np.outer([0, 1, 5, 2], [1, 0, 1, 1])
    >>> model = GeneralizedSeparableNMF(n_rows=1, n_cols=1).fit(X)
    >>> model.row_indices_, model.col_indices_, round(model.score(X), 3)
    (array([0]), array([0]), 1.0)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_rows: int | None = None,
        n_cols: int | None = None,
        method: Method = "gspa",
        preselect: int | tuple[int | None, int | None] | None = None,
        max_iter: int = 1000,
        tol: float = 1e-7,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.method = method
        self.preselect = preselect
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _fit(self, M: LocalMatrix) -> None:
        """Select rows and columns of X and fit their weights."""
        check_split(M.shape, self.n_components, self.n_rows, self.n_cols, name="n_components")
        check_callback(self.callback)
        callback = with_verbose(self.callback, self.verbose)
        check_random(self.random_state)
        max_iter, tol = check_positive(self.max_iter), check_number(self.tol, "tol", 0.0)
        method = method_named(self.method, EITHER_SELECTORS, "X", "r", keywords=("n_rows", "n_cols"))
        options = options_for(method, callback=callback, random_state=self.random_state)
        select = preselected(method, *check_preselect_pair(self.preselect, self.n_rows or 1, self.n_cols or 1))
        if self.preselect is not None and callback is not None:
            options["callback"] = callback
        X = selector_input(self.method, M)
        selection = select(X, self.n_components, n_rows=self.n_rows, n_cols=self.n_cols, **options)
        if not isinstance(selection, Selection):
            msg = f"method={shown(method)} must return a Selection, got {shown(selection)}."
            raise ValueError(msg)
        factors = mix_generalized(M, selection, max_iter=max_iter, tol=tol, callback=callback)
        self._store(factors, selection)
        self.components_ = factors.col_factor
        self.n_rows_ = 0 if selection.row_indices is None else len(selection.row_indices)
        self.n_cols_ = len(self.components_) - self.n_rows_
        self.n_iter_ = max(1, len(factors.meta.get("objective", ())) - 1)
        self.reconstruction_err_ = frobenius_error(M, factors)

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        parts = []
        H, P2 = (part.astype(np.float64) for part in np.split(self.components_, [self.n_rows_]))
        C = np.zeros((M.shape[0], 0)) if self.col_indices_ is None else M.take(cols=self.col_indices_)
        if self.n_rows_:
            H, shift = unit_scaled(H)
            parts.append(check_finite(M.in_units(row_weights(M, C, H, P2), shift=-shift)))
        parts.append(M.in_units(C))
        return narrow(np.hstack(parts), M.dtype)
