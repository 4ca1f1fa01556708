"""CoSeparableNMF: a matrix explained by a few of its rows and columns."""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.base import (
    Factorizer,
    by_position,
    check_preselect_pair,
    frobenius_error,
    is_blockwise,
    product,
)
from cosep.fit.blocks import along_rows, fit_blocks, on_sample
from cosep.fit.choice import POWERS, Plan
from cosep.fit.clusters import co_cluster
from cosep.fit.passes import Passes
from cosep.matrix.checks import (
    check_callback,
    check_choice,
    check_count,
    check_number,
    check_positive,
    check_random,
    check_seed,
)
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import SCALINGS, scale
from cosep.matrix.to_row_blocks import row_blocks
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection, SelectionWarning
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named, options_for, refuse_no_selection
from cosep.select.pool import Pool
from cosep.select.preselected import preselected
from cosep.solve.alternation import Budget
from cosep.solve.mix import mix
from cosep.utils.messages import shown
from cosep.utils.types import Array, Callback, Indices
from cosep.utils.warn import warn

# A core that explains less than this share of what the refitted factors explain is worth a warning.
UNFAITHFUL = 0.8
# Labels settle before factors do.
LABELS_TOL = 1e-4


class CoSeparableNMF(BiclusterMixin, Factorizer):
    """Explain a nonnegative matrix by a few of its rows and columns: ``X ~ P1 @ X[rows][:, cols] @ P2``.

    The model of J. Pan and M. K. Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023. Theirs is ``method="cosfgm"``;
    the default selects rows and columns that explain the data on their own.

    Parameters
    ----------
    n_rows, n_cols : int
        How many rows and columns to select.
    method : str or callable, default "faithful"
        Name of a selector of rows and columns ("faithful", "cosfgm" or "cur"), name of a selector of columns, which is
        then run on each side ("spa", "snpa", "fgm" and others; docs/methods.md describes all of them, an unknown name
        raises ValueError and lists them), or any function ``(X, n_rows, n_cols) -> Selection``. "spa" is SPA+; the
        paper runs it un-normalised on documents, ``both_sides(partial(spa, normalize=False))``.
    scaling : {"rows", "columns", "degree", "sinkhorn"} or None
        Select on the matrix scaled by this rule: "degree" where long rows and frequent columns shall count no more
        than others. The factors and fidelities are always those of X itself.
    preselect : int, pair of int or None
        Select among so many rows and so many columns, which stand for clusters of the others; see `preselect`. Makes
        large data small, and can lose the best ones. None, or more than there are, keeps all of a side. Of blocks of
        rows so many are sampled, at random and by their squared norms, and all others are searched for better ones;
        None is 8192, or fewer if these would hold more than 16 million entries.
    max_iter : int
        Alternations of the fit at the most.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    random_state : int, RandomState instance or None
        Seed for methods that draw random numbers, such as "xray". Of blocks of rows, the seed of the
        sample too; None is the same one every time.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be selected, and which must be. Columns by position or by name.
    callback : callable, optional
        Called as ``callback(stage, step, most_steps, relative_error)`` while ``fit`` goes on; the stages are
        "preselect", "topics", "select", within it "solve", "mix" and "label", as far as the method has them. Of blocks
        of rows, also as ``callback(stage, blocks done, blocks, nan)`` within each pass over them: "statistics",
        "sample", "candidates", "factors" and "outcome".
    checkpoint : path, optional
        Of blocks of rows: a folder to keep the results of passes in while ``fit`` goes on. Called again with the same
        data and parameters after it was stopped, it goes on where it was, to the same result.

    Attributes
    ----------
    row_indices_, col_indices_ : ndarray of int
        The selected rows and columns, best first.
    selected_features_ : ndarray of str
        Names of the selected columns, if X has names.
    n_rows_, n_cols_ : int
        How many were selected: fewer than asked for, with a warning, if the method has no use for more.
    core_ : ndarray of shape (n_rows_, n_cols_)
        ``X[rows][:, cols]``.
    row_factor_, col_factor_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        The nonnegative factors with the smallest error that was found.
    components_ : ndarray of shape (n_rows_, n_features)
        ``core_ @ col_factor_``.
    row_weights_, col_weights_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels_, column_labels_ : ndarray of int
        Clusters, by the largest component of a nonnegative factorization of X divided by the square roots of its row
        and column sums; -1 for an all-zero row or column. The k-th cluster is the one that the k-th selected row or
        column has most part in, as far as that can be for all at once; ``row_weights_`` and ``col_weights_`` tell
        what the selected ones themselves explain.
    rows_, columns_ : ndarray of bool, of shape (n_rows_, m) and (n_rows_, n_features)
        One bicluster for each selected row: the rows of its cluster, and the cluster of columns that goes with it
        most.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    row_fidelity_, col_fidelity_, core_fidelity_ : float
        How much of X the selected rows explain by ``row_weights_``, the selected columns by ``col_weights_``, and the
        core by both, 1 being all of it. `score` can be far higher: refitted factors need not stay with what was
        selected.
    factorization_ : Factorization
        All of this as one record, to save, explain or report; ``dataclasses.replace`` gives it row names.
    core_diagnosis_ : CoreDiagnosis
        Nonzeros, zero rows and columns, and condition of the core; whether it is a permuted diagonal matrix.
    n_iter_ : int
        Alternations of the fit that lowered the error.
    gap_ : float or None
        Relative duality gap of the selection, where the method has one.
    history_ : tuple
        How the selection went; see the method.
    sample_indices_ : ndarray of int
        Of blocks of rows: the rows that were looked at closely, in ascending order. ``factorization_`` is that of these
        rows alone, so that it fits in memory.
    n_passes_ : int
        Of blocks of rows: how often they were read, nine times at the most.
    large_fit_ : LargeFit
        Of blocks of rows: all that the passes found; ``large_fit_.rows`` are the rows of ``sample_indices_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    A matrix that does not fit in memory, as a Dask array or as `row_blocks`, is fitted by a few passes over its blocks,
    with a random sample of rows as a small problem in between: the selection is then that of the best rows that were
    found, not of all. Where X is evaluated by Dask, ``row_factor_``, ``row_weights_``, ``row_labels_`` and ``rows_``
    are lazy Dask arrays, and so is what `transform` returns: compute them, or write them with ``to_zarr``.

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

    _blockwise = True

    def __init__(  # noqa: PLR0913 - the parameters of a model
        self,
        n_rows: int = 10,
        n_cols: int = 10,
        *,
        method: Method = "faithful",
        scaling: str | None = None,
        preselect: int | tuple[int | None, int | None] | None = None,
        max_iter: int = 100,
        tol: float = 3e-5,
        random_state: Any = None,
        row_pool: Pool | None = None,
        col_pool: Pool | None = None,
        callback: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.method = method
        self.scaling = scaling
        self.preselect = preselect
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.row_pool = row_pool
        self.col_pool = col_pool
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select rows and columns of X and fit the factors.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features), a Dask array or data frame, or `row_blocks`
        y : ignored

        Returns
        -------
        self
        """
        if not is_blockwise(X):
            return super().fit(X, y)
        self._fit_blocks(X)
        return self

    def _fit(self, M: LocalMatrix) -> None:
        """Select rows and columns of X and fit the factors."""
        if self.checkpoint is not None:
            msg = (
                f"checkpoint={shown(self.checkpoint)} keeps passes over blocks of rows, but X is in memory; drop it, "
                "or fit cosep.row_blocks(X)."
            )
            raise ValueError(msg)
        check_random(self.random_state)
        for name in ("sample_indices_", "n_passes_", "large_fit_"):  # those of blocks alone, fitted before
            self.__dict__.pop(name, None)
        method, options = self._selector(M.shape, SCALINGS, self.random_state)
        names = getattr(self, "feature_names_in_", None)
        scaled = M if self.scaling is None else scale(M, self.scaling)[0]
        select = preselected(method, *check_preselect_pair(self.preselect, self.n_rows, self.n_cols))
        chosen = select(scaled.values, self.n_rows, self.n_cols, **options)
        selection = refuse_no_selection(chosen, method, ("row_indices", "col_indices"))
        factors = mix(M, selection, max_iter=self.max_iter, tol=self.tol, callback=self.callback)
        clusters = co_cluster(M, np.asarray(selection.row_indices), np.asarray(selection.col_indices), self._labelling)
        factors = replace(factors, row_labels=clusters.row_labels, col_labels=clusters.col_labels, col_names=names)
        self._store(factors, selection)
        self._store_core(factors, clusters.partners)
        self.row_weights_ = np.asarray(factors.row_weights)
        self._store_fidelity(M, factors)
        self.reconstruction_err_ = frobenius_error(M, factors)
        self._warn_if_unfaithful(factors.relative_error(M))

    def _fit_blocks(self, X: Any) -> None:
        """Select rows and columns of a matrix in blocks, and fit the factors in few passes over them."""
        if isinstance(self.scaling, str) and self.scaling == "sinkhorn":
            msg = (
                "scaling='sinkhorn' needs a pass over X for every round, too many for blocks of rows; use 'degree', or "
                "pass X in memory."
            )
            raise ValueError(msg)
        blocks = self._blocks(row_blocks(X), reset=True)
        seed = check_seed(self.random_state)
        method, options = self._selector(blocks.shape, POWERS, seed)
        options.pop("row_pool", None)
        sampled, n_candidates = check_preselect_pair(self.preselect, self.n_rows, self.n_cols)
        plan = Plan(
            self.n_rows,
            self.n_cols,
            preselected(method, None, n_candidates),
            f"{self.method} {n_candidates}" if isinstance(self.method, str) else None,
            options,
            by_position(self.row_pool, None, "row_pool"),
            sampled,
            seed,
            self.scaling,
            Budget("mix", check_positive(self.max_iter), check_number(self.tol, "tol", 0.0), self.callback),
            self._labelling,
        )
        passes = Passes(blocks, self.checkpoint, self.callback)
        fit = fit_blocks(passes, plan)
        factors = replace(
            on_sample(fit, blocks.dtype),
            row_names=None if blocks.row_names is None else blocks.row_names(fit.indices),
            col_names=getattr(self, "feature_names_in_", None),
        )
        self._store(factors, fit.selection)
        self.row_factor_, self.row_weights_, self.row_labels_ = along_rows(blocks, fit)
        self._store_core(factors, fit.partners)
        self.row_fidelity_, self.col_fidelity_, self.core_fidelity_ = fit.fidelity
        self.reconstruction_err_ = fit.relative_error * fit.norm
        self.sample_indices_, self.n_passes_, self.large_fit_ = fit.indices, fit.n_passes, fit
        passes.forget()  # last: reading the names can fail
        self._warn_if_unfaithful(fit.relative_error)

    def _selector(
        self, shape: tuple[int, int], scalings: Collection[str | None], random_state: Any
    ) -> tuple[Callable[..., Selection], dict[str, Any]]:
        """Check the parameters; return the function that selects, and the options that it takes."""
        check_count(self.n_rows, "n_rows", shape[0], "n_samples")
        check_count(self.n_cols, "n_cols", shape[1], "n_features")
        if self.scaling is not None:
            check_choice(self.scaling, "scaling", [name for name in scalings if name is not None])
        check_callback(self.callback)
        method = method_named(self.method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
        return method, options_for(
            method,
            row_pool=by_position(self.row_pool, None, "row_pool"),
            col_pool=by_position(self.col_pool, getattr(self, "feature_names_in_", None), "col_pool"),
            callback=self.callback,
            random_state=random_state,
        )

    @property
    def _labelling(self) -> Budget:
        """How long clusters are sought."""
        return Budget("label", self.max_iter, max(self.tol, LABELS_TOL), self.callback)

    def _store_core(self, factors: Factorization, partners: Indices) -> None:
        """Set what follows from the core, the short factors and the clusters."""
        self.factorization_ = factors
        self.core_diagnosis_ = factors.diagnose_core()
        self.core_, self.col_weights_ = np.asarray(factors.core), np.asarray(factors.col_weights)
        self.n_rows_, self.n_cols_ = self.core_.shape
        with np.errstate(over="ignore"):
            product = self.core_.astype(np.float64) @ factors.col_factor.astype(np.float64)
            self.components_ = product.astype(np.result_type(self.core_, factors.col_factor))
        if not np.isfinite(self.components_).all():
            msg = "X is so near the largest float that its components are not; divide X by a constant."
            raise ValueError(msg)
        self.rows_ = self.row_labels_ == np.arange(self.n_rows_)[:, None]
        self.columns_ = self.column_labels_ == partners[:, None]
        self.n_iter_ = len(factors.meta["objective"]) - 1

    def _warn_if_unfaithful(self, relative_error: float) -> None:
        """Say so where the refitted factors hide that what was selected explains little."""
        approximation, core = 1.0 - relative_error, self.core_fidelity_ or 0.0
        if self.core_diagnosis_.permuted_diagonal and core < UNFAITHFUL * approximation:
            warn(
                "The core is a permuted diagonal matrix: each selected row meets one selected column. The refitted "
                f"factors are then those of plain NMF, whatever was selected: they explain {approximation:.1%} of X, "
                f"the selected rows themselves {self.row_fidelity_ or 0.0:.1%}, the columns "
                f"{self.col_fidelity_ or 0.0:.1%}, the core {core:.1%}. Read row_weights_ and col_weights_, or use "
                "method='faithful'.",
                SelectionWarning,
            )

    def get_indices(self, i: int) -> tuple[Indices, Indices]:
        """Return the rows and the columns of the i-th bicluster; those of lazy rows are computed.

        Parameters
        ----------
        i : int

        Returns
        -------
        row_ind, col_ind : ndarray of int
        """
        check_is_fitted(self)
        sides: tuple[Any, Any] = (self.rows_, self.columns_)
        rows, cols = (np.flatnonzero(np.asarray(side[i])) for side in sides)
        return rows, cols

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
        return product(X, self.col_weights_, "selected columns")

    def completion_score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn passes y
        """Return ``1 - median_i ||x_i(N) - x_i(K) V|| / ||x_i(N)||``: how well `complete` predicts; 1 is exact.

        K are the selected columns, N the others, and ``V = col_weights_[:, N]``. Only N counts: the selected columns
        are given, not predicted. Half of the rows are predicted better than this, half worse, and large rows weigh no
        more than small ones. 0 is no better than predicting zeros, and a worse prediction is negative.

        Parameters
        ----------
        X : array-like or sparse of shape (m_new, n_features)
            Full rows. Pass rows that were held out of ``fit``: on those it was fitted to, a model looks better than it
            is. Rows that are zero outside the selected columns have no relative error and are left out.
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
        Serves as a scorer too: ``GridSearchCV(..., scoring=CoSeparableNMF.completion_score)``.

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
        errors = _completion_errors(M, cols, others, self.col_weights_[:, others].astype(np.float64))
        if errors.size == 0:
            msg = "X is zero outside the selected columns, where it is to be predicted; pass rows that are not."
            raise ValueError(msg)
        return 1.0 - float(np.median(errors))


def _completion_errors(M: LocalMatrix, cols: Indices, others: Indices, V: Array) -> Array:
    """``||x(others) - x(cols) V|| / ||x(others)||`` for each row x that is not zero there."""
    errors = []
    for _, block in M.dense_blocks():
        kept = block[block[:, others].any(axis=1)]
        rest = kept[:, others]
        with np.errstate(over="ignore"):
            errors.append(_row_norms(rest - kept[:, cols] @ V) / _row_norms(rest))
    return np.concatenate(errors)


def _row_norms(A: Array) -> Array:
    """Return the l2 norms of rows of any size, none of them lost by squaring."""
    peaks = np.abs(A).max(axis=1, keepdims=True)
    peaks[peaks == 0] = 1.0
    return np.asarray(peaks[:, 0] * np.linalg.norm(A / peaks, axis=1))
