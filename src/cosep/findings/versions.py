"""Versions of the packages that a result depends on."""

import platform
from importlib.metadata import version

import cosep

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Return the versions of cosep, Python and the packages that compute the result."""
    software = {package: version(package) for package in PACKAGES}
    return {"cosep": cosep.__version__, "python": platform.python_version(), **software}
