"""Explain a nonnegative matrix by a few of its own rows and columns.

The public names are resolved on first use, so that importing the package loads neither scikit-learn nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosep import datasets, io, metrics, plots, report, theory
    from cosep.annotation import annotate
    from cosep.datasets.synthetic import make_coseparable
    from cosep.estimators import (
        CUR,
        HALSNMF,
        BiorthogonalNMF,
        CoSeparableNMF,
        GeneralizedSeparableNMF,
        MinVolNMF,
        SeparableNMF,
        TriSymmetricNMF,
    )
    from cosep.explanation import Explanation, explain
    from cosep.factorization import Factorization, Scaling, Selection, SelectionWarning
    from cosep.generalized import mix_generalized
    from cosep.matrix.cutting import row_blocks
    from cosep.metrics import clustering_accuracy, index_accuracy, relative_approximation
    from cosep.mixing import mix
    from cosep.preselection import Preselection, preselect
    from cosep.rank import RankChoice, choose_rank
    from cosep.resampling import Stability, stability
    from cosep.select.both_sides import both_sides
    from cosep.select.cosfgm import cosfgm
    from cosep.select.cur import cur
    from cosep.select.faithful import faithful
    from cosep.select.fgm import fgm
    from cosep.select.greedy import greedy
    from cosep.select.gsfgm import gsfgm
    from cosep.select.gspa import gspa
    from cosep.select.pool import Pool
    from cosep.select.preselected import preselected
    from cosep.select.snpa import snpa
    from cosep.select.spa import spa
    from cosep.select.xray import xray

__version__ = "0.1.0"

_HOMES = {
    "BiorthogonalNMF": "cosep.estimators",
    "CUR": "cosep.estimators",
    "CoSeparableNMF": "cosep.estimators",
    "Explanation": "cosep.explanation",
    "Factorization": "cosep.factorization",
    "GeneralizedSeparableNMF": "cosep.estimators",
    "HALSNMF": "cosep.estimators",
    "MinVolNMF": "cosep.estimators",
    "Pool": "cosep.select.pool",
    "Preselection": "cosep.preselection",
    "RankChoice": "cosep.rank",
    "Scaling": "cosep.factorization",
    "Selection": "cosep.factorization",
    "SelectionWarning": "cosep.factorization",
    "SeparableNMF": "cosep.estimators",
    "Stability": "cosep.resampling",
    "TriSymmetricNMF": "cosep.estimators",
    "annotate": "cosep.annotation",
    "both_sides": "cosep.select.both_sides",
    "choose_rank": "cosep.rank",
    "clustering_accuracy": "cosep.metrics",
    "cosfgm": "cosep.select.cosfgm",
    "cur": "cosep.select.cur",
    "explain": "cosep.explanation",
    "faithful": "cosep.select.faithful",
    "fgm": "cosep.select.fgm",
    "greedy": "cosep.select.greedy",
    "gsfgm": "cosep.select.gsfgm",
    "gspa": "cosep.select.gspa",
    "index_accuracy": "cosep.metrics",
    "make_coseparable": "cosep.datasets.synthetic",
    "mix": "cosep.mixing",
    "mix_generalized": "cosep.generalized",
    "preselect": "cosep.preselection",
    "preselected": "cosep.select.preselected",
    "relative_approximation": "cosep.metrics",
    "row_blocks": "cosep.matrix.cutting",
    "snpa": "cosep.select.snpa",
    "spa": "cosep.select.spa",
    "stability": "cosep.resampling",
    "xray": "cosep.select.xray",
}
_MODULES = ("datasets", "io", "metrics", "plots", "report", "theory")

__all__ = [
    "CUR",
    "HALSNMF",
    "BiorthogonalNMF",
    "CoSeparableNMF",
    "Explanation",
    "Factorization",
    "GeneralizedSeparableNMF",
    "MinVolNMF",
    "Pool",
    "Preselection",
    "RankChoice",
    "Scaling",
    "Selection",
    "SelectionWarning",
    "SeparableNMF",
    "Stability",
    "TriSymmetricNMF",
    "__version__",
    "annotate",
    "both_sides",
    "choose_rank",
    "clustering_accuracy",
    "cosfgm",
    "cur",
    "datasets",
    "explain",
    "faithful",
    "fgm",
    "greedy",
    "gsfgm",
    "gspa",
    "index_accuracy",
    "io",
    "make_coseparable",
    "metrics",
    "mix",
    "mix_generalized",
    "plots",
    "preselect",
    "preselected",
    "relative_approximation",
    "report",
    "row_blocks",
    "snpa",
    "spa",
    "stability",
    "theory",
    "xray",
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
