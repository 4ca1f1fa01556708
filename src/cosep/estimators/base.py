"""Base classes of the estimators: checks of input, and mixtures of components."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cosep.fit.block_mixtures import RowModel, SquaredErrors, block_errors, block_mixtures
from cosep.fit.products import is_blockwise, product, unit_scaled
from cosep.matrix.frame_names import frame_row_names
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm, RowRule
from cosep.matrix.row_blocks import Column, RowBlocks
from cosep.matrix.scaling import check_weights
from cosep.matrix.to_row_blocks import own_blocks, row_blocks
from cosep.matrix.validation import NotNumbersError, as_matrix
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.solve.labels import partner_clusters
from cosep.solve.mixtures import mixtures
from cosep.utils.display import View, as_html, grid_of
from cosep.utils.lookup import distinct_names, names_at
from cosep.utils.messages import one_line, shown
from cosep.utils.types import Array, Table


class Model(BaseEstimator):
    """Base class of all estimators: input with names, and the attributes of a factorization."""

    # Whether X may have negative entries.
    _signed = False
    # Whether X may be in blocks of rows, of Dask or not.
    _blockwise = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._is_in_blocks(X)
        matrix = self._matrix(X, reset=True)
        self._row_names = frame_row_names(X)
        self._fit(matrix)
        return self

    def _fit(self, M: LocalMatrix) -> None:
        """Fit a checked matrix and set the attributes."""
        raise NotImplementedError

    @property
    def factorization_(self) -> Factorization:
        """All factors, labels and names as one record."""
        check_is_fitted(self)
        return self._factorization

    @property
    def selected_samples_(self) -> NDArray[Any]:
        """Names of the selected rows; AttributeError if no rows were selected or X is not a data frame with names."""
        names = self._names_of_selected_rows()
        if names is None:
            msg = (
                f"{type(self).__name__} has no selected_samples_: X was not a data frame whose index has names, or no "
                "rows were selected."
            )
            raise AttributeError(msg)
        return names

    def _names_of_selected_rows(self) -> NDArray[Any] | None:
        """Return the names of the selected rows, None if there are none."""
        rows, names = getattr(self, "row_indices_", None), getattr(self, "_row_names", None)
        return None if rows is None or names is None else np.asarray(names[rows])

    @property
    def selected_features_(self) -> NDArray[Any]:
        """Names of the selected columns; AttributeError if no columns were selected or X has no names."""
        cols, names = getattr(self, "col_indices_", None), self._names_of_columns()
        if cols is None or names is None:
            msg = (
                f"{type(self).__name__} has no selected_features_: X had no column names, or no columns were selected."
            )
            raise AttributeError(msg)
        return np.asarray(names[cols])

    def _names_of_columns(self) -> NDArray[Any] | None:
        """Return the names of all columns, None if there are none."""
        return getattr(self, "feature_names_in_", None)

    def _is_in_blocks(self, X: Any) -> bool:
        """Return whether X is in blocks of rows, of Dask or not; raise ValueError if the model cannot use them."""
        if not is_blockwise(X):
            return False
        if not self._blockwise:
            msg = (
                f"{type(self).__name__} takes X in memory only, not a Dask collection or blocks, which CoSeparableNMF "
                "takes; call X.compute() first, if it fits in memory."
            )
            raise ValueError(msg)
        return True

    def _blocks(self, blocks: RowBlocks, *, reset: bool) -> RowBlocks:
        """Store, or compare, the number and names of the features of a matrix in blocks."""
        names = blocks.col_names
        if names is None or not all(isinstance(name, str) for name in names):
            self._check_features(blocks, reset=reset)
            return blocks
        if reset:
            self.n_features_in_, self.feature_names_in_ = len(names), names
        elif not np.array_equal(names, getattr(self, "feature_names_in_", names)) or len(names) != self.n_features_in_:
            msg = (
                f"X has columns {shown(list(names[:3]))}, ..., but {type(self).__name__} was fitted to others; pass "
                "those, in order."
            )
            raise ValueError(msg)
        return blocks

    def _matrix(self, X: Any, *, reset: bool) -> LocalMatrix:
        """Check X and store, or compare, the number and names of its features."""
        M = as_matrix(X, signed=self._signed)
        self._check_features(X, reset=reset)
        return M

    def _check_features(self, X: Any, *, reset: bool) -> None:
        """Store, or compare, the number and names of features; messages are on one line, unlike scikit-learn's."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except (ValueError, TypeError) as error:
            kind = ValueError if isinstance(error, ValueError) else NotNumbersError
            reason = one_line(error)
            raise kind(reason if reason.startswith("X ") else f"X: {reason}") from error

    def _store(self, factorization: Factorization, selection: Selection | None = None) -> None:
        """Set the attributes that every estimator has, and those of the selection where there is one."""
        self._factorization = replace(
            factorization, row_names=self._row_names, col_names=getattr(self, "feature_names_in_", None)
        )
        self.row_factor_, self.col_factor_ = factorization.row_factor, factorization.col_factor
        if factorization.row_labels is not None:
            self.row_labels_, self.column_labels_ = factorization.row_labels, factorization.col_labels
        if selection is not None:
            self.row_indices_, self.col_indices_ = selection.row_indices, selection.col_indices
            self.gap_, self.history_ = selection.gap, selection.history

    def _store_fidelity(self, M: LocalMatrix, factorization: Factorization) -> None:
        """Set how much of the data the selected rows, columns and core explain before anything is refitted."""
        self.row_fidelity_, self.col_fidelity_, self.core_fidelity_, _ = factorization.fidelity(M)

    def _store_progress(self, M: LocalMatrix, factorization: Factorization) -> None:
        """Set the progress of a factorization that selects nothing, and how well it explains the data."""
        self.history_ = tuple(factorization.meta["objective"])
        self.n_iter_ = len(self.history_) - 1
        self.reconstruction_err_ = frobenius_error(M, factorization)

    def _view(self) -> View:
        """Return what a notebook shows of a fitted model, below the diagram of scikit-learn."""
        return View("Fitted model", (), (grid_of("", side_sizes(self)),))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the forms of scikit-learn; the table of a fitted model follows the diagram."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._html_table()
        return bundle

    def _repr_html_inner(self) -> str:
        return f"{super()._repr_html_inner()}{self._html_table()}"

    def _html_table(self) -> str:
        """Return the table of a fitted model as HTML; nothing before the fit."""
        if not hasattr(self, "row_factor_"):
            return ""
        try:
            return as_html(self._view())
        except Exception:  # noqa: BLE001 - a model that someone changed must still be shown
            return ""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._signed
        tags.input_tags.sparse = True
        return tags


class Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """Base class of the estimators that explain rows: mixtures of `components_`, reconstruction and score."""

    components_: NDArray[Any]

    def transform(self, X: Any) -> NDArray[Any]:
        """Explain new rows by the fitted components.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows

        Returns
        -------
        ndarray of shape (m_new, n_components)
            A lazy Dask array if Dask evaluates X.
        """
        check_is_fitted(self)
        if not self._is_in_blocks(X):
            return self._mixtures(self._matrix(X, reset=False))
        blocks = self._blocks(own_blocks(X), reset=False)
        found: NDArray[Any]
        (found,) = blocks.map_rows(block_mixtures, self._row_model(), [Column(len(self.components_), blocks.dtype)])
        return found

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that mixtures of the components stand for, ``X @ components_``.

        Parameters
        ----------
        X : array-like of shape (m_new, n_components), or a Dask array of such rows

        Returns
        -------
        ndarray of shape (m_new, n_features)
            A lazy Dask array if X is one.
        """
        check_is_fitted(self)
        self._is_in_blocks(X)
        return product(X, self.components_, "components", signed=self._signed)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002 - scikit-learn passes y
        """Return the share that is explained, ``1 - ||X - X^||^2 / ||X||^2``; 1 is exact, 0 no better than zeros.

        ``X^ = inverse_transform(transform(X))``. Norms are those of the model, and new rows count by its rule.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
        y : ignored
        sample_weight : array-like of shape (m_new,), optional
            How many copies of it a row counts as. Default: 1. A norm of given factors d has no rule for new rows, and
            all count alike; ``d**2`` as weights of the fitted rows gives the share that the fit reports.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if self._is_in_blocks(X):
            blocks = self._blocks(row_blocks(X), reset=False)
            model = self._row_model(check_weights(sample_weight, blocks.shape[0]))
            found: SquaredErrors = blocks.reduce(block_errors, model)
            return 1.0 - (found.error / found.total if found.total > 0 else 0.0)
        M = self._matrix(X, reset=False)
        norm = self._norm(M.shape[1])._replace(weights=check_weights(sample_weight, M.shape[0]))
        fitted = Factorization(self._mixtures(M), None, self.components_, scaling=norm.scaling_of(M))
        return 1.0 - fitted.relative_error(M) ** 2

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`: those of the representatives, where they have names.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
            Repeated names are numbered. Without names: "coseparablenmf0", "coseparablenmf1", ...
        """
        check_is_fitted(self)
        names = self._component_names()
        if names is None:
            numbered: NDArray[Any] = super().get_feature_names_out(input_features)
            return numbered
        return distinct_names(names)

    def _component_names(self) -> NDArray[Any] | None:
        """Return the names of what the components stand for: selected rows, or selected columns if there are none."""
        rows, cols = getattr(self, "row_indices_", None), getattr(self, "col_indices_", None)
        names = self._names_of_selected_rows() if rows is not None else getattr(self, "selected_features_", None)
        known = rows is None and cols is None
        return None if known or names is None or len(names) != self._n_features_out else names

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _norm(self, n: int) -> Norm:
        """Return the norm of the model for rows that were not fitted: the plain one unless a model has another."""
        return Norm(None, np.ones(n), RowRule())

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        """Solve ``min ||M - U components_||`` over ``U >= 0`` in the norm of the model."""
        return mixtures(M, self.components_, self._norm(M.shape[1]).cols)

    def _row_model(self, weights: Array | None = None) -> RowModel:
        """Return what explains blocks of rows: the components divided by a power of two, and the norm."""
        norm = self._norm(self.components_.shape[1])._replace(weights=weights)
        return RowModel(*unit_scaled(self.components_), norm)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def frobenius_error(M: LocalMatrix, factors: Factorization) -> float:
    """Return the norm of ``M - factors``, in the units of the data; infinite beyond the largest float."""
    return float(M.in_units(factors.relative_error(M) * np.sqrt(M.squared_norm())))


def biclusters(factors: Factorization) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the indicator matrices of rows and columns, one bicluster for each row of the core.

    The columns of a bicluster have the label for which this row of the core, times the strengths of columns, is
    largest.
    """
    rows = factors.row_labels == np.arange(factors.row_factor.shape[1])[:, None]
    partner = partner_clusters(np.asarray(factors.core), np.linalg.norm(factors.col_factor.astype(np.float64), axis=1))
    return np.asarray(rows), np.asarray(factors.col_labels == partner[:, None])


def side_sizes(model: Any) -> Table:
    """Return the components of a model: the selected rows or columns that they stand for, and the sizes of clusters."""
    r = model.row_factor_.shape[1]
    table: Table = {"component": np.arange(r)}
    for kind, indices, names in (
        ("row", getattr(model, "row_indices_", None), getattr(model, "_row_names", None)),
        ("column", getattr(model, "col_indices_", None), getattr(model, "feature_names_in_", None)),
    ):
        if indices is not None and len(indices) == r:
            table[f"selected {kind}"] = names_at(indices, names, kind)
    labels = getattr(model, "row_labels_", None)
    if labels is not None:
        table["rows in its cluster"] = np.bincount(labels[labels >= 0], minlength=r)
    return table
