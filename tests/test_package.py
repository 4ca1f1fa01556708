"""What importing the package promises."""

import subprocess
import sys

import pytest

import cosep


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_loads_neither_scikit_learn_nor_numba():
    code = "import sys, cosep; print([name for name in ('sklearn', 'numba', 'scipy', 'numpy') if name in sys.modules])"
    assert run(code) == "[]"


def test_every_public_name_resolves_and_is_listed():
    for name in cosep.__all__:
        assert getattr(cosep, name) is not None
    assert set(cosep.__all__) == set(dir(cosep))


def test_every_public_function_has_an_example():
    for name in cosep.__all__:
        value = getattr(cosep, name)
        if callable(value) and name not in {"Selection", "Scaling", "SelectionWarning"}:
            assert ">>> " in value.__doc__, name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cosep.nonsense  # noqa: B018 - the access is the test
