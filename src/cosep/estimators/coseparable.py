"""CoSeparableNMF: a matrix explained by a few of its rows and columns."""

import os
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from cosep.estimators.answers import storable
from cosep.estimators.completion import Completion
from cosep.estimators.growing import GrownSide, check_kept, check_same_entries, larger_model
from cosep.estimators.missing import MissingEntries
from cosep.fit.core_warning import warn_if_unfaithful
from cosep.fit.pipeline import fit
from cosep.fit.plan import make_plan
from cosep.fit.result import FitResult
from cosep.matrix.frame_names import frame_row_names
from cosep.matrix.norm import Norm
from cosep.matrix.row_blocks import RowBlocks
from cosep.matrix.to_row_blocks import own_blocks
from cosep.select import BOTH_SELECTORS
from cosep.select.method import Method, method_named
from cosep.select.pool import Pool
from cosep.utils.types import Callback, Indices
from cosep.utils.verbose import with_verbose


class CoSeparableNMF(BiclusterMixin, MissingEntries, Completion):
    """Explain a nonnegative matrix by a few of its rows and columns: ``X ~ P1 @ X[rows][:, cols] @ P2``.

    The model of J. Pan and M. K. Ng, SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023. Theirs is ``method="cosfgm"``;
    the default selects rows and columns that explain the data on their own.

    Parameters
    ----------
    n_rows, n_cols : int
        How many rows and columns to select.
    method : str or callable, default "faithful"
        Name of a selector of rows and columns ("faithful", "predictive", which selects a panel to predict the other
        columns from, "cosfgm" or "cur"), name of a selector of columns, which is then run on each side ("spa", "snpa",
        "fgm" and others; docs/selectors.md describes all of them, an unknown name raises ValueError and lists them), or
        any function ``(X, n_rows, n_cols) -> Selection``. "spa" is SPA+; the paper runs it un-normalised on documents,
        ``both_sides(partial(spa, normalize=False))``.
    scaling : {"degree", "rows", "columns", "sinkhorn"}, pair of array-like, or None, default "degree"
        The norm of the whole model, ``||diag(d) (X - X^) diag(e)||_F``: rows and columns are selected, factors fitted,
        rows clustered and shares measured in it, and every result is given in the units of X. "degree" divides rows and
        columns by the square roots of their sums plus a fifth of the mean sum (more where most columns are rare, as in
        short texts), so that long rows and frequent columns do not outweigh all others; it suits counts, texts, images
        and tables of mixed units. "rows" ("columns") divides by the sums of rows (columns) alone, "sinkhorn" makes all
        sums of rows, and of columns, equal; blocks of rows do not take it. A pair gives ``d`` and ``e`` themselves.
        None is the plain norm, in which large entries count most.
    preselect : int, pair of int or None
        Select among this many candidate rows and columns, which stand for clusters of the others; see `preselect`. A
        pair is for rows and for columns. Candidates make large data small, but the best rows may not be among them.
        Default: None, which keeps all of a side. Rows of blocks are sampled instead: use ``preselect=(None, n)`` for
        candidate columns, and ``sample_size`` for rows.
    sample_size : int, optional
        For blocks of rows only: how many rows to sample, at random and by their squared norms; all other rows are
        searched for better ones. Default: 8192, or fewer if these would hold more than 16 million entries. Increase it
        if clusters matter, or for methods that look for extreme rows.
    missing : {"nan", "unstored"} or None
        Which entries of X are missing: those that are NaN, or those that a sparse matrix does not store; a stored zero
        is an observed zero. The model is then fitted to the observed entries, and `fill_missing` fills the others; see
        docs/missing.md. Default: None: no entry is missing, NaN is an error, and what is not stored is zero.
    max_iter : int
        Largest number of alternations of the fit.
    tol : float
        Stop when an alternation lowers the squared error by less than ``tol`` times the squared norm of X.
    random_state : int, RandomState instance or None
        Seed for methods that draw random numbers, such as "xray". For blocks of rows it is also
        the seed of the sample, where None always gives the same one.
    row_pool, col_pool : Pool, optional
        Which rows and columns may be selected, and which must be. Columns by position or by name.
    callback : callable, optional
        Called as ``callback(stage, step, n_steps, relative_error)`` during ``fit``. The stages are "preselect",
        "fill" for missing entries, "topics", "select", within it "solve", and "mix", as far as the method has them. For
        blocks of rows it is also called as ``callback(stage, blocks_done, n_blocks, nan)`` in each pass over them:
        "statistics", "draw", "sample", "candidates", "factors" and "outcome".
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.
    checkpoint : path, optional
        For blocks of rows only: a folder that keeps the results of passes during ``fit``. If the fit is stopped, and
        called again with the same data and parameters, it continues where it was, to the same result.

    Attributes
    ----------
    row_indices_, col_indices_ : ndarray of int
        The selected rows and columns, best first.
    selected_samples_, selected_features_ : ndarray of str
        Names of the selected rows, if X is a data frame whose index has names, and of the selected columns.
    n_rows_, n_cols_ : int
        How many were selected: fewer than asked for, with a warning, if the method has no use for more.
    core_ : ndarray of shape (n_rows_, n_cols_)
        ``X[rows][:, cols]``. Missing entries of it are filled before the selection.
    core_missing_ : ndarray of bool, of shape (n_rows_, n_cols_)
        Which entries of the core are missing in X.
    row_factor_, col_factor_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        The nonnegative factors with the smallest error that was found.
    components_ : ndarray of shape (n_rows_, n_features)
        ``core_ @ col_factor_``.
    row_weights_, col_weights_ : ndarray of shape (m, n_rows_) and (n_cols_, n_features)
        Every row as a mix of the selected rows, every column as a mix of the selected columns.
    row_labels_, column_labels_ : ndarray of int
        Clusters: the component of the fitted factors with the largest share in a row or column; -1 for an all-zero one.
        Component k of the rows is that of the k-th selected row, component l of the columns that of the l-th selected
        column. A row in which no component has a share belongs to the first one, which explains most.
    rows_, columns_ : ndarray of bool, of shape (n_rows_, m) and (n_rows_, n_features)
        One bicluster for each selected row: the rows of its cluster, and the cluster of columns that goes with it
        most by the core.
    reconstruction_err_ : float
        Norm of the difference between X and the product of the factors, in the norm of the model.
    row_fidelity_, col_fidelity_, core_fidelity_, refitted_fidelity_ : float
        The share of X that the selected rows explain by ``row_weights_``, the selected columns by ``col_weights_``, the
        core by both, and the fitted factors: ``1 - ||X - X^||^2 / ||X||^2`` in the norm of the model; 1 is all of it.
    fidelity_bound_ : Fidelity
        What no selection of this many rows and columns, and no factors of this rank, could exceed, as ``rows``,
        ``cols``, ``core`` and ``refitted``: the share of the best approximation of that rank.
    plain_fidelity_ : Fidelity
        The shares of the same factors in the plain Frobenius norm, to compare models of different norms; with the same
        ``sample_weight``.
    scaling_ : str or None
        The name of the norm; "given" for a pair, None for the plain norm.
    factorization_ : Factorization
        All factors, weights, labels and names as one record. Not set after a fit to blocks of rows, see
        ``sample_factorization_``.
    core_diagnosis_ : CoreDiagnosis
        Nonzeros, zero rows and columns, and condition of the core; whether it is a permuted diagonal matrix.
    n_iter_ : int
        Alternations of the fit that lowered the error.
    gap_ : float or None
        Relative duality gap of the selection, if the method has one.
    history_ : tuple
        History of the selection; see the method.
    result_ : FitResult
        Everything that the fit found.
    sample_indices_ : ndarray of int
        After a fit to blocks of rows: positions of the sampled rows, in ascending order.
    sample_factorization_ : Factorization
        After a fit to blocks of rows: the record of the sampled rows alone, which fits in memory.
    n_passes_ : int
        After a fit to blocks of rows: how often they were read, at most ten times.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    A matrix that does not fit in memory, as a Dask array or as `row_blocks`, is fitted by a few passes over its blocks,
    with a random sample of rows as a small problem in between. It selects from the best rows that were found, not from
    all rows. If Dask evaluates X, ``row_factor_``, ``row_weights_``, ``row_labels_``, ``rows_`` and the result of
    `transform` are lazy Dask arrays: compute them, or write them with ``to_zarr``.

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
        scaling: Any = "degree",
        preselect: int | tuple[int | None, int | None] | None = None,
        sample_size: int | None = None,
        missing: str | None = None,
        max_iter: int = 100,
        tol: float = 3e-5,
        random_state: Any = None,
        row_pool: Pool | None = None,
        col_pool: Pool | None = None,
        callback: Callback | None = None,
        verbose: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.n_cols = n_cols
        self.method = method
        self.scaling = scaling
        self.preselect = preselect
        self.sample_size = sample_size
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.row_pool = row_pool
        self.col_pool = col_pool
        self.callback = callback
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes y
        """Select rows and columns of X and fit the factors.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features), a Dask array or data frame, or `row_blocks`
        y : ignored
        sample_weight : array-like of shape (m,), optional
            How many copies of it a row counts as: 2 is the same as having it twice, and a row of weight 0 is left out
            of the fit, but gets factors and a cluster. Default: 1. Methods that look for extreme rows and columns, such
            as "spa" and "cosfgm", see rows multiplied by the square roots of their weights; this changes which columns
            they select, but hardly which rows.

        Returns
        -------
        self
        """
        in_blocks = self._is_in_blocks(X)
        matrix = self._blocks(own_blocks(X), reset=True) if in_blocks else self._observed(X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        params = self.get_params(deep=False)
        params["callback"] = with_verbose(params["callback"], params.pop("verbose"))
        params.pop("missing")
        plan = make_plan(matrix.shape, in_blocks=in_blocks, col_names=names, sample_weight=sample_weight, **params)
        if isinstance(matrix, RowBlocks) and matrix is not X:
            matrix = matrix.coarsened()  # reads blocks, so only once the parameters are checked
        self._store_result(
            replace(fit(matrix, plan), row_names=frame_row_names(X), params=storable(self.get_params(deep=False)))
        )
        warn_if_unfaithful(self.result_)
        return self

    def grow(self, X: Any, n_rows: int | None = None, n_cols: int | None = None, *, sample_weight: Any = None) -> Self:
        """Return a larger model of the same data that keeps all selected rows and columns, first and in their order.

        It has the same parameters, except that its pools include what this model has selected, and is fitted in the
        same way. So component k of this model is component k of the larger one, and its selected columns are the first
        of a larger panel. A model of that size from the start may explain a little more. This model does not change.

        Parameters
        ----------
        X : array-like or sparse of shape (m, n_features), a Dask array or data frame, or `row_blocks`
            The data of the fit. Further rows may follow after those of the fit.
        n_rows, n_cols : int, optional
            How many rows and columns the larger model selects in all. Default: as many as this one.
        sample_weight : array-like of shape (m,), optional
            As in `fit`, which does not store it. Default: 1.

        Returns
        -------
        CoSeparableNMF
            A fitted model.

        Raises
        ------
        ValueError
            If the sizes are smaller than those of this model, X is not the data of the fit, or the method has no pools.

        Examples
        --------
        >>> from cosep import CoSeparableNMF, make_coseparable
        >>> X, _ = make_coseparable(60, 40, 6, 6, noise=0.05, random_state=0)
        >>> model = CoSeparableNMF(n_rows=3, n_cols=3).fit(X)
        >>> larger = model.grow(X, n_rows=6, n_cols=5)
        >>> larger.core_.shape, (larger.core_[:3, :3] == model.core_).all()
        ((6, 5), np.True_)
        """
        check_is_fitted(self)
        selector = method_named(self.method, BOTH_SELECTORS, "X", "n_rows", "n_cols")
        in_blocks = self._is_in_blocks(X)
        matrix = self._blocks(own_blocks(X), reset=False) if in_blocks else self._observed(X, reset=False)
        (m, n), rows, cols = matrix.shape, np.asarray(self.row_indices_), np.asarray(self.col_indices_)
        sides = (
            GrownSide("n_rows", "row_pool", n_rows, rows, "row_indices_", m, "n_samples"),
            GrownSide("n_cols", "col_pool", n_cols, cols, "col_indices_", n, "n_features"),
        )
        larger = larger_model(self, sides, selector, self.method)
        check_same_entries(matrix, rows, cols, self.core_)
        return check_kept(larger.fit(X, sample_weight=sample_weight), sides, self.method)

    def _store_result(self, result: FitResult) -> None:
        """Set the attributes."""
        self.result_ = result
        self.row_indices_, self.col_indices_ = result.selection.row_indices, result.selection.col_indices
        self.gap_, self.history_ = result.selection.gap, result.selection.history
        self.core_, self.core_diagnosis_ = result.core, result.core_diagnosis
        self.n_rows_, self.n_cols_ = result.core.shape
        self.core_missing_ = np.zeros(result.core.shape, dtype=bool) if result.gaps is None else result.gaps.core
        self.row_factor_, self.col_factor_ = result.row_factor, result.col_factor
        self.components_ = result.components
        self.row_weights_, self.col_weights_ = result.row_weights, result.col_weights
        self.row_labels_, self.column_labels_ = result.row_labels, result.col_labels
        self.rows_ = self.row_labels_ == np.arange(self.n_rows_)[:, None]
        self.columns_ = self.column_labels_ == result.partner_clusters[:, None]
        self.row_fidelity_, self.col_fidelity_, self.core_fidelity_, self.refitted_fidelity_ = result.fidelity
        self.fidelity_bound_, self.plain_fidelity_ = result.bound, result.plain_fidelity
        self.scaling_ = result.norm.name
        self.reconstruction_err_ = result.error
        self.n_iter_ = len(result.objective) - 1

    def _norm(self, n: int) -> Norm:  # noqa: ARG002 - the norm knows its columns
        return self.result_.norm.of_new_rows()

    def get_indices(self, i: int) -> tuple[Indices, Indices]:
        """Return the rows and the columns of the i-th bicluster; lazy rows are computed.

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
