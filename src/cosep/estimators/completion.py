"""Completion: rows predicted from their selected columns, and how well that works."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.base import Factorizer
from cosep.fit.completion import column_scores, judged, score_sums
from cosep.fit.products import predictions, product
from cosep.fit.result import FitResult
from cosep.matrix.to_row_blocks import row_blocks
from cosep.records.column_scores import ColumnScores
from cosep.records.decoder import Decoder
from cosep.records.panel_moments import PanelMoments
from cosep.solve.decoders import decoder_named
from cosep.utils.messages import shown


class Completion(Factorizer):
    """Base class of the estimators that predict all columns of a row from those that they selected."""

    col_indices_: Any
    col_weights_: NDArray[Any]
    n_cols: int
    result_: FitResult

    def _panel(self) -> PanelMoments:
        """Return the moments of the columns in the fit."""
        if self.result_.panel is None:
            msg = "The model has no means and correlations of its columns: an earlier version saved it. Fit it again."
            raise ValueError(msg)
        return self.result_.panel

    def decoder(self, name: str = "ridge") -> Decoder:
        """Return what `complete` predicts with: weights, intercepts, and the error to expect of each column.

        Parameters
        ----------
        name : {"ridge", "nonnegative", "weights"}
            See `complete`.

        Returns
        -------
        Decoder
            ``error`` is in the units of X, ``r2`` relative to the spread of the column, and ``unpredictable`` are the
            columns that are predicted no better than by their mean.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.005, random_state=0)
        >>> decoder = CoSeparableNMF(n_rows=4, n_cols=4).fit(X).decoder()
        >>> decoder.error.shape, len(decoder.unpredictable)
        ((40,), 0)
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return decoder_named(name, self._panel(), np.asarray(self.col_indices_), self.col_weights_, names)

    def complete(self, X: Any, *, decoder: str = "ridge") -> NDArray[Any]:
        """Return full rows from their selected columns alone.

        Parameters
        ----------
        X : array-like of shape (m_new, n_cols_)
            The selected columns of new rows, in the order of ``col_indices_``; a data frame may have them in any
            order, and others besides, if the names were known at fit time.
        decoder : {"ridge", "nonnegative", "weights"}
            How to predict the other columns. "ridge", the default: linear regression with an intercept, its slopes
            shrunk by a strength that is found for each column by generalised cross-validation. "nonnegative": least
            squares with nonnegative slopes and an intercept; easier to read, and nearly as good. Both count a selected
            column as at most twice the largest entry of the fit, and predict nothing below zero. "weights": the
            nonnegative weights of the model, ``X @ col_weights_``, without an intercept. They fit rows that are
            mixtures of a few parts, also far larger ones than those of the fit, and are poor if columns do not fall
            to zero together, as most measurements.

        Returns
        -------
        ndarray of shape (m_new, n_features)
            A lazy Dask array if X is one, a data frame with the names of all columns after
            ``set_output(transform="pandas")``.

        See Also
        --------
        decoder : The weights, and the error to expect of each column.
        column_scores : The error of each column in rows that are known.

        Notes
        -----
        "ridge" and "nonnegative" minimise the squared error in the units of X over the rows of the fit, a row of weight
        w counting as w rows. The norm of the model does not change them: each column is predicted on its own, and an
        error counts alike in all rows.
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
        predict = partial(self._completed, found=self.decoder(decoder))
        full: NDArray[Any] = _Completed(predict, names).set_output(transform=form).transform(X)
        return full

    def _completed(self, X: Any, found: Decoder) -> NDArray[Any]:
        return product(X, self.col_weights_, "selected columns") if found.name == "weights" else predictions(X, found)

    def column_scores(self, X: Any, *, decoder: str = "ridge") -> ColumnScores:
        """Return how well `complete` predicts each column of given rows: R^2, and the error in units of its spread.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows
            Full rows. Pass rows that were not in ``fit``: a model looks better than it is on those it was fitted to.
        decoder : {"ridge", "nonnegative", "weights"}
            See `complete`.

        Returns
        -------
        ColumnScores
            ``r2`` and ``error`` of each column, their ``mean`` and ``median``, and the ``unpredictable`` columns.

        Raises
        ------
        ValueError
            If all columns were selected, or all others are constant in X.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, noise=0.005, random_state=0)
        >>> scores = CoSeparableNMF(n_rows=4, n_cols=4).fit(X[:40]).column_scores(X[40:])
        >>> 0.8 < scores.median < 1, len(scores.unpredictable)
        (True, 0)
        """
        check_is_fitted(self)
        found = self.decoder(decoder)
        state = judged(found, self._panel().means)
        if len(found.predicted) == 0:
            msg = f"n_cols={len(found.col_indices)} selected all columns of X, so that none is left to predict; "
            raise ValueError(msg + "select fewer.")
        if self._is_in_blocks(X):
            sums = self._blocks(row_blocks(X), reset=False).reduce(score_sums, state)
        else:
            sums = score_sums(state, self._matrix(X, reset=False), 0)
        scores = column_scores(state, sums)
        if len(scores.scored) == 0:
            msg = f"X has {sums.n_rows} rows in which no column that is to be predicted varies, so that there is "
            raise ValueError(msg + "nothing to score; pass rows that differ.")
        return scores

    def completion_score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn passes y
        """Return the mean R^2 of the columns that `complete` predicts: 1 is exact, 0 as good as their means.

        Only the columns that were not selected count, each as much as any other, whatever its unit is. See
        `column_scores` for the figures of each column, and their median.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows
            Full rows. Pass rows that were not in ``fit``.
        y : ignored

        Returns
        -------
        float

        See Also
        --------
        complete : Predict rows from their selected columns.
        score : How well the refitted components explain rows of which all columns are known.

        Notes
        -----
        It can be used as a scorer: ``GridSearchCV(..., scoring=CoSeparableNMF.completion_score)``.
        """
        return self.column_scores(X).mean


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
