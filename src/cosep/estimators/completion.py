"""Full rows from their selected columns: prediction, and how good it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.base import Factorizer
from cosep.fit.completion import completion_errors
from cosep.fit.products import product
from cosep.utils.messages import shown
from cosep.utils.types import Indices


class Completion(Factorizer):
    """Base class of `CoSeparableNMF` that predicts columns from the selected ones."""

    n_cols: int
    col_indices_: Indices | None
    col_weights_: NDArray[Any]

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
            A data frame with the names of all columns after ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        if hasattr(self, "selected_features_") and hasattr(X, "columns"):
            missing = [name for name in self.selected_features_ if name not in set(X.columns)]
            if missing:
                msg = f"X lacks the selected columns {shown(missing[:3])}; measure all of selected_features_."
                raise ValueError(msg)
            X = X[list(self.selected_features_)]
        names = self._names_of_columns()
        if names is None:
            names = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
        form = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        full: NDArray[Any] = _Completed(self._completed, names).set_output(transform=form).transform(X)
        return full

    def _completed(self, X: Any) -> NDArray[Any]:
        return product(X, self.col_weights_, "selected columns")

    def completion_score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn passes y
        """Return ``1 - median_i ||x_i(N) - x_i(K) V||^2 / ||x_i(N)||^2``: how well `complete` predicts; 1 is exact.

        Norms are those of the model. K are the selected columns, N the others, and ``V = col_weights_[:, N]``. Only N
        counts: the selected columns are given, not predicted. Half of the rows are predicted better than this and half
        worse; large rows do not count more than small ones. 0 is as good as predicting zeros, and a worse prediction is
        negative.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
            Full rows. Pass rows that were not in ``fit``: a model looks better than it is on those it was fitted to.
            Rows that are zero outside the selected columns have no relative error and are left out.
        y : ignored

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If all columns were selected, or all rows of X are zero outside the selected columns.

        See Also
        --------
        complete : Predict rows from their selected columns.
        score : How well the refitted components explain rows of which all columns are known.

        Notes
        -----
        It can be used as a scorer: ``GridSearchCV(..., scoring=CoSeparableNMF.completion_score)``.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.05, random_state=0)
        >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X[:40])
        >>> 0.8 < model.completion_score(X[40:]) < 1
        True
        """
        check_is_fitted(self)
        M = self._matrix(X, reset=False)
        cols = np.asarray(self.col_indices_)
        others = np.setdiff1d(np.arange(M.shape[1]), cols)
        if others.size == 0:
            msg = f"n_cols={self.n_cols} selected all columns of X, so that none is left to predict; select fewer."
            raise ValueError(msg)
        V, scale = self.col_weights_[:, others].astype(np.float64), self._norm(M.shape[1]).cols[others]
        errors = completion_errors(M, cols, others, V, scale)
        if errors.size == 0:
            msg = "X is zero outside the selected columns, where it is to be predicted; pass rows that are not."
            raise ValueError(msg)
        with np.errstate(over="ignore"):
            return 1.0 - float(np.median(errors**2))


class _Completed(TransformerMixin, BaseEstimator):
    """A transformer with the names of the original columns, for the containers of ``set_output``."""

    def __init__(self, complete: Callable[[Any], NDArray[Any]], names: NDArray[Any]) -> None:
        self.complete = complete
        self.names = names

    def transform(self, X: Any) -> NDArray[Any]:
        """Return full rows."""
        return self.complete(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn passes it
        """Return the names of all columns."""
        return self.names
