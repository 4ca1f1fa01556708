"""HALSNMF: a matrix explained by a few nonnegative components."""

from cosep.estimators.base import Factorizer
from cosep.matrix.checks import check_count
from cosep.matrix.local import LocalMatrix
from cosep.nmf.ahals import LARGER_SIDE, ahals
from cosep.utils.types import Callback
from cosep.utils.verbose import with_verbose


class HALSNMF(Factorizer):
    """Explain a nonnegative matrix by a few nonnegative components, ``X ~ W @ H``, with the smallest error.

    Accelerated HALS of N. Gillis and F. Glineur, doi:10.1162/NECO_a_00256. Its components are mixtures that need not
    resemble any row. Its error is a reference for models of selected rows and columns.

    Parameters
    ----------
    n_components : int
        How many components.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when an iteration lowers the squared error by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("ahals", step, n_steps, relative_error)`` during ``fit``.
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H; each row sums to one. The component that explains most comes first.
    row_factor_, col_factor_ : ndarray of shape (m, n_components) and (n_components, n_features)
        W and H; W is what `transform` returns for the data of the fit.
    n_components_ : int
    row_labels_, column_labels_ : ndarray of int
        The component with the largest share; -1 for an all-zero row or column.
    reconstruction_err_ : float
        Frobenius norm of the difference between X and the product of the factors.
    n_iter_ : int
        Iterations of the fit.
    history_ : tuple
        ``1/2 ||X - WH||^2 / ||X||^2`` at the start and after each iteration.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import HALSNMF
    >>> X = np.array([[2.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    >>> model = HALSNMF(n_components=2).fit(X)
    >>> model.components_.round(2), round(model.score(X), 6)
    (array([[0.5, 0.5, 0. ], [0. , 0. , 1. ]]), 1.0)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        max_iter: int = 500,
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
        """Find the components of X."""
        r = check_count(self.n_components, "n_components", max(M.shape), LARGER_SIDE)
        factors = ahals(M, r, max_iter=self.max_iter, tol=self.tol, callback=with_verbose(self.callback, self.verbose))
        self._store(factors)
        self._store_progress(M, factors)
        self.components_ = factors.col_factor
        self.n_components_ = len(self.components_)
