"""Data to try things on."""

from cosep.datasets.synthetic import Planted, make_coseparable

__all__ = ["Planted", "make_coseparable"]
