"""Tests whether a matrix is separable or co-separable, and how small its core can be, each with a certificate."""

from cosep.theory.biorthogonal import from_biorthogonal
from cosep.theory.coseparability import CoSeparability, MinimalCore, compress, is_coseparable, minimal_coseparable
from cosep.theory.cur import from_cur, to_cur
from cosep.theory.generalized import GeneralizedSeparability, is_generalized_separable
from cosep.theory.rays import ExtremeRays, extreme_rays
from cosep.theory.separability import Separability, is_separable
from cosep.theory.uniqueness import Exchange, TwoMixes, Uniqueness, is_unique

__all__ = [
    "CoSeparability",
    "Exchange",
    "ExtremeRays",
    "GeneralizedSeparability",
    "MinimalCore",
    "Separability",
    "TwoMixes",
    "Uniqueness",
    "compress",
    "extreme_rays",
    "from_biorthogonal",
    "from_cur",
    "is_coseparable",
    "is_generalized_separable",
    "is_separable",
    "is_unique",
    "minimal_coseparable",
    "to_cur",
]
