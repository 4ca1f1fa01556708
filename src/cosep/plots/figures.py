"""Results enter, plotly figures leave: the core, the reordered matrix, errors, stability, and the rank curve.

The figures need plotly, which comes with ``cosep[cli]``. Names stay text: what plotly would read as markup is escaped.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.assess.rank import RANK_COLUMNS
from cosep.findings.overview import Side, overview
from cosep.findings.topics import topics_of
from cosep.findings.wording import Names, count, name_of, quantity, squeezed
from cosep.matrix.checks import check_nonzero, check_number, check_positive, check_record
from cosep.matrix.validation import as_matrix
from cosep.plots.drawing import COLORS, TICK_LETTERS, Figure, finished, graph_objects, heat_map, hovering, label
from cosep.records.factorization import Factorization
from cosep.utils.columns import check_column, check_names, check_table
from cosep.utils.types import Indices

__all__ = ["core", "errors", "matrix", "rank_curve", "stability"]


# A core of at most so many rows and columns has its numbers written in it.
MOST_WRITTEN = 16
# Letters of a name when hovering over one of many.
HOVER_LETTERS = 120
# Selected rows, and selected columns, in one picture at the most.
MOST_LISTED = 100
# Points of an error curve at the most.
MOST_POINTS = 400
# A cluster is named on the axis of the reordered matrix if it takes up at least this share of it.
NAMED_SHARE = 0.022
# The colours of the reordered matrix end at this quantile.
SATURATED = 0.995
# Lines between clusters are drawn if these are not more.
MOST_MARKED = 75
DASHES = ("solid", "dash", "dot", "dashdot")


def core(factorization: Factorization) -> Figure:
    """Draw the core, ``X[rows][:, cols]``, as a heat map: a line for each topic, columns next to their topic.

    Parameters
    ----------
    factorization : Factorization
        That of a fitted `CoSeparableNMF`, or made by `mix`.

    Returns
    -------
    plotly.graph_objects.Figure
        Colour is the entry divided by the square roots of the sums of its row and its column in the core.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> plots.core(CoSeparableNMF(4, 3).fit(X).factorization_).data[0].z.shape
    (4, 3)
    """
    topics = topics_of(factorization)
    rows, order = topics.rows[:MOST_LISTED], topics.col_order[:MOST_LISTED]
    row_names = [f"{number}. {name_of(factorization.row_names, int(i), 'row')}" for number, i in enumerate(rows, 1)]
    col_names = [name_of(factorization.col_names, int(j), "column") for j in topics.cols[order]]
    figure = heat_map(topics.ties[: len(rows), order], row_names, col_names, float(topics.ties.max()) or 1.0)
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
        title="The core: where the selected rows and columns cross",
        x="selected columns, by topic",
        y="selected rows",
        height=190 + max(15, min(60, 480 // len(row_names))) * len(row_names),
        note="Colour: the entry relative to the sums of its row and column, so that long rows and frequent columns do "
        f"not stand out for that alone. Hovering shows the entry itself.{_cut(topics.core.shape)}",
    )


def _cut(shape: tuple[int, ...]) -> str:
    """Say which part of a large core is drawn."""
    if max(shape) <= MOST_LISTED:
        return ""
    rows, cols = (min(size, MOST_LISTED) for size in shape)
    return f" Drawn are the first {rows} of {shape[0]} rows and the first {cols} of {shape[1]} columns in this order."


def matrix(factorization: Factorization, X: Any) -> Figure:
    """Draw X with its rows and columns put together by cluster, averaged where there are too many to see.

    Parameters
    ----------
    factorization : Factorization
        That of a fitted `CoSeparableNMF`, or made by `mix`.
    X : array-like or sparse of shape (m, n)
        The matrix that it explains.

    Returns
    -------
    plotly.graph_objects.Figure
        At most about 150 x 150 cells; ``layout.meta`` says what one of them stands for.

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots
    >>> X, _ = make_coseparable(600, 40, 4, 3, random_state=0)
    >>> figure = plots.matrix(CoSeparableNMF(4, 3).fit(X).factorization_, X)
    >>> figure.data[0].z.shape[0] <= 150, figure.data[0].z.shape[1]
    (True, 40)
    """
    topics = topics_of(factorization)
    M = as_matrix(X)
    if M.shape != factorization.shape:
        msg = f"X has shape {M.shape}, but the factorization is that of a matrix of shape {factorization.shape}."
        raise ValueError(msg)
    check_nonzero(M)
    seen = overview(factorization, topics, M)
    row_heads = {k: name_of(factorization.row_names, int(i), "row") for k, i in enumerate(topics.rows)}
    col_heads = {k: name_of(factorization.col_names, int(j), "column") for k, j in enumerate(topics.cols)}
    shades = np.sqrt(seen.values / seen.values.max())
    figure = heat_map(
        shades,
        _line_names(seen.rows, factorization.row_names, "row", row_heads),
        _line_names(seen.cols, factorization.col_names, "column", col_heads),
        float(np.quantile(shades, SATURATED)) or 1.0,
    )
    figure.update_traces(hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>")
    for axis, side, heads in (("x", seen.cols, col_heads), ("y", seen.rows, row_heads)):
        _mark_clusters(figure, axis, side, {k: label(name) for k, name in heads.items()})
    return finished(
        figure,
        title="The whole matrix, its rows and columns put together by cluster",
        x="columns, by cluster",
        y="rows, by cluster",
        height=640,
        note=f"{_thinning(seen.rows, 'row')} {_thinning(seen.cols, 'column')} Colour: the entries relative to the sums "
        "of their rows and columns, on a square-root scale, saturated for the highest 0.5% of the cells.",
    )


def errors(explanation: Any, *, row_names: Names = None, col_names: Names = None) -> Figure:
    """Draw how well each row and each column is explained, from the best to the worst.

    Parameters
    ----------
    explanation : Explanation
        Of it, ``row_errors`` and ``col_errors``: relative errors, nan for what is all zero.
    row_names, col_names : list of str, optional
        Shown when hovering.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    check_record(explanation, "explanation", ("row_errors", "col_errors"))
    go = graph_objects()
    figure = go.Figure()
    notes = []
    for kind, side, given in (("row", "row", row_names), ("column", "col", col_names)):
        values = check_column(getattr(explanation, f"{side}_errors"), f"explanation.{side}_errors")
        names = check_names(given, f"{side}_names", len(values))
        order = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
        kept = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).round().astype(int))
        if len(kept) < len(order):
            notes.append(f"{len(kept)} of {len(order):,} {kind}s, evenly spaced in this order, are drawn.")
        figure.add_scatter(
            x=100.0 * (kept + 1) / max(len(order), 1),
            y=100.0 * values[order[kept]],
            customdata=[hovering(name_of(names, int(i), kind), HOVER_LETTERS) for i in order[kept]],
            name=f"{kind}s",
            mode="lines" if len(kept) > 40 else "lines+markers",
            hovertemplate=f"%{{customdata}}<br>{kind} error %{{y:.1f}}%<extra></extra>",
        )
    figure.update_yaxes(rangemode="tozero", ticksuffix="%")
    figure.update_xaxes(ticksuffix="%", range=[0, 101])
    return finished(
        figure,
        title="Relative error of every row and column",
        x="share of all, best explained first",
        y="relative error",
        height=380,
        note=" ".join(["Error: the norm of what is left of a row, divided by the norm of the row.", *notes]),
    )


def stability(result: Any, *, row_names: Names = None, col_names: Names = None) -> Figure:
    """Draw how often each selected row and column was selected again from parts of the data.

    Parameters
    ----------
    result : Stability
        Of it, the tables ``rows`` and ``cols``, with index, frequency and similarity.
    row_names, col_names : list of str, optional

    Returns
    -------
    plotly.graph_objects.Figure
    """
    check_record(result, "result", ("rows", "cols", "n_draws", "share"))
    go = graph_objects()
    figure = go.Figure()
    sides = [
        _stability_side("row", "rows", result.rows, "row_names", row_names),
        _stability_side("column", "cols", result.cols, "col_names", col_names),
    ]
    n_draws, share = check_positive(result.n_draws, "result.n_draws"), check_number(result.share, "result.share", 0, 1)
    most = max(len(table["index"]) for _, _, table in sides)
    listed = f" The first {MOST_LISTED} of each side are drawn." if most > MOST_LISTED else ""
    labels: list[tuple[int, str]] = []
    place = 0
    for color, (kind, names, table) in enumerate(sides):
        named = [name_of(names, int(i), kind) for i in table["index"][:MOST_LISTED]]
        places = np.arange(place, place + len(named))
        for column, words, symbol in (
            ("frequency", f"{kind} selected again", "circle"),
            ("similarity", f"likeness of the closest {kind} selected", "circle-open"),
        ):
            figure.add_scatter(
                x=100.0 * table[column][:MOST_LISTED],
                y=places,
                customdata=[hovering(name, HOVER_LETTERS) for name in named],
                name=words,
                mode="markers",
                marker={"symbol": symbol, "size": 9, "color": COLORS[color]},
                meta={"color": color},
                hovertemplate=f"%{{customdata}}<br>{words}: %{{x:.0f}}%<extra></extra>",
            )
        labels += zip(places.tolist(), map(label, named), strict=True)
        place += len(named) + 1
    figure.update_yaxes(
        tickvals=[at for at, _ in labels], ticktext=[name for _, name in labels], range=[place - 1.4, -0.6]
    )
    figure.update_xaxes(range=[-3, 103], ticksuffix="%")
    return finished(
        figure,
        title="How often each was selected again from a part of the data",
        x="percent",
        y="",
        height=170 + 21 * place,
        note=f"{count(n_draws, 'draw')}, each of {share:.0%} of the rows and columns.{listed}",
    )


def _stability_side(
    kind: str, side: str, table: Any, name: str, names: Names
) -> tuple[str, NDArray[Any] | None, dict[str, NDArray[Any]]]:
    """Return the kind, the names and the checked table of one side of a `Stability`."""
    checked = check_table(table, f"result.{side}", {"index": 0, "frequency": None, "similarity": None})
    return kind, check_names(names, name, int(checked["index"].max(initial=-1)) + 1), checked


def rank_curve(choice: Any) -> Figure:
    """Draw the held-out error and the stability of every number of rows and columns that was tried.

    Parameters
    ----------
    choice : RankChoice
        Of it, the recommendation ``n_rows``, ``n_cols`` and the table with n_rows, n_cols, error, error_se, stability.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    check_record(choice, "choice", ("n_rows", "n_cols", "table"))
    graph_objects()
    from plotly.subplots import make_subplots  # noqa: PLC0415 - an extra, there by now

    table = check_table(choice.table, "choice.table", RANK_COLUMNS)
    n_rows, n_cols = table["n_rows"], table["n_cols"]
    best_rows, best_cols = (check_positive(getattr(choice, one), f"choice.{one}") for one in ("n_rows", "n_cols"))
    best = (n_rows == best_rows) & (n_cols == best_cols)
    curves = _curves(n_rows, n_cols)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    for number, (words, entries) in enumerate(curves):
        tried = [f"{r} rows x {c} columns" for r, c in zip(n_rows[entries], n_cols[entries], strict=True)]
        style = {
            "x": n_rows[entries],
            "customdata": tried,
            "mode": "lines+markers",
            "marker": {
                "size": np.where(best[entries], 17, 7),
                "symbol": np.where(best[entries], "star", "circle"),
                "color": COLORS[number % len(COLORS)],
            },
            "line": {"dash": DASHES[number // len(COLORS) % len(DASHES)], "color": COLORS[number % len(COLORS)]},
            "meta": {"color": number % len(COLORS)},
            "legendgroup": words,
            "name": words,
        }
        figure.add_scatter(
            y=table["error"][entries],
            error_y={"type": "data", "array": table["error_se"][entries], "thickness": 1.2},
            hovertemplate="%{customdata}<br>held-out error %{y:.4f}<extra></extra>",
            showlegend=len(curves) > 1,
            row=1,
            col=1,
            **style,
        )
        figure.add_scatter(
            y=table["stability"][entries],
            hovertemplate="%{customdata}<br>stability %{y:.3f}<extra></extra>",
            showlegend=False,
            row=2,
            col=1,
            **style,
        )
    tried_rows = np.unique(n_rows)
    figure.update_xaxes(tickvals=tried_rows if len(tried_rows) <= 20 else None)
    figure.update_yaxes(title={"text": "held-out error"}, row=1, col=1)
    figure.update_yaxes(title={"text": "stability"}, row=2, col=1)
    return finished(
        figure,
        title="How many rows and columns: error on held-out entries, and stability",
        x="rows selected",
        y=None,
        height=520,
        note=f"The star is the recommendation, {best_rows} rows and {best_cols} columns; bars are standard errors.",
    )


def _curves(n_rows: Indices, n_cols: Indices) -> list[tuple[str, Indices]]:
    """Return the candidates as curves: one if every number of rows was tried once, else one per number of columns."""
    if len(np.unique(n_rows)) == len(n_rows):
        return [("tried", np.argsort(n_rows, kind="stable"))]
    return [
        (count(int(c), "column"), entries[np.argsort(n_rows[entries], kind="stable")])
        for c in np.unique(n_cols)
        for entries in [np.flatnonzero(n_cols == c)]
    ]


def _line_names(side: Side, names: Names, kind: str, heads: dict[int, str]) -> list[str]:
    """Return what to call each line of the reordered matrix: its row, or the first of its rows and how many more."""
    return [
        squeezed(name_of(names, int(part[0]), kind), HOVER_LETTERS)
        + (f" and {count(len(part) - 1, f'more {kind}')}" if len(part) > 1 else "")
        + (f" (cluster of {squeezed(heads[cluster], TICK_LETTERS)})" if cluster in heads else "")
        for part, cluster in zip(side.members, side.clusters.tolist(), strict=True)
    ]


def _mark_clusters(figure: Figure, axis: str, side: Side, heads: dict[int, str]) -> None:
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
        if stop - start >= NAMED_SHARE * len(side.clusters)
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


def _thinning(side: Side, kind: str) -> str:
    """Say what a line of the reordered matrix stands for, and what is not in it."""
    lines = f"Shown one by one: {count(side.n_items, kind)}"
    if not side.is_whole:
        mean = side.n_items / len(side.members)
        lines = f"Each of the {len(side.members)} lines of {kind}s is the mean of about {mean:.0f} of {side.n_items:,}"
        lines += ", neighbours in this order"
    zeros = f"; {count(side.n_zero, f'all-zero {kind}')} left out" if side.n_zero else ""
    return f"{lines}{zeros}."
