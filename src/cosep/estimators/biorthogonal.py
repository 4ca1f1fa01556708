"""BiorthogonalNMF: rows and columns clustered at once by two nearly orthogonal factors."""

import numpy as np
from sklearn.base import BiclusterMixin

from cosep.estimators.base import Model, biclusters
from cosep.matrix.checks import check_pair
from cosep.matrix.local import LocalMatrix
from cosep.nmf.biorthogonal import biorthogonal
from cosep.utils.types import Callback
from cosep.utils.verbose import with_verbose


class BiorthogonalNMF(BiclusterMixin, Model):
    """Cluster rows and columns at once: ``X ~ F @ S @ G'``, all nonnegative, ``F'F`` and ``G'G`` near the identity.

    Multiplicative updates of C. Ding, T. Li, W. Peng and H. Park, doi:10.1145/1150402.1150420 (BiOR-NM3F).

    Parameters
    ----------
    n_components : int or (int, int)
        How many clusters of rows and of columns, one number for both or one for each.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when the squared error changes by less than ``tol`` times the squared norm of X in ten iterations.
    callback : callable, optional
        Called as ``callback("biorthogonal", step, n_steps, relative_error)`` during ``fit``.
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.

    Attributes
    ----------
    row_factor_, core_, col_factor_ : ndarray
        F, of shape (m, r1), S, and G', of shape (r2, n_features), for r1 clusters of rows and r2 of columns.
    orthogonality_ : float
        The larger of ``||F'F - I||_F`` and ``||G'G - I||_F``: zero means that no row or column is in two clusters.
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share; -1 for an all-zero row or column.
    rows_, columns_ : ndarray of bool, of shape (r1, m) and (r1, n_features)
        One bicluster for each cluster of rows: the rows with its label, and the columns with the label that it is
        tied to most through the core.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    n_iter_ : int
        Iterations of the fit.
    history_ : tuple
        ``1/2 ||X - F S G'||^2 / ||X||^2`` at the start and after each iteration; it may rise sometimes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    Like the biclustering models of scikit-learn it has no ``transform``: the columns of F are orthonormal over all
    rows of the fit together, so a new row has no row of F of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import BiorthogonalNMF
    >>> X = np.kron(np.diag([2.0, 1.0]), np.ones((3, 2)))
    >>> model = BiorthogonalNMF(n_components=2).fit(X)
    >>> model.row_labels_, model.get_shape(0)
    (array([0, 0, 0, 1, 1, 1]), (3, 2))
    """

    def __init__(
        self,
        n_components: int | tuple[int, int] = 10,
        *,
        max_iter: int = 1000,
        tol: float = 1e-6,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    def _fit(self, M: LocalMatrix) -> None:
        """Cluster the rows and columns of X."""
        r = check_pair(self.n_components, "n_components", M.shape)
        factors = biorthogonal(
            M, r, max_iter=self.max_iter, tol=self.tol, callback=with_verbose(self.callback, self.verbose)
        )
        self._store(factors)
        self._store_progress(M, factors)
        self.core_ = np.asarray(factors.core)
        self.orthogonality_ = factors.meta["orthogonality"]
        self.rows_, self.columns_ = biclusters(factors)
