"""Data enters, fitted scikit-learn estimators leave: check once, call one function, store."""

import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, BiclusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cosep.factorization import Callback, Factorization, Selection, SelectionWarning
from cosep.matrix.checks import as_matrix, check_callback, check_choice, check_count, check_random
from cosep.matrix.local import LocalMatrix
from cosep.mixing import coefficients, mix
from cosep.scaling import SCALINGS, scale
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS
from cosep.select.pool import Pool
from cosep.select.spa import warn_if_fewer

Method = str | Callable[..., Selection]


class _Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the estimators share: input with names, rows as mixtures of `components_`, reconstruction and score."""

    components_: NDArray[Any]
    selected_features_: NDArray[Any]

    def transform(self, X: Any) -> NDArray[Any]:
        """Explain new rows by the fitted components.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)

        Returns
        -------
        ndarray of shape (m_new, n_components)
        """
        check_is_fitted(self)
        return self._mixtures(self._matrix(X, reset=False))

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that mixtures of the components stand for, ``X @ components_``.

        Parameters
        ----------
        X : array-like of shape (m_new, n_components)

        Returns
        -------
        ndarray of shape (m_new, n_features)
        """
        check_is_fitted(self)
        return _product(X, self.components_, "components")

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn passes y
        """Return ``1 - ||X - inverse_transform(transform(X))||_F / ||X||_F``: 1 is exact, 0 no better than nothing.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        M = self._matrix(X, reset=False)
        return 1.0 - Factorization(self._mixtures(M), None, self.components_).relative_error(M)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _matrix(self, X: Any, *, reset: bool) -> LocalMatrix:
        """Check X and keep, or compare, the number and names of its features."""
        M = as_matrix(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return M

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        """Solve ``min ||M - U components_||_F`` over ``U >= 0``."""
        exponent = int(np.frexp(self.components_.max(initial=0.0))[1])
        H = np.ldexp(self.components_.astype(np.float64), -exponent)
        return np.ldexp(coefficients(M, H), M.exponent - exponent).astype(M.dtype)

    def _store(self, factorization: Factorization, selection: Selection) -> None:
        """Set the attributes that every estimator has."""
        self.row_indices_, self.col_indices_ = selection.row_indices, selection.col_indices
        self.row_factor_, self.col_factor_ = factorization.row_factor, factorization.col_factor
        self.row_labels_, self.column_labels_ = factorization.row_labels, factorization.col_labels
        self.gap_, self.history_ = selection.gap, selection.history
        if hasattr(self, "selected_features_"):
            del self.selected_features_
        if hasattr(self, "feature_names_in_") and selection.col_indices is not None:
            self.selected_features_ = self.feature_names_in_[selection.col_indices]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class CoSeparableNMF(BiclusterMixin, _Factorizer):
    """Explain a nonnegative matrix by a few of its rows and columns: ``X ~ P1 @ X[rows][:, cols] @ P2``.

    J. Pan and M. K. Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023.

    Parameters
    ----------
    n_rows, n_cols : int
        How many rows and columns to select.
    method : {"cosfgm", "spa"} or callable
        How to select: a function of this package by name, or any ``(X, n_rows, n_cols) -> Selection``.
    scaling : {"rows", "columns", "degree", "sinkhorn"} or None
        Select on the matrix scaled by this rule. The factors are always those of X itself.
    max_iter : int
        Alternations of the fit at the most.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    random_state : int, RandomState instance or None
        Handed to methods that draw random numbers. Those offered by name draw none.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be selected, and which must be. Columns by position or by name.
    callback : callable, optional
        Called as ``callback(stage, step, most_steps, relative_error)`` while ``fit`` goes on; the stages are
        "select" and "mix".

    Attributes
    ----------
    row_indices_, col_indices_ : ndarray of int
        The selected rows and columns, best first.
    selected_features_ : ndarray of str
        Names of the selected columns, if X has names.
    n_rows_, n_cols_ : int
        How many were selected: fewer than asked for, with a warning, if the others are mixes of these.
    core_ : ndarray of shape (n_rows_, n_cols_)
        ``X[rows][:, cols]``.
    row_factor_, col_factor_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        The nonnegative factors with the smallest error that was found.
    components_ : ndarray of shape (n_rows_, n_features)
        ``core_ @ col_factor_``.
    row_weights_, col_weights_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share in the refitted factors; -1 for an all-zero row or column. The k-th
        component starts from the k-th selected row or column, but refitting may move it: ``row_weights_`` and
        ``col_weights_`` tell what the selected ones themselves explain.
    rows_, columns_ : ndarray of bool, of shape (n_rows_, m) and (n_rows_, n_features)
        One bicluster for each component: the rows with its label, and the columns with the label that it is tied to
        most through the core.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    n_iter_ : int
        Alternations of the fit.
    gap_ : float or None
        Relative duality gap of the selection, where the method has one.
    history_ : tuple
        How the selection went; see the method.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable
    >>> X, truth = make_coseparable(60, 40, 4, 4, random_state=0)
    >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
    >>> set(model.row_indices_) == set(truth.row_indices)
    True
    >>> model.core_.shape, round(model.score(X), 6)
    ((4, 4), 1.0)
    """

    def __init__(
        self,
        n_rows: int = 10,
        n_cols: int = 10,
        *,
        method: Method = "cosfgm",
        scaling: str | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        row_pool: Pool | None = None,
        col_pool: Pool | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.method = method
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.row_pool = row_pool
        self.col_pool = col_pool
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Select rows and columns of X and fit the factors.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features)
        y : ignored

        Returns
        -------
        self
        """
        M = self._matrix(X, reset=True)
        check_count(self.n_rows, "n_rows", M.shape[0], "n_samples")
        check_count(self.n_cols, "n_cols", M.shape[1], "n_features")
        if self.scaling is not None:
            check_choice(self.scaling, "scaling", SCALINGS)
        check_callback(self.callback)
        check_random(self.random_state)
        names = getattr(self, "feature_names_in_", None)
        method = _method(self.method, BOTH_SELECTORS)
        options = _options(
            method,
            row_pool=_by_position(self.row_pool, None, "row_pool"),
            col_pool=_by_position(self.col_pool, names, "col_pool"),
            callback=self.callback,
            random_state=self.random_state,
        )
        scaled = M if self.scaling is None else scale(M, self.scaling)[0]
        chosen = method(scaled.values, self.n_rows, self.n_cols, **options)
        selection = _selection(chosen, method, ("row_indices", "col_indices"))
        factors = mix(M, selection, max_iter=self.max_iter, tol=self.tol, callback=self.callback)
        self._store(factors, selection)
        self.core_ = np.asarray(factors.core)
        self.n_rows_, self.n_cols_ = self.core_.shape
        self.components_ = self.core_ @ factors.col_factor
        self.row_weights_, self.col_weights_ = np.asarray(factors.row_weights), np.asarray(factors.col_weights)
        self.rows_, self.columns_ = _biclusters(factors)
        self.n_iter_ = len(factors.meta["objective"]) - 1
        self.reconstruction_err_ = _error(M, factors)
        return self

    def complete(self, X: Any) -> NDArray[Any]:
        """Return full rows from their selected columns alone, ``X @ col_weights_``.

        Parameters
        ----------
        X : array-like of shape (m_new, n_cols_)
            The selected columns of new rows, in the order of ``col_indices_``; a data frame may have them in any
            order, and others besides, if the names were known at fit time.

        Returns
        -------
        ndarray of shape (m_new, n_features)
        """
        check_is_fitted(self)
        if hasattr(self, "selected_features_") and hasattr(X, "columns"):
            missing = [name for name in self.selected_features_ if name not in set(X.columns)]
            if missing:
                msg = f"X lacks the selected columns {missing}; measure all of selected_features_."
                raise ValueError(msg)
            X = X[list(self.selected_features_)]
        return _product(X, self.col_weights_, "selected columns")


class SeparableNMF(_Factorizer):
    """Explain a nonnegative matrix by a few of its columns, ``X ~ X[:, cols] @ H``, or of its rows, ``W @ X[rows]``.

    Parameters
    ----------
    n_components : int
        How many columns or rows to select.
    method : {"spa", "fgm"} or callable
        How to select: a function of this package by name, or any ``(X, r) -> Selection`` of columns.
    axis : {"columns", "rows"}
        Which to select.
    random_state : int, RandomState instance or None
        Handed to methods that draw random numbers. Those offered by name draw none.
    pool : Pool, optional
        Which columns or rows may be selected, and which must be. Columns by position or by name.

    Attributes
    ----------
    col_indices_, row_indices_ : ndarray of int or None
        The selected columns or rows, best first; None for the side that is not selected.
    selected_features_ : ndarray of str
        Names of the selected columns, if columns were selected and X has names.
    n_components_ : int
        How many were selected: fewer than asked for, with a warning, if the others are mixes of these.
    components_ : ndarray of shape (n_components_, n_features)
        The mixing weights of all columns, or the selected rows.
    row_factor_, col_factor_ : ndarray of shape (m, n_components_) and (n_components_, n_features)
        The selected columns and their mixing weights, or the mixing weights of all rows and the selected rows.
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share; -1 for an all-zero row or column.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    gap_ : float or None
        Relative duality gap of the selection, where the method has one.
    history_ : tuple
        How the selection went; see the method.
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
        random_state: Any = None,
        pool: Pool | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.axis = axis
        self.random_state = random_state
        self.pool = pool

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Select columns or rows of X and find their mixing weights.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features)
        y : ignored

        Returns
        -------
        self
        """
        M = self._matrix(X, reset=True)
        by_columns = check_choice(self.axis, "axis", ("columns", "rows")) == "columns"
        side, limit_name = (M, "n_features") if by_columns else (M.T, "n_samples")
        check_count(self.n_components, "n_components", side.shape[1], limit_name)
        check_random(self.random_state)
        names = getattr(self, "feature_names_in_", None) if by_columns else None
        method = _method(self.method, COLUMN_SELECTORS)
        options = _options(method, pool=_by_position(self.pool, names, "pool"), random_state=self.random_state)
        with warnings.catch_warnings():
            # A selector speaks of columns, whatever they are; what it has to say is said here.
            warnings.simplefilter("ignore", SelectionWarning)
            chosen = _selection(method(side.values, self.n_components, **options), method, ("col_indices",))
        warn_if_fewer(chosen.col_indices, self.n_components, self.axis)
        selection = chosen if by_columns else chosen.T
        factors = mix(M, selection)
        self._store(factors, selection)
        self.components_ = factors.col_factor
        self.n_components_ = len(self.components_)
        self.reconstruction_err_ = _error(M, factors)
        return self

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        if self.col_indices_ is not None:
            return np.ldexp(M.take(cols=self.col_indices_), M.exponent).astype(M.dtype)
        return super()._mixtures(M)


def _method(method: Method, known: Mapping[str, Callable[..., Selection]]) -> Callable[..., Selection]:
    """Return the function that a name stands for, or the function itself."""
    return method if callable(method) else known[check_choice(method, "method", known)]


def _selection(chosen: Any, method: Callable[..., Selection], sides: tuple[str, ...]) -> Selection:
    """Refuse what is no choice of the sides that are needed."""
    if not isinstance(chosen, Selection) or any(getattr(chosen, side) is None for side in sides):
        msg = f"method={method!r} must return a Selection with {' and '.join(sides)}, got {chosen!r}."
        raise ValueError(msg)
    return chosen


def _options(method: Callable[..., Selection], **wishes: Any) -> dict[str, Any]:
    """Return the wishes that were made; one that the method cannot take is an error, a mere seed or callback is not."""
    try:
        parameters = signature(method).parameters
    except ValueError as error:
        msg = f"method={method!r} must be a function of X and the numbers to select ({error})."
        raise ValueError(msg) from error
    options = {}
    for name, wish in wishes.items():
        if wish is None:
            continue
        if name in parameters:
            options[name] = wish
        elif name.endswith("pool"):
            msg = f"{name}={wish!r} was given, but method={method!r} takes no {name}; use one that does, or drop it."
            raise ValueError(msg)
    return options


def _by_position(pool: Pool | None, names: NDArray[Any] | None, side: str) -> Pool | None:
    """Return the pool with names replaced by positions."""
    if not isinstance(pool, Pool):
        return pool
    return Pool(_positions(pool.candidates, names, side), _positions(pool.include, names, side))


def _positions(wanted: Any, names: NDArray[Any] | None, side: str) -> Any:
    if isinstance(wanted, str):
        msg = f"{side}={wanted!r} must be a list of names or positions, not a single text; write [{wanted!r}]."
        raise ValueError(msg)
    wanted = list(wanted) if isinstance(wanted, (set, frozenset)) else wanted
    if wanted is None or np.asarray(wanted).dtype.kind not in "UO":
        return wanted
    where = {} if names is None else {name: position for position, name in enumerate(names)}
    unknown = [name for name in wanted if name not in where]
    if unknown:
        known = "X has no such names" if names is None else f"X has {list(names[:3])}, ..."
        msg = f"{side} names {unknown[:3]}, but {known}; give positions, or names of the columns of a data frame."
        raise ValueError(msg)
    return [where[name] for name in wanted]


def _biclusters(factors: Factorization) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the indicator matrices of rows and columns, one bicluster a selected row."""
    rows = factors.row_labels == np.arange(factors.row_factor.shape[1])[:, None]
    strengths = np.linalg.norm(factors.col_factor.astype(np.float64), axis=1)
    partner = (factors.core * strengths).argmax(axis=1)
    return np.asarray(rows), np.asarray(factors.col_labels == partner[:, None])


def _error(M: LocalMatrix, factors: Factorization) -> float:
    return float(np.ldexp(factors.relative_error(M) * np.sqrt(M.squared_norm()), M.exponent))


def _product(X: Any, right: NDArray[Any], what: str) -> NDArray[Any]:
    """Return ``X @ right`` for a checked X whose columns are what ``right`` expects."""
    M = as_matrix(X)
    if M.shape[1] != len(right):
        msg = f"X has {M.shape[1]} columns, but the model has {len(right)} {what}; pass exactly those."
        raise ValueError(msg)
    return np.ldexp(M.dot(right.astype(np.float64)), M.exponent).astype(M.dtype)
