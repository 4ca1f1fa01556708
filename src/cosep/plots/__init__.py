"""Plotly figures of results: the core, the reordered matrix, errors, stability, and curves of sizes.

The figures need plotly, which comes with ``cosep[cli]``. Names stay text: what plotly would read as markup is escaped.
"""

from cosep.plots.curves import errors, rank_curve, selection_path, stability
from cosep.plots.heat_maps import core, matrix

__all__ = ["core", "errors", "matrix", "rank_curve", "selection_path", "stability"]
