"""Explain a nonnegative matrix by a few of its own rows and columns.

The public names are resolved on first use, so that importing the package loads neither scikit-learn nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosep import datasets, metrics, theory
    from cosep.datasets.synthetic import make_coseparable
    from cosep.estimators import CoSeparableNMF, SeparableNMF
    from cosep.factorization import Factorization, Scaling, Selection, SelectionWarning
    from cosep.metrics import clustering_accuracy, index_accuracy, relative_approximation
    from cosep.mixing import mix
    from cosep.select.both_sides import both_sides
    from cosep.select.cosfgm import cosfgm
    from cosep.select.fgm import fgm
    from cosep.select.pool import Pool
    from cosep.select.spa import spa

__version__ = "0.1.0"

_HOMES = {
    "CoSeparableNMF": "cosep.estimators",
    "Factorization": "cosep.factorization",
    "Pool": "cosep.select.pool",
    "Scaling": "cosep.factorization",
    "Selection": "cosep.factorization",
    "SelectionWarning": "cosep.factorization",
    "SeparableNMF": "cosep.estimators",
    "both_sides": "cosep.select.both_sides",
    "clustering_accuracy": "cosep.metrics",
    "cosfgm": "cosep.select.cosfgm",
    "fgm": "cosep.select.fgm",
    "index_accuracy": "cosep.metrics",
    "make_coseparable": "cosep.datasets.synthetic",
    "mix": "cosep.mixing",
    "relative_approximation": "cosep.metrics",
    "spa": "cosep.select.spa",
}
_MODULES = ("datasets", "metrics", "theory")

__all__ = [
    "CoSeparableNMF",
    "Factorization",
    "Pool",
    "Scaling",
    "Selection",
    "SelectionWarning",
    "SeparableNMF",
    "__version__",
    "both_sides",
    "clustering_accuracy",
    "cosfgm",
    "datasets",
    "fgm",
    "index_accuracy",
    "make_coseparable",
    "metrics",
    "mix",
    "relative_approximation",
    "spa",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"cosep.{name}")
    else:
        msg = f"module 'cosep' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
