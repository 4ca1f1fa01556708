"""Compilation of all numerical kernels before they are needed."""

import pkgutil
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import cosep.kernels
from cosep.assess.explanation import explain
from cosep.assess.path import selection_path
from cosep.assess.rank import choose_rank
from cosep.datasets.synthetic import make_coseparable
from cosep.estimators.coseparable import CoSeparableNMF
from cosep.nmf.ahals import ahals
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS
from cosep.select.fgm import SOLVERS, fgm

# Rows and columns of the matrix that is fitted, and how many are selected.
SIZES = (30, 20, 3, 3)


def compile_kernels() -> Path | None:
    """Compile all numerical kernels, and keep the machine code for later processes of the same user.

    Kernels are compiled when they are first called, which takes seconds once. Call this when the package is installed
    or an image is built, so that the first fit does not wait. Numba keeps the machine code next to the package, in the
    folder named by the environment variable NUMBA_CACHE_DIR, or in the cache folder of the user.

    Returns
    -------
    Path or None
        The folder of the machine code; None if no such folder can be written, so that each process compiles again.

    Examples
    --------
    >>> from cosep import compile_kernels
    >>> folder = compile_kernels()
    """
    dense = make_coseparable(*SIZES, noise=0.1, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X in (dense, scipy.sparse.csr_array(dense), dense.astype(np.float32)):
            model = CoSeparableNMF(*SIZES[2:]).fit(X)
            explain(X, model)
            selection_path(X, model)
        gappy = np.where(np.arange(dense.size).reshape(dense.shape) % 7 == 0, np.nan, dense)
        CoSeparableNMF(*SIZES[2:], missing="nan").fit(gappy).transform(gappy)
        choose_rank(dense, [2])
        for both in BOTH_SELECTORS.values():
            both(dense, *SIZES[2:])
        for one in (*COLUMN_SELECTORS.values(), *EITHER_SELECTORS.values()):
            one(dense, SIZES[2])
        for solver in SOLVERS:
            fgm(dense, SIZES[2], solver=solver, max_iter=50)
        ahals(dense, SIZES[2])
    caches = {Path(path) for kernel in kernels().values() if (path := kernel.stats.cache_path)}
    return min(caches, default=None)


def kernels() -> dict[str, Any]:
    """Return all compiled functions of the package by their names."""
    modules = [import_module(one.name) for one in pkgutil.iter_modules(cosep.kernels.__path__, "cosep.kernels.")]
    return {name: value for module in modules for name, value in vars(module).items() if hasattr(value, "py_func")}
