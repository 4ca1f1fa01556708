"""Shared by all figures: colours of the methods, style, and PNG files without dates."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

mpl.use("Agg")

# One colour per method, the same in every figure; methods that select nothing are grey.
COLOURS = {
    "faithful": "#d1495b",
    "default": "#f1948a",
    "CoS-FGM": "#1b4f72",
    "CoS-FGM, certified": "#2e86c1",
    "SPA+": "#e59400",
    "SPAC": "#b7950b",
    "SPAR": "#7d6608",
    "GSPA": "#1e8449",
    "GS-FGM": "#58d68d",
    "greedy": "#af7ac5",
    "BiOR-NM3F": "#784212",
    "A-HALS": "#566573",
    "MV-NMF": "#aeb6bf",
    "NMF": "#17202a",
    "SpectralCoclustering": "#ec7063",
}
STYLE: Any = {
    "font.size": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7e9",
    "legend.frameon": False,
    "svg.hashsalt": "cosep",
}


@contextmanager
def figure(path: Path, size: tuple[float, float] = (8.0, 5.0), **layout: Any) -> Iterator[Figure]:
    """Yield an empty figure, and write it as a PNG without dates or versions."""
    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=size, layout="constrained", **layout)
        yield drawn
        drawn.savefig(path, dpi=150, metadata={"Software": None})
