"""What the estimators share: input with names, and mixtures of components."""

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from cosep.matrix.blocks import Column, RowBlocks
from cosep.matrix.checks import NotNumbersError, as_matrix, check_positive, is_from_dask
from cosep.matrix.cutting import own_blocks, row_blocks
from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.records.product import squared_row_errors
from cosep.records.selection import Selection
from cosep.select.pool import Pool
from cosep.solve.mixtures import mixtures
from cosep.solve.nonnegative import coefficients
from cosep.utils.columns import flat
from cosep.utils.messages import one_line, shown
from cosep.utils.precision import narrow
from cosep.utils.ties import first_largest
from cosep.utils.types import Array


class Model(BaseEstimator, metaclass=ABCMeta):
    """What all estimators share: input with names, and the attributes of a factorization."""

    selected_features_: NDArray[Any]
    # Whether X may have negative entries.
    _signed = False
    # Whether X may be in blocks of rows, of Dask or not.
    _blockwise = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Choose what the model chooses, and fit its factors.

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

    @abstractmethod
    def _fit(self, M: LocalMatrix) -> None:
        """Fit a checked matrix and set the attributes."""

    def _is_in_blocks(self, X: Any) -> bool:
        """Tell whether X is one of Dask, or in blocks of rows; refuse it if the model can do nothing with it."""
        if not is_blockwise(X):
            return False
        if not self._blockwise:
            msg = (
                f"{type(self).__name__} takes X in memory only, no Dask collection and no blocks, as CoSeparableNMF "
                "does; call X.compute() first, if it fits in memory."
            )
            raise ValueError(msg)
        return True

    def _blocks(self, blocks: RowBlocks, *, reset: bool) -> RowBlocks:
        """Keep, or compare, the number and names of the features of a matrix in blocks."""
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
        """Check X and keep, or compare, the number and names of its features."""
        M = as_matrix(X, signed=self._signed)
        self._check_features(X, reset=reset)
        return M

    def _check_features(self, X: Any, *, reset: bool) -> None:
        """Keep, or compare, the number and names of features; on one line, unlike scikit-learn's own messages."""
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
        except (ValueError, TypeError) as error:
            kind = ValueError if isinstance(error, ValueError) else NotNumbersError
            reason = one_line(error)
            raise kind(reason if reason.startswith("X ") else f"X: {reason}") from error

    def _store(self, factorization: Factorization, selection: Selection | None = None) -> None:
        """Set the attributes that every estimator has, and those of the selection where there is one."""
        self.row_factor_, self.col_factor_ = factorization.row_factor, factorization.col_factor
        self._store_labels(factorization)
        if hasattr(self, "selected_features_"):
            del self.selected_features_
        if selection is None:
            return
        self.row_indices_, self.col_indices_ = selection.row_indices, selection.col_indices
        self.gap_, self.history_ = selection.gap, selection.history
        if hasattr(self, "feature_names_in_") and selection.col_indices is not None:
            self.selected_features_ = self.feature_names_in_[selection.col_indices]

    def _store_labels(self, factorization: Factorization) -> None:
        """Set the clusters of rows and columns, where there are any."""
        if factorization.row_labels is not None:
            self.row_labels_, self.column_labels_ = factorization.row_labels, factorization.col_labels

    def _store_fidelity(self, M: LocalMatrix, factorization: Factorization) -> None:
        """Set how much of the data the selected rows, columns and core explain before anything is refitted."""
        self.row_fidelity_, self.col_fidelity_, self.core_fidelity_ = factorization.fidelity(M)

    def _store_progress(self, M: LocalMatrix, factorization: Factorization) -> None:
        """Set how a factorization that chooses nothing went, and how well it explains the data."""
        self.history_ = tuple(factorization.meta["objective"])
        self.n_iter_ = len(self.history_) - 1
        self.reconstruction_err_ = frobenius_error(M, factorization)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._signed
        tags.input_tags.sparse = True
        return tags


class Factorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """What the estimators share that explain rows: mixtures of `components_`, reconstruction and score."""

    components_: NDArray[Any]

    def transform(self, X: Any) -> NDArray[Any]:
        """Explain new rows by the fitted components.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows

        Returns
        -------
        ndarray of shape (m_new, n_components)
            A lazy Dask array where X is evaluated by Dask.
        """
        check_is_fitted(self)
        if not self._is_in_blocks(X):
            return self._mixtures(self._matrix(X, reset=False))
        blocks = self._blocks(own_blocks(X), reset=False)
        mixtures: NDArray[Any]
        (mixtures,) = blocks.along(mixed, self._unit_components(), [Column(len(self.components_), blocks.dtype)])
        return mixtures

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Return the rows that mixtures of the components stand for, ``X @ components_``.

        Parameters
        ----------
        X : array-like of shape (m_new, n_components), or a Dask array of such rows

        Returns
        -------
        ndarray of shape (m_new, n_features)
            A lazy Dask array where X is one.
        """
        check_is_fitted(self)
        self._is_in_blocks(X)
        return product(X, self.components_, "components", signed=self._signed)

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
        if self._is_in_blocks(X):
            found: Misfit = self._blocks(row_blocks(X), reset=False).fold(misfit, self._unit_components())
            return 1.0 - (float(np.sqrt(found.error / found.total)) if found.total > 0 else 0.0)
        M = self._matrix(X, reset=False)
        return 1.0 - Factorization(self._mixtures(M), None, self.components_).relative_error(M)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        """Solve ``min ||M - U components_||_F`` over ``U >= 0``."""
        return mixtures(M, self.components_)

    def _unit_components(self) -> tuple[Array, int]:
        """Return the components divided by a power of two that brings the largest entry to about one, and the power."""
        exponent = int(np.frexp(self.components_.max(initial=0.0))[1])
        return np.ldexp(self.components_.astype(np.float64), -exponent), exponent

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Misfit(NamedTuple):
    """Squared norms of what is left of some rows, and of the rows."""

    error: float
    total: float

    def merge(self, others: Sequence[Self]) -> "Misfit":
        """Add following rows."""
        return Misfit(*(sum(parts) for parts in zip(self, *others, strict=True)))


def misfit(components: tuple[Array, int], block: LocalMatrix, _start: int) -> Misfit:
    """Measure how well the rows of one block are explained by components."""
    H = components[0]
    errors = squared_row_errors(block, coefficients(block, H), H, block.dot(H.T))
    return Misfit(float(errors.sum()), block.squared_norm())


def mixed(components: tuple[Array, int], block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    """Explain the rows of one block by components."""
    H, exponent = components
    return (np.ldexp(coefficients(block, H), -exponent),)


def is_blockwise(X: Any) -> bool:
    """Tell whether a matrix is one of Dask, or in blocks of rows."""
    return isinstance(X, RowBlocks) or is_from_dask(X)


def check_preselect_pair(value: Any, n_rows: int, n_cols: int) -> tuple[int | None, int | None]:
    """Return how many rows and columns to preselect, where so many are to be selected."""
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        msg = f"preselect={shown(value)} must be None, a whole number, or a pair of these for rows and columns."
        raise ValueError(msg)
    return check_preselect(pair[0], n_rows, "n_rows"), check_preselect(pair[1], n_cols, "n_cols")


def check_preselect(value: Any, asked: int, asked_name: str) -> int | None:
    """Return how many candidates to preselect on a side that ``asked`` are to be selected from."""
    if value is None:
        return None
    count = check_positive(value, "preselect")
    if count < asked:
        msg = f"preselect={value} must be at least {asked_name}={asked}; preselect more, or select fewer."
        raise ValueError(msg)
    return count


def by_position(pool: Pool | None, names: NDArray[Any] | None, side: str) -> Pool | None:
    """Return the pool with names replaced by positions."""
    if not isinstance(pool, Pool):
        return pool
    return Pool(_positions(pool.candidates, names, side), _positions(pool.include, names, side))


def _positions(wanted: Any, names: NDArray[Any] | None, side: str) -> Any:
    if isinstance(wanted, str):
        msg = (
            f"{side}={shown(wanted)} must be a list of names or positions, not a single text; write [{shown(wanted)}]."
        )
        raise ValueError(msg)
    wanted = list(wanted) if isinstance(wanted, (set, frozenset)) else wanted
    listed = flat(wanted)
    if listed is None or not any(isinstance(name, str) for name in listed):
        return wanted
    where = {} if names is None else {name: position for position, name in enumerate(names)}
    unknown = [name for name in listed if not isinstance(name, str) or name not in where]
    if unknown:
        known = "X has no such names" if names is None else f"X has {shown(list(names[:3]))}, ..."
        msg = (
            f"{side} names {shown(unknown[:3])}, but {known}; give positions, or names of the columns of a data frame."
        )
        raise ValueError(msg)
    return [where[name] for name in listed]


def frobenius_error(M: LocalMatrix, factors: Factorization) -> float:
    """Return the norm of what the factors leave unexplained, in the units of the data; infinite beyond all floats."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(factors.relative_error(M) * np.sqrt(M.squared_norm()), M.exponent))


def biclusters(factors: Factorization) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the indicator matrices of rows and columns, one bicluster a row of the core.

    Its columns are those with the label that is largest in that row of the core, scaled by the columns' strengths.
    """
    rows = factors.row_labels == np.arange(factors.row_factor.shape[1])[:, None]
    strengths = np.linalg.norm(factors.col_factor.astype(np.float64), axis=1)
    partner = first_largest(factors.core * strengths)
    return np.asarray(rows), np.asarray(factors.col_labels == partner[:, None])


def product(X: Any, right: NDArray[Any], what: str, *, signed: bool = False) -> NDArray[Any]:
    """Return ``X @ right`` for a checked X whose columns are what ``right`` expects; lazy where X is one of Dask."""
    M = own_blocks(X) if is_blockwise(X) else as_matrix(X, signed=signed)
    if M.shape[1] != len(right):
        msg = f"X has {M.shape[1]} columns, but the model has {len(right)} {what}; pass exactly those."
        raise ValueError(msg)
    if isinstance(M, RowBlocks):
        rows: NDArray[Any]
        (rows,) = M.along(_times, right.astype(np.float64), [Column(right.shape[1], M.dtype)])
        return rows
    exponent = int(np.frexp(np.abs(right).max(initial=0.0))[1])
    rows = M.dot(np.ldexp(right.astype(np.float64), -exponent))
    return in_units(rows, M.exponent + exponent, M.dtype, "products")


def in_units(values: Array, exponent: int, dtype: np.dtype[Any], what: str = "mixtures") -> NDArray[Any]:
    """Return ``values * 2**exponent`` in the type of the data, or in float64 where the range of that is too small.

    Raises ValueError if float64 is too small as well.
    """
    with np.errstate(over="ignore"):
        scaled = np.ldexp(values, exponent)
    if not np.isfinite(scaled).all():
        msg = f"X is so near the largest float that its {what} are not; divide X by a constant."
        raise ValueError(msg)
    return narrow(scaled, dtype)


def _times(right: Array, block: LocalMatrix, _start: int) -> tuple[Array, ...]:
    return (block.dot(right),)
