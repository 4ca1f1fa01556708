"""SeparableNMF: a matrix explained by a few of its columns, or of its rows."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.base import Factorizer, frobenius_error
from cosep.estimators.growing import GrownSide, check_kept, check_same_entries, larger_model
from cosep.fit.pools import pool_by_position
from cosep.fit.preselect_sizes import check_preselect
from cosep.fit.selector import selector_input
from cosep.matrix.checks import check_choice, check_count, check_random
from cosep.matrix.local import LocalMatrix
from cosep.records.selection import SelectionWarning
from cosep.select import COLUMN_SELECTORS
from cosep.select.method import Method, check_selected, method_named, options_for
from cosep.select.pool import Pool
from cosep.select.preselected import preselected
from cosep.select.warn import warn_if_fewer
from cosep.solve.mix import mix


class SeparableNMF(Factorizer):
    """Explain a nonnegative matrix by a few of its columns, ``X ~ X[:, cols] @ H``, or of its rows, ``W @ X[rows]``.

    With ``method="spa"`` these are SPAC and SPAR of Pan and Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023), who
    select by ``functools.partial(spa, normalize=False)``.

    Parameters
    ----------
    n_components : int
        How many columns or rows to select.
    method : str or callable, default "spa"
        Name of a selector of columns, such as "spa", "snpa" or "fgm" (docs/selectors.md describes all of them; an
        unknown name raises ValueError and lists them), or any function ``(X, r) -> Selection`` of columns.
    axis : {"columns", "rows"}
        Which to select.
    preselect : int or None
        Select among this many candidates, which stand for clusters of the others; see `preselect`. Candidates make
        large data small, but the best columns may not be among them. Default: None, which keeps all.
    random_state : int, RandomState instance or None
        Seed for methods that draw random numbers, such as "xray".
    pool : Pool, optional
        Which columns or rows may be selected, and which must be. Columns by position or by name.

    Attributes
    ----------
    col_indices_, row_indices_ : ndarray of int or None
        The selected columns or rows, best first; None for the side that is not selected.
    selected_features_ : ndarray of str
        Names of the selected columns, if columns were selected and X has names.
    n_components_ : int
        How many were selected: fewer than asked for, with a warning, if all others are mixes of these.
    components_ : ndarray of shape (n_components_, n_features)
        The mixing weights of all columns, or the selected rows.
    row_factor_, col_factor_ : ndarray of shape (m, n_components_) and (n_components_, n_features)
        The selected columns and their mixing weights, or the mixing weights of all rows and the selected rows.
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share; -1 for an all-zero row or column.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    col_fidelity_, row_fidelity_ : float or None
        How much of X the selected columns or rows explain; 1 is all of it. None for the other side, and for
        ``core_fidelity_``, which only a selection of both sides has.
    gap_ : float or None
        Relative duality gap of the selection, if the method has one.
    history_ : tuple
        History of the selection; see the method.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import SeparableNMF
    >>> X = np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> model = SeparableNMF(n_components=2).fit(X)
    >>> model.col_indices_, model.score(X)
    (array([0, 1]), 1.0)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        method: Method = "spa",
        axis: str = "columns",
        preselect: int | None = None,
        random_state: Any = None,
        pool: Pool | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.axis = axis
        self.preselect = preselect
        self.random_state = random_state
        self.pool = pool

    def _fit(self, M: LocalMatrix) -> None:
        """Select columns or rows of X and find their mixing weights."""
        by_columns = check_choice(self.axis, "axis", ("columns", "rows")) == "columns"
        side, limit_name = (M, "n_features") if by_columns else (M.T, "n_samples")
        check_count(self.n_components, "n_components", side.shape[1], limit_name)
        check_random(self.random_state)
        names = getattr(self, "feature_names_in_", None) if by_columns else None
        method = method_named(self.method, COLUMN_SELECTORS, "X", "r")
        options = options_for(method, pool=pool_by_position(self.pool, names, "pool"), random_state=self.random_state)
        select = preselected(method, cols=check_preselect(self.preselect, self.n_components, "n_components"))
        with warnings.catch_warnings():
            # The warning of a selector names columns, also where these are rows of X; the one below names the side.
            warnings.simplefilter("ignore", SelectionWarning)
            found = select(selector_input(self.method, side), self.n_components, **options)
        chosen = check_selected(found, method, ("col_indices",))
        warn_if_fewer(chosen.col_indices, self.n_components, self.axis)
        selection = chosen if by_columns else chosen.T
        factors = mix(M, selection)
        self._store(factors, selection)
        self._store_fidelity(M, factors)
        self.components_ = factors.col_factor
        self.n_components_ = len(self.components_)
        self.reconstruction_err_ = frobenius_error(M, factors)

    def grow(self, X: Any, n_components: int | None = None) -> Self:
        """Return a larger model that keeps all selected columns (rows), first and in their order.

        It has the same parameters, except that its pool includes what this model has selected. This model does not
        change.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features)
            The data of the fit. If columns are selected, the rows may be others; if rows are, further ones may follow.
        n_components : int, optional
            How many the larger model selects in all. Default: as many as this one.

        Returns
        -------
        SeparableNMF
            A fitted model.

        Raises
        ------
        ValueError
            If ``n_components`` is smaller than before, X is not the data of the fit, or the method has no pool.

        Examples
        --------
        >>> from cosep import SeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 6, 6, noise=0.05, random_state=0)
        >>> model = SeparableNMF(n_components=3).fit(X)
        >>> (model.grow(X, 5).col_indices_[:3] == model.col_indices_).all()
        np.True_
        """
        check_is_fitted(self)
        selector = method_named(self.method, COLUMN_SELECTORS, "X", "r")
        M = self._matrix(X, reset=False)
        by_columns = self.col_indices_ is not None
        where, limit = ("col_indices_", "n_features") if by_columns else ("row_indices_", "n_samples")
        chosen = np.asarray(getattr(self, where))
        sides = [GrownSide("n_components", "pool", n_components, chosen, where, M.shape[int(by_columns)], limit)]
        larger = larger_model(self, sides, selector, self.method)
        if not by_columns:
            check_same_entries(M, chosen, None, self.components_)
        return check_kept(larger.fit(X), sides, self.method)

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        if self.col_indices_ is not None:
            return M.in_units(M.take(cols=self.col_indices_)).astype(M.dtype)
        return super()._mixtures(M)
