"""Measures of selections, approximations and clusters."""

from cosep.metrics.measures import clustering_accuracy, index_accuracy, relative_approximation

__all__ = ["clustering_accuracy", "index_accuracy", "relative_approximation"]
