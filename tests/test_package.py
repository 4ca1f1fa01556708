"""What importing the package promises."""

import subprocess
import sys

import pytest

import cosep
from cosep.select import BOTH_SELECTORS, COLUMN_SELECTORS, EITHER_SELECTORS, OWN_VARIANTS


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_loads_neither_scikit_learn_nor_numba():
    code = "import sys, cosep; print([name for name in ('sklearn', 'numba', 'scipy', 'numpy') if name in sys.modules])"
    assert run(code) == "[]"


def test_every_public_name_resolves_and_is_listed():
    for name in cosep.__all__:
        assert getattr(cosep, name) is not None
    assert set(cosep.__all__) == set(dir(cosep))


def test_submodules_are_reachable_without_importing_them():
    names = "datasets", "io", "metrics", "plots", "report", "theory"
    code = f"import cosep; print([getattr(cosep, name).__name__ for name in {names}])"
    assert run(code) == str([f"cosep.{name}" for name in names])


def test_every_selector_is_public():
    for name in {*COLUMN_SELECTORS, *EITHER_SELECTORS, *BOTH_SELECTORS} - set(OWN_VARIANTS):
        assert getattr(cosep, name) is {**BOTH_SELECTORS, **COLUMN_SELECTORS, **EITHER_SELECTORS}[name]
    assert cosep.faithful is BOTH_SELECTORS["faithful"]
    assert cosep.faithful_columns is COLUMN_SELECTORS["faithful"]


def test_every_public_function_has_an_example():
    for name in cosep.__all__:
        value = getattr(cosep, name)
        if callable(value) and name not in {"Selection", "Scaling", "SelectionWarning"}:
            assert ">>> " in value.__doc__, name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cosep.nonsense  # noqa: B018 - the access is the test


FIT = """
import sys
{before}
import numpy as np
from cosep import CoSeparableNMF, make_coseparable, row_blocks
X, truth = make_coseparable(60, 40, 4, 4, random_state=0)
whole = CoSeparableNMF(4, 4).fit(X)
model = CoSeparableNMF(4, 4).fit(row_blocks([X[:20], X[20:]]))
print(set(whole.row_indices_) == set(model.row_indices_) == set(truth.row_indices))
print([name for name in ("dask", "distributed", "zarr") if sys.modules.get(name)])
"""


@pytest.mark.parametrize("before", ["", "sys.modules['dask'] = sys.modules['distributed'] = None"])
def test_data_in_memory_needs_no_dask(before):
    assert run(FIT.format(before=before)).split("\n") == ["True", "[]"]


def test_a_pass_leaves_the_settings_of_dask_as_they_were():
    code = """
import sys, dask, numpy as np
from functools import partial
from cosep import CoSeparableNMF
from cosep.matrix.dask import DaskBlocks
X = np.random.default_rng(0).uniform(size=(20, 5))
CoSeparableNMF(2, 2).fit(DaskBlocks([partial(np.copy, X)] * 2, [20, 20], 5))
from distributed import Client
print(dask.config.get("distributed.comm.timeouts.connect") is not None)
"""
    assert run(code) == "True"
