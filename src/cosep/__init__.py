"""Explain a nonnegative matrix by a few of its own rows and columns.

The public names are resolved on first use, so that importing the package loads neither scikit-learn nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosep import datasets, io, metrics, plots, report, theory
    from cosep.assess.explanation import Explanation, explain
    from cosep.assess.rank import RankChoice, choose_rank
    from cosep.assess.stability import Stability, stability
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
    from cosep.findings.annotation import annotate
    from cosep.findings.describe import describe
    from cosep.findings.record import Findings
    from cosep.matrix.cutting import row_blocks
    from cosep.matrix.scaling import Scaling
    from cosep.metrics import clustering_accuracy, index_accuracy, relative_approximation
    from cosep.records.factorization import Factorization
    from cosep.records.selection import Selection, SelectionWarning
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
    from cosep.select.preselection import Preselection, preselect
    from cosep.select.snpa import snpa
    from cosep.select.spa import spa
    from cosep.select.xray import xray
    from cosep.solve.mix import mix
    from cosep.solve.mix_generalized import mix_generalized

__version__ = "0.1.0"

_HOMES = {
    "BiorthogonalNMF": "cosep.estimators",
    "CUR": "cosep.estimators",
    "CoSeparableNMF": "cosep.estimators",
    "Explanation": "cosep.assess.explanation",
    "Factorization": "cosep.records.factorization",
    "Findings": "cosep.findings.record",
    "GeneralizedSeparableNMF": "cosep.estimators",
    "HALSNMF": "cosep.estimators",
    "MinVolNMF": "cosep.estimators",
    "Pool": "cosep.select.pool",
    "Preselection": "cosep.select.preselection",
    "RankChoice": "cosep.assess.rank",
    "Scaling": "cosep.matrix.scaling",
    "Selection": "cosep.records.selection",
    "SelectionWarning": "cosep.records.selection",
    "SeparableNMF": "cosep.estimators",
    "Stability": "cosep.assess.stability",
    "TriSymmetricNMF": "cosep.estimators",
    "annotate": "cosep.findings.annotation",
    "both_sides": "cosep.select.both_sides",
    "choose_rank": "cosep.assess.rank",
    "clustering_accuracy": "cosep.metrics",
    "cosfgm": "cosep.select.cosfgm",
    "cur": "cosep.select.cur",
    "describe": "cosep.findings.describe",
    "explain": "cosep.assess.explanation",
    "faithful": "cosep.select.faithful",
    "fgm": "cosep.select.fgm",
    "greedy": "cosep.select.greedy",
    "gsfgm": "cosep.select.gsfgm",
    "gspa": "cosep.select.gspa",
    "index_accuracy": "cosep.metrics",
    "make_coseparable": "cosep.datasets.synthetic",
    "mix": "cosep.solve.mix",
    "mix_generalized": "cosep.solve.mix_generalized",
    "preselect": "cosep.select.preselection",
    "preselected": "cosep.select.preselected",
    "relative_approximation": "cosep.metrics",
    "row_blocks": "cosep.matrix.cutting",
    "snpa": "cosep.select.snpa",
    "spa": "cosep.select.spa",
    "stability": "cosep.assess.stability",
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
    "Findings",
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
    "describe",
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
