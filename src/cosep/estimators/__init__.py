"""scikit-learn estimators: check once, call one function, store."""

from cosep.estimators.coseparable import CoSeparableNMF
from cosep.estimators.cur import CUR
from cosep.estimators.generalized import GeneralizedSeparableNMF
from cosep.estimators.separable import SeparableNMF

__all__ = ["CUR", "CoSeparableNMF", "GeneralizedSeparableNMF", "SeparableNMF"]
