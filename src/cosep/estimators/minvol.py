"""MinVolNMF: rows explained as mixtures of the corners of a small simplex."""

from typing import Any

from numpy.typing import NDArray

from cosep.estimators.base import Factorizer
from cosep.matrix.checks import check_count
from cosep.matrix.local import LocalMatrix
from cosep.nmf.minvol import minvol, simplex_mixtures
from cosep.utils.types import Callback
from cosep.utils.verbose import with_verbose


class MinVolNMF(Factorizer):
    """Explain every row of a nonnegative matrix as a mix of a few corners, ``X ~ W @ H``, that enclose little volume.

    ``min ||X - W H||_F^2 + l logdet(H H' + delta I)`` over ``H >= 0`` and rows of W in the unit simplex: weights that
    sum to at most one. Under mild conditions the corners are unique even if no row is one, where SeparableNMF
    needs one row at each. Leplat, Ang and Gillis, doi:10.1109/ICASSP.2019.8682280.

    Parameters
    ----------
    n_components : int
        How many corners.
    penalty : float
        The weight of the volume at the start, as a share of the error.
    delta : float
        Keeps the volume of flat corners above zero, in units of the largest squared norm of an initial corner.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when an iteration lowers the objective by less than ``tol`` times the squared norm of X.
    callback : callable, optional
        Called as ``callback("minvol", step, n_steps, relative_error)`` during ``fit``.
    verbose : bool
        Whether to print the progress of ``fit``. Default: False.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        H, the corners, in the units of X.
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
        The objective at the start and after each iteration; see ``cosep.nmf.minvol``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    The weights of new rows are in the simplex too, so that ``transform(2 * X)`` is not twice ``transform(X)``: a row
    far outside the corners is explained by the nearest mix of them.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import MinVolNMF
    >>> X = np.array([[4.0, 0.0], [0.0, 4.0], [1.0, 3.0]])
    >>> MinVolNMF(n_components=2).fit(X).transform(X).round(2)
    array([[1. , 0. ],
           [0. , 1. ],
           [0.25, 0.75]])
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        penalty: float = 0.1,
        delta: float = 0.1,
        max_iter: int = 500,
        tol: float = 1e-6,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.delta = delta
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    def _fit(self, M: LocalMatrix) -> None:
        """Find the corners that the rows of X are mixtures of."""
        options = {name: value for name, value in self.get_params(deep=False).items() if name != "n_components"}
        options["callback"] = with_verbose(self.callback, options.pop("verbose"))
        r = check_count(self.n_components, "n_components", M.shape[0], "n_samples")
        factors = minvol(M.T, r, **options).T
        self._store(factors)
        self._store_progress(M, factors)
        self.components_ = factors.col_factor
        self.n_components_ = len(self.components_)

    def _mixtures(self, M: LocalMatrix) -> NDArray[Any]:
        """Solve ``min ||M - U components_||_F`` over rows of U in the unit simplex."""
        return simplex_mixtures(M, self.components_).astype(M.dtype)
