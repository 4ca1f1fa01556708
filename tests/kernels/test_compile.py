"""The decorator of the kernels: cached where the disk allows it, compiled anew in every process where not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import cosep
from cosep.kernels.compile import kernel


def halves(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] / 2.0
    return total


def reciprocal(x):
    return 1.0 / x


@pytest.fixture
def refusing_njit(monkeypatch):
    """Make numba refuse to cache, as it does where no folder can be written; return what it was asked for."""
    njit, asked = numba.njit, []

    def refuse(function):
        msg = f"cannot cache function {function.__name__!r}: no locator available for file"
        raise RuntimeError(msg)

    def njit_without_cache(*args, **options):
        asked.append(options)
        return refuse if options.get("cache") else njit(*args, **options)

    monkeypatch.setattr(numba, "njit", njit_without_cache)
    return asked


def test_kernel_is_compiled_cached_and_keeps_its_python_source(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = kernel(halves)
    assert compiled.py_func is halves
    assert compiled(np.array([1.0, 2.0, 3.0])) == halves(np.array([1.0, 2.0, 3.0])) == 3.0
    assert len(compiled.signatures) == 1
    assert len(list(tmp_path.rglob("*.nbi"))) == 1


def test_kernel_is_compiled_without_a_cache_where_numba_refuses_one(refusing_njit):
    compiled = kernel(halves)
    assert [bool(options.get("cache")) for options in refusing_njit] == [True, False]
    assert compiled.py_func is halves
    assert compiled(np.array([1.0, 2.0, 3.0])) == 3.0
    assert len(compiled.signatures) == 1
    assert compiled.stats.cache_path is None


def test_kernel_divides_by_zero_as_numpy_does_with_a_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert kernel(reciprocal)(0.0) == np.inf


@pytest.mark.usefixtures("refusing_njit")
def test_kernel_divides_by_zero_as_numpy_does_without_a_cache():
    assert kernel(reciprocal)(0.0) == np.inf


def test_kernel_hides_no_other_error(monkeypatch):
    def broken(**options):
        msg = f"unknown option among {sorted(options)}"
        raise TypeError(msg)

    monkeypatch.setattr(numba, "njit", broken)
    with pytest.raises(TypeError, match="unknown option"):
        kernel(halves)


IMPORT_AND_PROJECT = """
import sys
from pathlib import Path
import numba
import numpy as np
import cosep
from cosep.kernels import projections, quadratic

assert Path(cosep.__file__).is_relative_to(sys.argv[1]), cosep.__file__
try:
    numba.njit(cache=True)(projections.project_dictionary.py_func)
except RuntimeError as error:
    assert "cannot cache" in str(error), error
else:
    raise AssertionError("this install can be cached, so it shows nothing")
assert projections.project_dictionary.stats.cache_path is None
print(projections.project_dictionary(np.array([[-1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 2.0])).tolist())
X, truth = cosep.make_coseparable(30, 20, 3, 3, random_state=0)
model = cosep.CoSeparableNMF(n_rows=3, n_cols=3).fit(X)
print(set(model.col_indices_) == set(truth.col_indices))
from cosep.kernels.compile import is_compiled
print(is_compiled())
"""


def test_package_in_a_folder_that_cannot_be_written_and_without_a_home_still_imports_and_runs(tmp_path):
    package = tmp_path / "cosep"
    shutil.copytree(Path(cosep.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # The right to write everywhere does not help to make a folder where a file is, nor below the null device:
    # this stops the superuser as well.
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    nowhere = f"{os.devnull}/home"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "COV_"))}
    homes = dict.fromkeys(["HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "IPYTHONDIR"], nowhere)
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_AND_PROJECT, str(tmp_path)],
        env={**kept, **homes, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[:3] == ["[[0.2, 0.4], [0.0, 0.0]]", "True", "False"]
    assert not list(tmp_path.rglob("*.nbi"))
