"""Figure of the share that each method explains and of the accuracy of its clusters."""

from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from experiments.document_methods import METHODS
from experiments.document_results import DOCUMENTS, WORDS, Results, Table
from experiments.figures import COLOURS, figure


class Mark(NamedTuple):
    """What a marker stands for, its figure, its shape."""

    what: str
    figure: str
    shape: str


EXPLAINED = (
    Mark("refitted factors", "approximation_pct", "D"),
    Mark("rows alone", "row_fidelity_pct", "o"),
    Mark("columns alone", "column_fidelity_pct", "s"),
    Mark("core, not refitted", "core_fidelity_pct", "X"),
)


def draw(results: Results, path: Path) -> None:
    """Draw averages over the sets, one line a method."""
    methods = [method for method in METHODS if any((name, method) in results.rows for name in results.sets)][::-1]
    with figure(path, (14.0, 6.6)) as canvas:
        left, *others = canvas.subplots(1, 3, sharey=True, width_ratios=(1.4, 1, 1))
        panel(left, results, methods, EXPLAINED)
        left.set_xlabel("explained, %")
        left.set_yticks(range(len(methods)), methods)
        if (nmf := results.mean("NMF", "approximation_pct")) is not None:
            left.axvline(nmf, color=COLOURS["NMF"], linestyle=":", linewidth=1.5, zorder=1)
        for axis, table in zip(others, (DOCUMENTS, WORDS), strict=True):
            marks = (Mark("largest entry", table.figure, "o"), Mark("own labels", table.own, "D"))
            panel(axis, results, methods, marks, table)
            axis.set_xlabel(f"accuracy, {table.short}, %")


def panel(
    axis: Axes, results: Results, methods: list[str], marks: tuple[Mark, ...], table: Table | None = None
) -> None:
    """Draw the averages of some figures, and the printed ones of a table."""
    for y, method in enumerate(methods):
        known = [(value, mark.shape) for mark in marks if (value := results.mean(method, mark.figure)) is not None]
        ends = [value for value, _ in known]
        if len(ends) > 1:
            axis.plot([min(ends), max(ends)], [y, y], color=COLOURS[method], alpha=0.35, linewidth=4, zorder=2)
        for value, shape in known:
            axis.scatter(value, y, s=90, marker=shape, color=COLOURS[method], edgecolor="white", zorder=4)
        if table is not None and (theirs := results.printed_mean(method, table)) is not None:
            axis.scatter(theirs, y, s=300, marker="|", color="black", linewidth=2, zorder=3)
    legend = [Line2D([], [], color="grey", marker=mark.shape, linestyle="", label=mark.what) for mark in marks]
    if table is not None:
        legend.append(Line2D([], [], color="black", marker="|", markersize=14, linestyle="", label="printed"))
    axis.legend(handles=legend, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=11)
