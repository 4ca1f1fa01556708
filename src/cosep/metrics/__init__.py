"""Metrics of selections, approximations and clusters."""

from cosep.metrics.approximation import relative_approximation
from cosep.metrics.clustering import clustering_accuracy
from cosep.metrics.selections import index_accuracy

__all__ = ["clustering_accuracy", "index_accuracy", "relative_approximation"]
