"""Missing entries: rows with gaps explained, scored and filled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.answers import Answers
from cosep.fit.products import is_blockwise
from cosep.fit.rows_with_gaps import filled_rows, labels_with_gaps, mixtures_with_gaps, share_explained
from cosep.matrix.local import LocalMatrix
from cosep.matrix.missing import NAN, as_observed, check_missing
from cosep.matrix.observed import Observed
from cosep.matrix.scaling import check_weights
from cosep.utils.precision import narrow
from cosep.utils.types import Indices


class MissingEntries(Answers):
    """Base class of `CoSeparableNMF` with what it does with missing entries, if ``missing`` allows them."""

    missing: str | None

    def _observed(self, X: Any, *, reset: bool) -> LocalMatrix | Observed:
        """Check X, which may have gaps if ``missing`` says so, and store, or compare, its features."""
        M = as_observed(X, check_missing(self.missing))
        self._check_features(X, reset=reset)
        return M

    def _is_in_blocks(self, X: Any) -> bool:
        if is_blockwise(X) and self.missing is not None:
            msg = (
                f"missing={self.missing!r} needs X in memory, but it is in blocks of rows; pass an array, a data frame "
                "or a sparse matrix, or use missing=None for blocks without missing entries."
            )
            raise ValueError(msg)
        return super()._is_in_blocks(X)

    def _with_gaps(self, X: Any) -> Observed | None:
        """Return rows that have gaps as a matrix, and None for any others."""
        if self.missing is None or is_blockwise(X):
            return None
        M = self._observed(X, reset=False)
        return M if isinstance(M, Observed) else None

    def transform(self, X: Any) -> NDArray[Any]:
        """Explain new rows by the fitted components.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows
            Entries may be missing if the parameter ``missing`` allows it; the others decide then.

        Returns
        -------
        ndarray of shape (m_new, n_components)
            A lazy Dask array if Dask evaluates X.
        """
        check_is_fitted(self)
        gappy = self._with_gaps(X)
        return super().transform(X) if gappy is None else mixtures_with_gaps(gappy, self.result_, self._norm(0))

    def predict(self, X: Any) -> Indices:
        """Return the topic of each row: the component with the largest share in it.

        For the rows of the fit these are ``row_labels_``.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features), or a Dask array or `row_blocks` of such rows
            Entries may be missing if the parameter ``missing`` allows it.

        Returns
        -------
        ndarray of int, of shape (m_new,)
            -1 for an all-zero row. A lazy Dask array if Dask evaluates X.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, random_state=0)
        >>> model = CoSeparableNMF(n_rows=4, n_cols=4).fit(X)
        >>> bool((model.predict(X) == model.row_labels_).all())
        True
        """
        check_is_fitted(self)
        gappy = self._with_gaps(X)
        return super().predict(X) if gappy is None else labels_with_gaps(gappy, self.result_, self._norm(0))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share that is explained, ``1 - ||X - X^||^2 / ||X||^2``; 1 is exact, 0 no better than zeros.

        ``X^ = inverse_transform(transform(X))``. Norms are those of the model, over the observed entries, and new rows
        count by its rule.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
            Entries may be missing if the parameter ``missing`` allows it.
        y : ignored
        sample_weight : array-like of shape (m_new,), optional
            How many copies of it a row counts as. Default: 1. A norm of given factors d has no rule for new rows, and
            all count alike; ``d**2`` as weights of the fitted rows gives the share that the fit reports.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        gappy = self._with_gaps(X)
        if gappy is None:
            return super().score(X, y, sample_weight)
        norm = self._norm(0)._replace(weights=check_weights(sample_weight, gappy.shape[0]))
        return share_explained(gappy, self.result_, norm)

    def fill_missing(self, X: Any) -> Any:
        """Return rows with their missing entries filled by the model, ``inverse_transform(transform(X))`` there.

        Observed entries stay as they are. See `complete` for rows of which only the selected columns were measured.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
            Rows of the fit or new ones. The parameter ``missing`` says which entries are missing.

        Returns
        -------
        ndarray of shape (m_new, n_features)
            A data frame if X is one of pandas. It is dense: of a large sparse matrix, pass a few rows.

        Examples
        --------
        >>> import numpy as np
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 4, 4, random_state=0)
        >>> gappy = X.copy()
        >>> gappy[::7, ::5] = np.nan
        >>> model = CoSeparableNMF(n_rows=4, n_cols=4, missing="nan", tol=1e-14, max_iter=1000).fit(gappy)
        >>> bool(np.abs(model.fill_missing(gappy) - X).max() < 1e-6 * X.max())
        True
        """
        check_is_fitted(self)
        self._is_in_blocks(X)
        M = self._observed(X, reset=False)
        whole = isinstance(M, LocalMatrix)
        full = M.in_units(M.take()) if isinstance(M, LocalMatrix) else filled_rows(M, self.result_, self._norm(0))
        full = full if whole and M.dtype == np.float64 else narrow(np.asarray(full), M.dtype)
        if type(X).__module__.partition(".")[0] == "pandas":
            return type(X)(full, index=X.index, columns=X.columns)
        return full

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == NAN
        return tags
