"""Base classes of the estimators: checks of input, and mixtures of components."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cosep.fit.block_mixtures import RowModel, SquaredErrors, block_errors, block_mixtures, block_products
from cosep.matrix.local import LocalMatrix
from cosep.matrix.norm import Norm, RowRule
from cosep.matrix.row_blocks import Column, RowBlocks
from cosep.matrix.scaling import check_weights
from cosep.matrix.to_row_blocks import own_blocks, row_blocks
from cosep.matrix.validation import NotNumbersError, as_matrix, is_from_dask
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.solve.labels import partner_clusters
from cosep.solve.mixtures import mixtures
from cosep.utils.messages import one_line, shown
from cosep.utils.precision import narrow
from cosep.utils.types import Array


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
        self._fit(self._matrix(X, reset=True))
        return self

    def _fit(self, M: LocalMatrix) -> None:
        """Fit a checked matrix and set the attributes."""
        raise NotImplementedError

    @property
    def selected_features_(self) -> NDArray[Any]:
        """Names of the selected columns; AttributeError if no columns were selected or X has no names."""
        cols, names = getattr(self, "col_indices_", None), getattr(self, "feature_names_in_", None)
        if cols is None or names is None:
            msg = (
                f"{type(self).__name__} has no selected_features_: X had no column names, or no columns were selected."
            )
            raise AttributeError(msg)
        return np.asarray(names[cols])

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


def is_blockwise(X: Any) -> bool:
    """Return whether a matrix is in blocks of rows, of Dask or not."""
    return isinstance(X, RowBlocks) or is_from_dask(X)


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


def product(X: Any, right: NDArray[Any], what: str, *, signed: bool = False) -> NDArray[Any]:
    """Return ``X @ right`` for a checked X whose columns are what ``right`` expects; lazy if X is a Dask array."""
    M = own_blocks(X) if is_blockwise(X) else as_matrix(X, signed=signed)
    if M.shape[1] != len(right):
        msg = f"X has {M.shape[1]} columns, but the model has {len(right)} {what}; pass exactly those."
        raise ValueError(msg)
    if isinstance(M, RowBlocks):
        rows: NDArray[Any]
        (rows,) = M.map_rows(block_products, right.astype(np.float64), [Column(right.shape[1], M.dtype)])
        return rows
    scaled, shift = unit_scaled(right)
    return in_data_units(M, M.dot(scaled), shift, "products")


def unit_scaled(A: NDArray[Any]) -> tuple[Array, int]:
    """Return ``A / 2**shift`` with a largest entry of about one, and the shift."""
    shift = int(np.frexp(np.abs(A).max(initial=0.0))[1])
    return np.ldexp(A.astype(np.float64), -shift), shift


def in_data_units(M: LocalMatrix, results: Array, shift: int, what: str = "mixtures") -> NDArray[Any]:
    """Return results of M times ``2**shift`` in the units and the type of the data.

    The type is float64 where the range of float32 is too small. Raises ValueError if that of float64 is too small.
    """
    return narrow(check_finite(M.in_units(results, shift=shift), what), M.dtype)


def check_finite(results: Array, what: str = "mixtures") -> Array:
    """Return the results, or raise ValueError if some are beyond the largest float."""
    if not np.isfinite(results).all():
        msg = f"X is so near the largest float that its {what} are not finite; divide X by a constant."
        raise ValueError(msg)
    return results
