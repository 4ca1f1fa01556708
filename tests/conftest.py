"""Shared fixtures: the kinds of matrix that every algorithm accepts, and the folder of real data."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, settings

# Continuous integration tries the same examples every time; everywhere else new ones are drawn. Nothing is timed.
settings.register_profile(
    "untimed", derandomize=bool(os.environ.get("CI")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two worker processes with one thread each, started when first asked for."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port, so that several runs do not meet
        scheduler_kwargs={"dashboard": False},
        local_directory=tmp_path_factory.mktemp("workers"),
        silence_logs=50,
    ) as workers:
        yield workers


@pytest.fixture
def client(cluster):
    """What Dask computes on while a test lasts: the two workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as one:
        one.wait_for_workers(2, timeout=60)
        yield one


@pytest.fixture(params=["synchronous", "threads", "cluster"])
def scheduler(request):
    """Each of the ways in which Dask computes."""
    if request.param == "cluster":
        request.getfixturevalue("client")
        yield request.param
        return
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler=request.param):
        yield request.param
