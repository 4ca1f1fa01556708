"""TriSymmetricNMF: topics found through the words that belong to one topic alone."""

import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cosep.estimators.base import Factorizer, frobenius_error
from cosep.fit.pools import pool_by_position
from cosep.matrix.checks import check_count
from cosep.matrix.local import LocalMatrix
from cosep.nmf.trisymmetric import ANCHORS, trisymmetric
from cosep.records.factorization import Factorization
from cosep.records.selection import Selection, SelectionWarning
from cosep.select.pool import Pool
from cosep.select.warn import warn_if_fewer
from cosep.solve.labels import factor_labels
from cosep.utils.types import Callback
from cosep.utils.verbose import with_verbose


class TriSymmetricNMF(Factorizer):
    """Find topics through anchors, columns that belong to one topic alone: ``X'X ~ T' @ S @ T``, then ``X ~ W @ T``.

    Arora et al., Proc. ICML 28, 280-288, 2013, arXiv:1212.4777. The co-occurrence ``X'X`` of many short rows says more
    about which columns go together than the rows themselves; it is never formed.

    Parameters
    ----------
    n_components : int
        How many anchors, and topics.
    pool : Pool, optional
        Which columns may be anchors, and which must be, by position or by name. Rare words are noisy anchors: leave
        them out.
    max_iter : int
        Largest number of steps of the fit of S.
    tol : float
        Stop them at this relative KKT residual.
    callback : callable, optional
        Called as ``callback("trisymmetric", step, n_steps, relative_error)`` during ``fit``.
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        T, the topics; each row sums to one.
    col_indices_ : ndarray of int
        The anchors, the k-th for the k-th topic.
    selected_features_ : ndarray of str
        Names of the anchors, if X has names.
    core_ : ndarray of shape (n_components_, n_components_)
        S, divided by its sum: the share of what occurs together that two topics have.
    n_components_ : int
        How many were found: fewer than asked for, with a warning, if all others are mixes of these.
    row_factor_, col_factor_ : ndarray of shape (m, n_components_) and (n_components_, n_features)
        W, the topics of the rows, which is what `transform` returns for the data of the fit, and T.
    row_labels_, column_labels_ : ndarray of int
        The topic with the largest share; -1 for an all-zero row or column.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and ``W @ T``.
    n_iter_ : int
        Steps of the fit of S.
    history_ : tuple
        ``1/2 ||X'X - T'ST||^2 / ||X'X||^2`` with the S of the anchors and with the best one.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import pandas as pd
    >>> from cosep import TriSymmetricNMF
    >>> pages = pd.DataFrame(
    ...     [[3, 2, 0, 0, 1], [0, 0, 4, 2, 2], [3, 2, 4, 2, 3]], columns=["goal", "match", "vote", "party", "news"]
    ... )
    >>> TriSymmetricNMF(n_components=2).fit(pages).selected_features_.tolist()
    ['vote', 'goal']
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        pool: Pool | None = None,
        max_iter: int = 10_000,
        tol: float = 1e-8,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.pool = pool
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    def _fit(self, M: LocalMatrix) -> None:
        """Find the anchors and topics of X, and the topics of its rows."""
        r = check_count(self.n_components, "n_components", M.shape[1], "n_features")
        pool = pool_by_position(self.pool, getattr(self, "feature_names_in_", None), "pool")
        with warnings.catch_warnings():
            # Issued below, so that it points to the caller of this method.
            warnings.simplefilter("ignore", SelectionWarning)
            found = trisymmetric(
                M,
                r,
                pool=pool,
                max_iter=self.max_iter,
                tol=self.tol,
                callback=with_verbose(self.callback, self.verbose),
            )
        chosen = cast("Selection", found.selection)
        warn_if_fewer(chosen.col_indices, r, ANCHORS)
        self.components_ = _shares(found.col_factor, axis=1)
        self.n_components_ = len(self.components_)
        self.core_ = _shares(np.asarray(found.core))
        W = self._mixtures(M)
        factors = Factorization(
            row_factor=W,
            core=None,
            col_factor=self.components_,
            row_labels=factor_labels(W, np.linalg.norm(self.components_, axis=1)),
            col_labels=factor_labels(self.components_.T, np.linalg.norm(W / W.max(), axis=0)),
        )
        self._store(factors, replace(chosen, row_indices=None, history=tuple(found.meta["objective"])))
        self.n_iter_ = cast("int", chosen.n_iter)
        self.reconstruction_err_ = frobenius_error(M, factors)


def _shares(part: NDArray[Any], axis: int | None = None) -> NDArray[Any]:
    """Return the entries as shares of their sum, over all of them or within each row."""
    scaled = part / part.max()
    return np.asarray(scaled / scaled.sum(axis=axis, keepdims=True))
