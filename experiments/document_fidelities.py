"""The shares that selected rows, columns and cores explain on their own, by method and set."""

from benchmarks.harness import Row
from benchmarks.page import table
from experiments.document_methods import METHODS
from experiments.document_results import SIDES, Results, decimals


def fidelity_chapter(results: Results) -> str:
    """Return what the selections explain on their own."""
    methods = [method for method in METHODS if any(count is not None for count in results.column(method, "rows"))]
    if not methods:
        return ""
    averages: list[Row] = [
        {
            "method": method,
            **{side: decimals(results.mean(method, f"{side}_fidelity_pct")) for side in SIDES},
            "refitted": decimals(results.mean(method, "approximation_pct")),
            "diagonal cores": diagonal(results, method),
            "largest gap": largest_gap(results, method),
        }
        for method in methods
    ]
    by_set: list[Row] = [
        {"set": name}
        | {
            method: " / ".join(decimals(results.get(name, method, f"{side}_fidelity_pct"), 1) or "-" for side in SIDES)
            for method in methods
        }
        for name in results.sets
    ]
    return (
        "### What the selected rows, columns and cores explain on their own\n\n"
        "Percent of the matrix as given, `1 - ||X - X^|| / ||X||` as in Table 1: by the selected rows alone, by the "
        "columns alone, and by the core with the weights of both, nothing refitted. `diagonal cores` counts the sets "
        "whose core has at most one nonzero per row; `largest gap` is the relative duality gap of the convex model, "
        f"where there is one.\n\n{table(averages)}\n{reading_of_fidelities(results)}\nRows / columns / core by set. "
        f"A method that selects no rows (columns) has no figure.\n\n{table(by_set)}"
    )


def diagonal(results: Results, method: str) -> str:
    """Return how many cores have no more nonzeros than rows."""
    cores = zip(results.column(method, "core_nonzeros"), results.column(method, "rows"), strict=True)
    known = [nonzeros <= rows for nonzeros, rows in cores if nonzeros is not None]
    return f"{sum(known)} of {len(known)}" if known else ""


def largest_gap(results: Results, method: str) -> str:
    """Return the largest relative duality gap."""
    gaps = [gap for gap in results.column(method, "gap") if gap is not None]
    return f"{max(gaps):.0e}" if gaps else ""


def reading_of_fidelities(results: Results) -> str:
    """Compare what CoS-FGM and faithful explain, refitted and by what they selected."""
    apart = {
        figure: [results.mean(method, figure) for method in ("CoS-FGM", "faithful")]
        for figure in ("approximation_pct", "row_fidelity_pct")
    }
    points = {figure: abs(a - b) for figure, (a, b) in apart.items() if a is not None and b is not None}
    if len(points) < len(apart):
        return ""
    return (
        f"After refitting, CoS-FGM and faithful are {points['approximation_pct']:.1f} points apart on average; by "
        f"their rows alone, {points['row_fidelity_pct']:.1f}. The approximation does not show whether the selected "
        "documents and words represent anything.\n"
    )
