"""scikit-learn estimators: check once, call one function, store."""

from cosep.estimators.biorthogonal import BiorthogonalNMF
from cosep.estimators.coseparable import CoSeparableNMF
from cosep.estimators.cur import CUR
from cosep.estimators.generalized import GeneralizedSeparableNMF
from cosep.estimators.hals import HALSNMF
from cosep.estimators.minvol import MinVolNMF
from cosep.estimators.separable import SeparableNMF
from cosep.estimators.trisymmetric import TriSymmetricNMF

__all__ = [
    "CUR",
    "HALSNMF",
    "BiorthogonalNMF",
    "CoSeparableNMF",
    "GeneralizedSeparableNMF",
    "MinVolNMF",
    "SeparableNMF",
    "TriSymmetricNMF",
]
