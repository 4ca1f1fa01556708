"""Curves and dots: explained shares, stability of the selection, what its first rows explain, and errors of ranks."""

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.assess.rank import RANK_COLUMNS, smallest_error
from cosep.findings.assessments import STABILITY_COLUMNS, checked_path
from cosep.findings.wording import Names, name_of
from cosep.matrix.checks import check_number, check_positive, check_record
from cosep.plots.drawing import COLORS, HOVER_LETTERS, MOST_LISTED, Figure, finished, graph_objects, hovering, label
from cosep.utils.columns import check_column, check_names, check_table
from cosep.utils.extras import optional
from cosep.utils.messages import counted
from cosep.utils.types import Indices, Table

# The largest number of points of an error curve.
MOST_POINTS = 400
# Sizes of the marks of tried ranks.
MARK_SIZES = {"circle": 7, "diamond": 12, "star": 17}
# Curves with more points have no markers.
MOST_MARKERS = 60
DASHES = ("solid", "dash", "dot", "dashdot")


def errors(explanation: Any, *, row_names: Names = None, col_names: Names = None) -> Figure:
    """Draw the share of each row and each column that is explained, from the best to the worst.

    Parameters
    ----------
    explanation : Explanation
        What `explain` returns. One minus the squares of its ``row_errors`` and ``col_errors`` are drawn, as in
        ``explained`` of `Findings`; all-zero rows and columns are left out.
    row_names, col_names : list of str, optional
        Shown when hovering. Default: those of the explanation; "row 0", ... and "column 0", ... if it has none.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from cosep import CoSeparableNMF, explain, make_coseparable, plots
    >>> X, _ = make_coseparable(60, 40, 4, 3, noise=0.1, random_state=0)
    >>> [len(curve.y) for curve in plots.errors(explain(X, CoSeparableNMF(4, 3).fit(X))).data]
    [60, 40]
    """
    check_record(explanation, "explanation", ("row_errors", "col_errors"))
    figure = graph_objects().Figure()
    notes = []
    for kind, side, given in (("row", "row", row_names), ("column", "col", col_names)):
        values = check_column(getattr(explanation, f"{side}_errors"), f"explanation.{side}_errors")
        known = getattr(explanation, f"{side}_names", None) if given is None else given
        names = check_names(known, f"{side}_names", len(values))
        order = np.argsort(values, kind="stable")[: int(np.isfinite(values).sum())]
        kept = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).round().astype(int))
        if len(kept) < len(order):
            notes.append(f"{len(kept)} of {len(order):,} {kind}s, evenly spaced in this order, are drawn.")
        figure.add_scatter(
            x=100.0 * (kept + 1) / max(len(order), 1),
            y=100.0 * (1.0 - values[order[kept]] ** 2),
            customdata=[hovering(name_of(names, int(i), kind), HOVER_LETTERS) for i in order[kept]],
            name=f"{kind}s",
            mode="lines" if len(kept) > 40 else "lines+markers",
            hovertemplate=f"%{{customdata}}<br>%{{y:.1f}}% of the {kind} explained<extra></extra>",
        )
    figure.update_yaxes(rangemode="tozero", ticksuffix="%")
    figure.update_xaxes(ticksuffix="%", range=[0, 101])
    return finished(
        figure,
        title="How much of every row and column is explained",
        x="share of all, best explained first",
        y="explained",
        height=380,
        note=" ".join(["Explained: the share of the squares of a row or column, by the refitted factors.", *notes]),
    )


def stability(result: Any, *, row_names: Names = None, col_names: Names = None) -> Figure:
    """Draw how often each selected row and column was selected again from parts of the data.

    Parameters
    ----------
    result : Stability
        What `cosep.stability` returns. Frequency and similarity of its tables ``rows`` and ``cols`` are drawn.
    row_names, col_names : list of str, optional
        Names of all rows and columns. Default: those of the result, or "row 0", ... and "column 0", ...

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots, stability
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> [len(dots.x) for dots in plots.stability(stability(X, CoSeparableNMF(4, 3).fit(X), n_draws=2)).data]
    [4, 4, 3, 3]
    """
    check_record(result, "result", ("rows", "cols", "n_draws", "share"))
    figure = graph_objects().Figure()
    sides = [
        _stability_side("row", "rows", result.rows, row_names),
        _stability_side("column", "cols", result.cols, col_names),
    ]
    n_draws, share = check_positive(result.n_draws, "result.n_draws"), check_number(result.share, "result.share", 0, 1)
    most = max(len(table["index"]) for _, _, table in sides)
    listed = f" The first {MOST_LISTED} of each side are drawn." if most > MOST_LISTED else ""
    ticks: list[tuple[int, str]] = []
    place = 0
    for color, (kind, names, table) in enumerate(sides):
        listed_names = names[:MOST_LISTED]
        places = np.arange(place, place + len(listed_names))
        _add_stability(figure, kind, listed_names, places, table, color)
        ticks += zip(places.tolist(), map(label, listed_names), strict=True)
        place += len(listed_names) + 1
    figure.update_yaxes(
        tickvals=[at for at, _ in ticks], ticktext=[name for _, name in ticks], range=[place - 1.4, -0.6]
    )
    figure.update_xaxes(range=[-3, 103], ticksuffix="%")
    return finished(
        figure,
        title="How often each was selected again from a part of the data",
        x="percent",
        y="",
        height=170 + 21 * place,
        note=f"{counted(n_draws, 'draw')}, each of {share:.0%} of the rows and columns.{listed}",
    )


def _stability_side(kind: str, side: str, table: Any, given: Names) -> tuple[str, list[str], Table]:
    """Return the kind, the names and the checked table of one side of a `Stability`."""
    checked = check_table(table, f"result.{side}", STABILITY_COLUMNS)
    own = None
    with suppress(Exception):  # tables of users need not have names
        own = check_names(table["name"], f"result.{side}['name']", len(checked["index"]))
    return kind, _names_of(kind, checked["index"], given, own, f"{side[:3]}_names"), checked


def _add_stability(figure: Figure, kind: str, names: list[str], places: Indices, table: Table, color: int) -> None:
    """Add the dots of one side: frequencies filled, similarities open."""
    for column, words, symbol in (
        ("frequency", f"{kind} selected again", "circle"),
        ("similarity", f"similarity of the closest {kind} selected", "circle-open"),
    ):
        figure.add_scatter(
            x=100.0 * table[column][:MOST_LISTED],
            y=places,
            customdata=[hovering(name, HOVER_LETTERS) for name in names],
            name=words,
            mode="markers",
            marker={"symbol": symbol, "size": 9, "color": COLORS[color]},
            meta={"color": color},
            hovertemplate=f"%{{customdata}}<br>{words}: %{{x:.0f}}%<extra></extra>",
        )


def rank_curve(choice: Any) -> Figure:
    """Draw the held-out error and the stability of every number of rows and columns that was tried.

    Parameters
    ----------
    choice : RankChoice
        What `choose_rank` returns. The recommended pair is marked by a star, the smallest error by a diamond.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import choose_rank, plots
    >>> choice = choose_rank(np.kron(np.eye(3), np.ones((9, 6))), ranks=[1, 2, 3])
    >>> plots.rank_curve(choice).data[0].x.tolist()
    [1, 2, 3]
    """
    check_record(choice, "choice", ("n_rows", "n_cols", "table"))
    make_subplots = optional("plotly.subplots", "cosep.plots", "cli").make_subplots
    table = check_table(choice.table, "choice.table", RANK_COLUMNS)
    n_rows, n_cols = (check_positive(getattr(choice, one), f"choice.{one}") for one in ("n_rows", "n_cols"))
    marks = np.full(len(table["error"]), "circle", dtype="U7")
    for mark, pair in (("diamond", smallest_error(table)), ("star", (n_rows, n_cols))):
        marks[(table["n_rows"] == pair[0]) & (table["n_cols"] == pair[1])] = mark
    curves = _curves(table["n_rows"], table["n_cols"])
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.08)
    for number, (words, entries) in enumerate(curves):
        _add_ranks(figure, {name: column[entries] for name, column in table.items()}, marks[entries], words, number)
    figure.update_traces(showlegend=len(curves) > 1, row=1, col=1)
    tried_rows = np.unique(table["n_rows"])
    figure.update_xaxes(tickvals=tried_rows if len(tried_rows) <= 20 else None)
    figure.update_yaxes(title={"text": "held-out error"}, row=1, col=1)
    figure.update_yaxes(title={"text": "stability"}, row=2, col=1)
    return finished(
        figure,
        title="How many rows and columns: error on held-out entries, and stability",
        x="rows selected",
        y=None,
        height=520,
        note=f"The star is the recommendation, {counted(n_rows, 'row')} and {counted(n_cols, 'column')}; a diamond is "
        "the smallest error, if that is another pair; bars are standard errors.",
    )


def selection_path(path: Any, *, row_names: Names = None, col_names: Names = None) -> Figure:
    """Draw what the first 1, 2, ... selected rows and columns explain, next to what is possible.

    Parameters
    ----------
    path : SelectionPath
        What `cosep.selection_path` returns.
    row_names, col_names : list of str, optional
        Names of all rows and columns, shown when hovering. Default: those of the path, or "row 0", ... and "column
        0", ...

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> from cosep import CoSeparableNMF, make_coseparable, plots, selection_path
    >>> X, _ = make_coseparable(60, 40, 4, 3, random_state=0)
    >>> [len(curve.y) for curve in plots.selection_path(selection_path(X, CoSeparableNMF(4, 3).fit(X))).data]
    [4, 3, 4, 4]
    """
    path = checked_path(path, "path")
    labels = (
        _hover_names("row", path.row_indices, row_names, path.row_names, "row_names"),
        _hover_names("column", path.col_indices, col_names, path.col_names, "col_names"),
    )
    figure = graph_objects().Figure()
    for words, field, added in (
        ("rows alone", "rows", labels[0]),
        ("columns alone", "cols", labels[1]),
        ("core", "core", None),
        ("possible", "bound", None),
    ):
        which = "%{x}" if added is None else "%{x}, with %{customdata}"
        shares = getattr(path, field)
        figure.add_scatter(
            x=np.arange(1, len(shares) + 1),
            y=100.0 * shares,
            customdata=added,
            name=words,
            mode="lines" if field == "bound" or len(shares) > MOST_MARKERS else "lines+markers",
            line={"dash": "dash" if field == "bound" else "solid"},
            hovertemplate=f"{which}<br>{words}: %{{y:.1f}}%<extra></extra>",
        )
    figure.update_yaxes(rangemode="tozero", ticksuffix="%")
    figure.update_xaxes(rangemode="tozero")
    return finished(
        figure,
        title="What the first rows and columns explain",
        x="number of rows, and of columns",
        y="explained",
        height=380,
        note="Each number adds the selected row, and the selected column, that explains most in addition to those "
        "before it. Possible: what no rows, columns or components of this number could exceed.",
    )


def _hover_names(kind: str, order: Indices, given: Names, own: Names, parameter: str) -> list[str]:
    """Return the names of some rows or columns to show when hovering: given for all, or their own."""
    return [hovering(name, HOVER_LETTERS) for name in _names_of(kind, order, given, own, parameter)]


def _names_of(kind: str, order: Indices, given: Names, own: Names, parameter: str) -> list[str]:
    """Return the names of some rows or columns, from those given for all of them, or from their own."""
    if given is None and own is not None:
        return [name_of(own, place, kind) for place in range(len(order))]
    names = check_names(given, parameter, int(order.max(initial=-1)) + 1)
    return [name_of(names, int(i), kind) for i in order]


def _curves(n_rows: Indices, n_cols: Indices) -> list[tuple[str, Indices]]:
    """Return the candidates as curves: one if every number of rows was tried once, else one per number of columns."""
    if len(np.unique(n_rows)) == len(n_rows):
        return [("tried", np.argsort(n_rows, kind="stable"))]
    return [
        (counted(int(c), "column"), entries[np.argsort(n_rows[entries], kind="stable")])
        for c in np.unique(n_cols)
        for entries in [np.flatnonzero(n_cols == c)]
    ]


def _add_ranks(figure: Figure, table: Table, marks: NDArray[np.str_], words: str, number: int) -> None:
    """Add one curve of errors above, and one of stability below."""
    color = COLORS[number % len(COLORS)]
    style = {
        "x": table["n_rows"],
        "customdata": [f"{r} rows x {c} columns" for r, c in zip(table["n_rows"], table["n_cols"], strict=True)],
        "mode": "lines+markers",
        "marker": {"size": [MARK_SIZES[mark] for mark in marks], "symbol": marks, "color": color},
        "line": {"dash": DASHES[number // len(COLORS) % len(DASHES)], "color": color},
        "meta": {"color": number % len(COLORS)},
        "legendgroup": words,
        "name": words,
    }
    figure.add_scatter(
        y=table["error"],
        error_y={"type": "data", "array": table["error_se"], "thickness": 1.2},
        hovertemplate="%{customdata}<br>held-out error %{y:.4f}<extra></extra>",
        row=1,
        col=1,
        **style,
    )
    figure.add_scatter(
        y=table["stability"],
        hovertemplate="%{customdata}<br>stability %{y:.3f}<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
        **style,
    )
