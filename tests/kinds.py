"""The kinds of matrix that every algorithm accepts."""

import warnings

import numpy as np
import scipy.sparse


def quietly(build):
    """Return a constructor that does not complain about patterns that its format stores badly."""

    def constructor(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.sparse.SparseEfficiencyWarning)
            return build(X)

    return constructor


EVERY_KIND = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "list": lambda X: X.tolist(),
    **{
        f"{name}_{kind}": quietly(getattr(scipy.sparse, f"{name}_{kind}"))
        for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for kind in ("array", "matrix")
    },
}
# Behind `as_matrix` there are only arrays of either order, CSR and CSC; a list and COO show that it is called.
DIFFERENT = ("C order", "Fortran order", "list", "csr_array", "csc_matrix", "coo_array")
KINDS = {name: EVERY_KIND[name] for name in DIFFERENT}
