"""scikit-learn estimators: check once, call one function, store."""

from cosep.estimators.coseparable import CoSeparableNMF
from cosep.estimators.separable import SeparableNMF

__all__ = ["CoSeparableNMF", "SeparableNMF"]
