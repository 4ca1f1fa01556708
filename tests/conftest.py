"""Shared fixtures: the kinds of matrix that every algorithm accepts, and the folder of real data."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import settings

# Continuous integration tries the same examples every time; everywhere else new ones are drawn.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def quietly(build):
    """Return a constructor that does not complain about patterns that its format stores badly."""

    def constructor(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.sparse.SparseEfficiencyWarning)
            return build(X)

    return constructor


KINDS = {
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


@pytest.fixture(params=KINDS, ids=lambda name: name.replace(" ", "-"))
def kind(request):
    """A function that turns an ndarray into one kind of matrix."""
    return KINDS[request.param]


@pytest.fixture(scope="session")
def data_home():
    """The folder named by COSEP_DATA; tests that need it skip without it."""
    folder = os.environ.get("COSEP_DATA")
    if not folder:
        pytest.skip("COSEP_DATA is not set: the published data sets are not here")
    return Path(folder)
