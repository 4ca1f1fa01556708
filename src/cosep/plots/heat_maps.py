"""Heat maps: the core, and the whole matrix with its rows and columns put together by cluster."""

from typing import Any

import numpy as np

from cosep.findings.describe import nouns_of
from cosep.findings.overview import PictureAxis, overview
from cosep.findings.topics import topics_of
from cosep.findings.wording import Names, name_of, quantity, readable, squeezed
from cosep.matrix.checks import check_nonzero
from cosep.plots.drawing import HOVER_LETTERS, MOST_LISTED, TICK_LETTERS, Figure, finished, heat_map, label
from cosep.records.factorization import Factorization
from cosep.records.filled_data import matrix_of
from cosep.records.model import factorization_of
from cosep.utils.messages import counted

# A core with at most this many rows and columns has its numbers written in it.
MOST_WRITTEN = 16
# A cluster is named on the axis of the reordered matrix if it takes up at least this share of it.
MIN_NAMED_SHARE = 0.022
# The colours of the reordered matrix end at this quantile.
SATURATED_QUANTILE = 0.995
# Lines between clusters are drawn if there are at most this many clusters.
MOST_MARKED = 75


def core(model: Any) -> Figure:
    """Draw the core, ``X[rows][:, cols]``, as a heat map: a line for each topic, columns next to their topic.

    Parameters
    ----------
    model : fitted CoSeparableNMF or Factorization
        What was fitted, or what `mix` returned.

    Returns
    -------
    plotly.graph_objects.Figure
        Colour is the entry divided by the square roots of the sums of its row and its column in the core.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> plots.core(CoSeparableNMF(4, 3).fit(X)).data[0].z.shape
    (4, 3)
    """
    factorization = factorization_of(model)
    topics = topics_of(factorization)
    rows, order = topics.rows[:MOST_LISTED], topics.col_order[:MOST_LISTED]
    row_names = [f"{number}. {name_of(factorization.row_names, int(i), 'row')}" for number, i in enumerate(rows, 1)]
    col_names = [name_of(factorization.col_names, int(j), "column") for j in topics.cols[order]]
    figure = heat_map(topics.links[: len(rows), order], row_names, col_names, float(topics.links.max()) or 1.0)
    written = np.array([[quantity(value) for value in row] for row in topics.core[: len(rows), order]], dtype=object)
    in_cells = np.where(topics.core[: len(rows), order] > 0, written, "")
    figure.update_traces(
        text=in_cells if max(topics.core.shape) <= MOST_WRITTEN else None,
        texttemplate="%{text}",
        hovertext=written,
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>value %{hovertext}<extra></extra>",
    )
    return finished(
        figure,
        title="The core: where the selected rows and columns meet",
        x="selected columns, by topic",
        y="selected rows",
        height=190 + max(15, min(60, 480 // len(row_names))) * len(row_names),
        note="Colour: the entry relative to the sums of its row and column, so that rows and columns with large sums "
        f"do not stand out for that alone. Hovering shows the entry itself.{_cut(topics.core.shape)}",
    )


def _cut(shape: tuple[int, ...]) -> str:
    """Say which part of a large core is drawn."""
    if max(shape) <= MOST_LISTED:
        return ""
    rows, cols = (min(size, MOST_LISTED) for size in shape)
    return f" The first {rows} of {shape[0]} rows and the first {cols} of {shape[1]} columns in this order are drawn."


def matrix(X: Any, model: Any) -> Figure:
    """Draw X with its rows and columns put together by cluster, averaged where there are too many to see.

    Colour shows the entries as they count in the norm of the model.

    Parameters
    ----------
    X : array-like or sparse of shape (m, n)
        The matrix that the model was fitted to.
    model : fitted CoSeparableNMF or Factorization
        What was fitted, or what `mix` returned.

    Returns
    -------
    plotly.graph_objects.Figure
        At most about 150 x 150 cells; ``layout.meta`` says what one of them stands for.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots
    >>> X, _ = make_coseparable(600, 40, 4, 3, random_state=0)
    >>> figure = plots.matrix(X, CoSeparableNMF(4, 3).fit(X))
    >>> figure.data[0].z.shape[0] <= 150, figure.data[0].z.shape[1]
    (True, 40)
    """
    factorization = factorization_of(model, X)
    topics = topics_of(factorization)
    M = matrix_of(X, factorization)
    if M.shape != factorization.shape:
        msg = f"X has shape {M.shape}, but the model stands for a matrix of shape {factorization.shape}."
        raise ValueError(msg)
    check_nonzero(M)
    picture = overview(factorization, topics, M)
    nouns = nouns_of(factorization)
    row_heads = {k: name_of(factorization.row_names, int(i), nouns.row) for k, i in enumerate(topics.rows)}
    col_heads = {k: name_of(factorization.col_names, int(j), nouns.col) for k, j in enumerate(topics.cols)}
    shades = np.sqrt(picture.values / picture.values.max())
    figure = heat_map(
        shades,
        _line_names(picture.rows, factorization.row_names, nouns.row, row_heads),
        _line_names(picture.cols, factorization.col_names, nouns.col, col_heads),
        float(np.quantile(shades, SATURATED_QUANTILE)) or 1.0,
    )
    figure.update_traces(hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>")
    for axis, side, heads in (("x", picture.cols, col_heads), ("y", picture.rows, row_heads)):
        _mark_clusters(figure, axis, side, {k: label(name) for k, name in heads.items()})
    return finished(
        figure,
        title="The whole matrix, its rows and columns put together by cluster",
        x="columns, by cluster",
        y="rows, by cluster",
        height=640,
        note=f"{_thinning(picture.rows, 'row')} {_thinning(picture.cols, 'column')} Colour: the entries"
        f"{_norm_note(factorization)}, on a square-root scale, saturated for the highest 0.5% of the picture.",
    )


def _norm_note(factorization: Factorization) -> str:
    """Say by what the entries are multiplied, unless the norm is the plain one."""
    scaling = factorization.scaling
    return "" if scaling is None else f" as they count in the norm of the model (scaling: {readable(scaling.name, 60)})"


def _line_names(side: PictureAxis, names: Names, kind: str, heads: dict[int, str]) -> list[str]:
    """Return what to call each line of the reordered matrix: its row, or the first of its rows and how many more."""
    return [
        squeezed(name_of(names, int(part[0]), kind), HOVER_LETTERS)
        + (f" and {counted(len(part) - 1, f'more {kind}')}" if len(part) > 1 else "")
        + (f" (cluster of {squeezed(heads[cluster], TICK_LETTERS)})" if cluster in heads else "")
        for part, cluster in zip(side.members, side.clusters.tolist(), strict=True)
    ]


def _mark_clusters(figure: Figure, axis: str, side: PictureAxis, heads: dict[int, str]) -> None:
    """Draw lines between clusters and put the names of the larger ones on the axis."""
    starts = np.flatnonzero(np.diff(side.clusters, prepend=-2))
    stops = np.append(starts[1:], len(side.clusters))
    other = "y" if axis == "x" else "x"
    lines = [
        {
            "type": "line",
            **{f"{axis}{end}": float(start) - 0.5 for end in (0, 1)},
            **{f"{other}{end}": end for end in (0, 1)},
            f"{other}ref": "paper",
        }
        for start in starts[1:]
        if len(starts) <= MOST_MARKED
    ]
    named = [
        ((start + stop - 1) / 2, heads.get(int(side.clusters[start]), "none"))
        for start, stop in zip(starts, stops, strict=True)
        if stop - start >= MIN_NAMED_SHARE * len(side.clusters)
    ]
    figure.update_layout(
        {
            "shapes": [*figure.layout.shapes, *lines],
            f"{axis}axis": {
                "tickvals": [at for at, _ in named],
                "ticktext": [name for _, name in named],
                "tickfont": {"size": 12},
                "tickangle": -45 if axis == "x" else 0,
            },
        }
    )


def _thinning(side: PictureAxis, kind: str) -> str:
    """Say what a line of the reordered matrix stands for, and what is not in it."""
    lines = f"Shown one by one: {counted(side.n_items, kind)}"
    if not side.is_whole:
        mean = side.n_items / len(side.members)
        about = f"{mean:.0f}" if mean >= 10 else f"{mean:.1f}"
        lines = f"Each of the {len(side.members)} lines of {kind}s is the mean of about {about} of {side.n_items:,}"
        lines += ", neighbours in this order"
    zeros = f"; {counted(side.n_zero, f'all-zero {kind}')} left out" if side.n_zero else ""
    return f"{lines}{zeros}."
