"""Plotly figures of results: the core, the reordered matrix, errors, stability and the rank curve."""

from cosep.plots.figures import core, errors, matrix, rank_curve, stability

__all__ = ["core", "errors", "matrix", "rank_curve", "stability"]
