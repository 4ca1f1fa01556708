"""The common look of the figures, on light and on dark pages.

Names stay text: what plotly would read as markup is escaped.
"""

import textwrap
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from cosep.findings.wording import LONGEST_NAME, squeezed
from cosep.utils.extras import optional
from cosep.utils.types import Array

Figure = Any

# Letters of a name on an axis; the whole name is shown when hovering.
TICK_LETTERS = 30
LINE_LETTERS = 44
# Letters of a name that is shown when hovering over one of many points.
HOVER_LETTERS = 120
# The largest number of selected rows, and of selected columns, in one picture.
MOST_LISTED = 100
# With more columns than this, the names below a heat map are small and upright.
MOST_SLANTED = 24

_INK = {"light": "#26333a", "dark": "#dfe6e6"}
_FAINT = {"light": "#dcdfdc", "dark": "#323e44"}
_PAPER = {"light": "#ffffff", "dark": "#1a2125"}
_COLORS = {
    "light": ["#0f6f76", "#b9501a", "#6a4fa3", "#7d6414", "#ad2f5c", "#3268a3"],
    "dark": ["#5cc8bd", "#f0a36b", "#b9a3ea", "#e0c266", "#f08bac", "#8fbcee"],
}
_RAMPS = {
    "light": ["#fbfbf8", "#d5e8e2", "#93c8bf", "#479c9c", "#1b6b73", "#0b3944"],
    "dark": ["#1d262a", "#1c4147", "#1d6b6d", "#389f94", "#93d4b5", "#f2f7d9"],
}
COLORS = _COLORS["light"]


def template(scheme: str) -> dict[str, Any]:
    """Return the plotly template of a "light" or "dark" page: everything about a figure that depends on the scheme."""
    ink, faint = _INK[scheme], _FAINT[scheme]
    ramp = [[step / 5, color] for step, color in enumerate(_RAMPS[scheme])]
    axis = {
        "gridcolor": faint,
        "linecolor": faint,
        "zerolinecolor": faint,
        "tickcolor": faint,
        "automargin": True,
        "title": {"standoff": 14},
    }
    return {
        "layout": {
            "font": {"color": ink, "size": 13, "family": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"},
            "paper_bgcolor": _PAPER[scheme],
            "plot_bgcolor": _PAPER[scheme],
            "colorway": _COLORS[scheme],
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"bgcolor": ink, "bordercolor": ink, "font": {"color": _PAPER[scheme]}, "align": "left"},
            "shapedefaults": {"line": {"color": ink, "width": 1}, "opacity": 0.35},
        },
        "data": {"heatmap": [{"colorscale": ramp, "colorbar": {"outlinewidth": 0, "thickness": 12}}]},
    }


def graph_objects() -> ModuleType:
    """Return plotly.graph_objects, or raise ImportError with what to install."""
    module: ModuleType = optional("plotly.graph_objects", "cosep.plots", "cli")
    return module


def label(name: str, letters: int = TICK_LETTERS) -> str:
    """Return a name that plotly shows as it is, without reading tags, entities or formulas in it."""
    text = squeezed(name, letters)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def hovering(name: str, letters: int = LONGEST_NAME) -> str:
    """Return a name in lines that fit a small screen, to show when hovering."""
    return (
        "<br>".join(label(line, LINE_LETTERS) for line in textwrap.wrap(squeezed(name, letters), LINE_LETTERS))
        or "&nbsp;"
    )


def heat_map(values: Array, row_names: Sequence[str], col_names: Sequence[str], top: float) -> Figure:
    """Return a heat map of values from 0 to ``top``, with names on both axes and, in full, when hovering."""
    go = graph_objects()
    angle = -90 if len(col_names) > MOST_SLANTED else -45
    full = np.empty((*values.shape, 2), dtype=object)
    full[:, :, 0] = np.array([hovering(name) for name in row_names], dtype=object)[:, None]
    full[:, :, 1] = np.array([hovering(name) for name in col_names], dtype=object)
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32),
            customdata=full,
            zmin=0.0,
            zmax=top,
            colorbar={"tickvals": [0.0, top], "ticktext": ["none", "most"]},
        )
    )
    figure.update_xaxes(
        tickvals=list(range(len(col_names))),
        ticktext=[label(name) for name in col_names],
        tickangle=angle,
    )
    figure.update_yaxes(
        tickvals=list(range(len(row_names))), ticktext=[label(name) for name in row_names], autorange="reversed"
    )
    for update, number in ((figure.update_xaxes, len(col_names)), (figure.update_yaxes, len(row_names))):
        update(showgrid=False, zeroline=False, ticks="", tickfont={"size": 10 if number > MOST_SLANTED else 12})
    return figure


def finished(figure: Figure, *, title: str, x: str, y: str | None, height: int, note: str) -> Figure:
    """Set the title, the axis titles, the height and the look of a figure; the note goes to ``layout.meta``."""
    figure.update_layout(
        title={"text": title},
        height=height,
        margin={"l": 16, "r": 28, "t": 64, "b": 16},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        template=template("light"),
        meta={"note": note},
    )
    figure.update_xaxes(title={"text": x}, selector=-1)
    if y is not None:
        figure.update_yaxes(title={"text": y})
    return figure
