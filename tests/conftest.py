"""Fixtures that all tests share, and markers for tests that need more than the package itself.

Tests are marked here, by what they use, so that no test file has to: see `pytest_collection_modifyitems`. Only `slow`
is written where it applies.
"""

import os
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from hypothesis import HealthCheck, settings

from browsing import launched
from kinds import KINDS

# Continuous integration tries the same examples every time; everywhere else new ones are drawn. Nothing is timed.
settings.register_profile(
    "untimed", derandomize=bool(os.environ.get("CI")), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


# A test gets a marker if it uses one of these fixtures, or if its code, or that of its fixtures and helpers, names one
# of these modules.
FIXTURES = {"data_home": "data", "cluster": "dask", "client": "dask", "scheduler": "dask", "browser": "browser"}
MODULES = {"subprocess": "subprocess", "dask": "dask", "da": "dask", "dd": "dask", "DaskBlocks": "dask"}


def pytest_collection_modifyitems(items):
    """Mark the tests that start processes or a browser, compute with Dask or read the published data sets."""
    for item in items:
        used = {FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in FIXTURES}
        for function in functions_of(item):
            used |= {MODULES[name] for name in names_in(function) if name in MODULES}
        for marker in sorted(used):
            item.add_marker(marker)


def functions_of(item):
    """Return the function of a test, those of its fixtures, and those that it is parametrised by."""
    if not isinstance(getattr(item, "function", None), FunctionType):
        return []  # a doctest
    fixtures = [definitions[-1].func for definitions in item._fixtureinfo.name2fixturedefs.values()]
    values = getattr(getattr(item, "callspec", None), "params", {}).values()
    return [one for one in (item.function, *fixtures, *values) if isinstance(one, FunctionType)]


@cache
def names_in(function):
    """Return the global names that the code of a function uses, and those that its helpers in the tests use."""
    names, found, codes = set(), {function}, [(function.__code__, function.__globals__)]
    while codes:
        code, scope = codes.pop()
        names.update(code.co_names, code.co_varnames)
        codes += [(part, scope) for part in code.co_consts if isinstance(part, CodeType)]
        for helper in {scope.get(name) for name in code.co_names if isinstance(scope.get(name), FunctionType)} - found:
            if Path(helper.__code__.co_filename).is_relative_to(Path(__file__).parent):
                found.add(helper)
                codes.append((helper.__code__, helper.__globals__))
    return names


@pytest.fixture(params=KINDS, ids=lambda name: name.replace(" ", "-"))
def kind(request):
    """A function that turns an ndarray into one kind of matrix; in tests/matrix, into every kind."""
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


@pytest.fixture(scope="module")
def browser():
    """Chromium, launched when first asked for."""
    with launched() as chromium:
        yield chromium


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
