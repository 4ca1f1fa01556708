"""Rows of the document experiment enter, tables beside the printed ones, a figure and their reading leave."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

from benchmarks.harness import Bar, Row, read_rows
from benchmarks.page import table
from experiments.document_methods import FITS, METHODS, READINGS
from experiments.figures import COLOURS, figure

PRINTED = Path(__file__).parent / "printed"
PUBLISHED = ("CoS-FGM", "SPA+", "SPAC", "SPAR", "GSPA", "GS-FGM", "BiOR-NM3F", "A-HALS", "MV-NMF")
OTHERS = tuple(method for method in METHODS if method not in PUBLISHED)
SPLIT = ("GSPA", "GS-FGM")
# The tables of the paper: the figure by its rule, that by the method's own labels, and where the printed ones are.
TABLES = {
    "Table 1: relative approximation": ("approximation_pct", "", "document_approximation"),
    "Table 2: accuracy of the clusters of documents": ("document_pct", "own_document_pct", "document_accuracy"),
    "Table 3: accuracy of the clusters of words": ("word_pct", "own_word_pct", "word_accuracy"),
}
SIDES = ("row", "column", "core")
PICTURE = "documents.png"


class Results:
    """The rows by set and method, and averages of them."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {(row["set"], row["method"]): row for row in rows}
        self.sets = list(dict.fromkeys(row["set"] for row in rows))

    def get(self, name: str, method: str, figure: str) -> Any:
        """Return one figure, None where there is none."""
        return self.rows.get((name, method), {}).get(figure)

    def pairs(self, method: str, figure: str, file: str) -> list[tuple[str, float, float]]:
        """Return set, our figure and the printed one, where there are both."""
        both = ((name, self.get(name, method, figure), printed(file).get(name, {}).get(method)) for name in self.sets)
        return [(name, ours, theirs) for name, ours, theirs in both if ours is not None and theirs is not None]

    def mean(self, method: str, figure: str) -> float | None:
        """Return the average over all sets, None if one of them is not there."""
        return mean(self.get(name, method, figure) for name in self.sets)


@lru_cache
def printed(file: str) -> dict[str, Row]:
    """Return the figures of a printed table, by set."""
    return {row["dataset"]: row for row in read_rows(PRINTED / f"{file}.csv")}


def mean(values: Iterable[float | None]) -> float | None:
    """Return the average, None if a value or all of them are missing."""
    known = list(values)
    return None if not known or None in known else float(np.mean(np.array(known, dtype=float)))


def text(what: str, rows: list[Row], folder: Path) -> str:
    """Return the section."""
    results = Results(rows)
    draw(results, folder / PICTURE)
    parts = [
        f"## Documents\n\n{what}",
        f"![Approximation, fidelities and accuracies](figures/{PICTURE})\n",
        overview(results),
        *(chapter(results, title, *names) for title, names in TABLES.items()),
        readings_chapter(results),
        fidelity_chapter(results),
        promises(results),
        seconds_chapter(results),
    ]
    return "\n".join(part for part in parts if part)


def overview(results: Results) -> str:
    """Say what the figure shows."""
    shown = {
        name: [results.mean(method, name) for method in ("CoS-FGM", "default")]
        for name in ("approximation_pct", *(f"{side}_fidelity_pct" for side in SIDES))
    }
    if any(value is None for pair in shown.values() for value in pair):
        return ""
    refitted, rows, columns, core = ([f"{value:.1f}" for value in pair] for pair in shown.values())
    return (
        f"Averages over {len(results.sets)} sets, in percent. Refitted factors explain {refitted[0]} after CoS-FGM and "
        f"{refitted[1]} after the default; the selected rows themselves explain {rows[0]} and {rows[1]}, the columns "
        f"{columns[0]} and {columns[1]}, the core with the weights of both {core[0]} and {core[1]}. What Table 1 "
        "measures is the left half of this only: factors that are free again, whatever was selected.\n"
    )


def chapter(results: Results, title: str, name: str, own: str, file: str) -> str:
    """Return one table of the paper with ours in front, the methods it lacks, and how near ours are."""
    parts = [
        f"### {title}\n\nOurs (printed), in percent; averages of the sets that are there, printed ones too.\n",
        beside(results, PUBLISHED, name, file),
        "What the paper lacks" + (", by the same rule (SpectralCoclustering: by its labels).\n" if own else ".\n"),
        alone(results, OTHERS, name, own),
        "Ours against the printed figures: at how many sets the same to 0.05, above, below, and by how much.\n",
        nearness(results, name, file),
    ]
    if own:
        parts += ["The same by the labels of our own rule, where a method has one (see docs/methods.md, Clusters).\n"]
        parts += [alone(results, tuple(method for method in METHODS if method != "NMF"), own)]
        parts += [verdict_on_accuracy(results, name, own, file)]
    else:
        parts += [verdict_on_approximation(results, name, file), splits(results, file)]
    return "\n".join(part for part in parts if part)


def beside(results: Results, methods: Iterable[str], name: str, file: str) -> str:
    """Return a table of ours (printed)."""
    lines: list[Row] = []
    averages: Row = {"set": f"average of {len(results.sets)}", "r": ""}
    for data, row in printed(file).items():
        if data in {"average", "time"}:
            continue
        line = {"set": data, "r": row["r"]}
        for method in methods:
            ours = results.get(data, method, name)
            line[method] = f"{'missing' if data not in results.sets else decimals(ours)} ({decimals(row[method])})"
        lines.append(line)
    for method in methods:
        pairs = results.pairs(method, name, file)
        complete = len(pairs) == len(results.sets) > 0
        averages[method] = (
            f"{np.mean([ours for _, ours, _ in pairs]):.2f} ({np.mean([theirs for *_, theirs in pairs]):.2f})"
            if complete
            else ""
        )
    return table([*lines, averages])


def alone(results: Results, methods: Iterable[str], name: str, instead: str = "") -> str:
    """Return a table of our figures, or of other ones where a method has none."""
    columns = {
        method: figure
        for method in methods
        for figure in (name, instead)
        if any(results.get(data, method, figure) is not None for data in results.sets)
    }
    columns = {method: name if results.mean(method, name) is not None else columns[method] for method in columns}
    known = [data for data in printed("document_approximation") if data not in {"average", "time"}]
    lines: list[Row] = [
        {"set": data}
        | {
            method: decimals(results.get(data, method, figure)) if data in results.sets else "missing"
            for method, figure in columns.items()
        }
        for data in dict.fromkeys([*known, *results.sets])
    ]
    averages = {method: decimals(results.mean(method, figure)) for method, figure in columns.items()}
    return table([*lines, {"set": f"average of {len(results.sets)}", **averages}])


def decimals(value: Any) -> str:
    """Return two decimals, nothing for nothing."""
    return "" if value is None else f"{value:.2f}"


def nearness(results: Results, name: str, file: str) -> str:
    """Return how near each method comes to the print."""
    lines = []
    for method in PUBLISHED:
        apart = {data: round(ours - theirs, 2) for data, ours, theirs in results.pairs(method, name, file)}
        if not apart:
            continue
        worst = max(apart, key=lambda data, apart=apart: abs(apart[data]))
        lines.append(
            {
                "method": method,
                "same": sum(abs(value) <= 0.05 for value in apart.values()),
                "above": sum(value > 0.05 for value in apart.values()),
                "below": sum(value < -0.05 for value in apart.values()),
                "mean difference": f"{np.mean(list(apart.values())):+.2f}",
                "mean distance": f"{np.mean(np.abs(list(apart.values()))):.2f}",
                "farthest": f"{apart[worst]:+.2f} ({worst})",
            }
        )
    return table(lines) if lines else ""


def verdict_on_approximation(results: Results, name: str, file: str) -> str:
    """Read Table 1."""
    lines = []
    for method in PUBLISHED:
        apart = [ours - theirs for _, ours, theirs in results.pairs(method, name, file)]
        if apart:
            same = sum(abs(value) <= 0.05 for value in apart)
            lines.append((method, same, float(np.mean(apart)), len(apart)))
    if not lines:
        return ""
    reproduced = [method for method, same, _, n in lines if same >= 0.6 * n]
    better = [method for method, _, apart, _ in lines if method not in reproduced and apart > 0.1]
    worse = [method for method, _, apart, _ in lines if method not in reproduced and apart < -0.1]
    level = [method for method, *_ in lines if method not in {*reproduced, *better, *worse}]
    said = {
        "Reproduced (the printed figure to 0.05 on most sets)": reproduced,
        "Level on average": level,
        "Above the print on average": better,
        "Below the print on average": worse,
    }
    verdict = "; ".join(f"{what}: {', '.join(methods)}" for what, methods in said.items() if methods)
    return (
        f"{verdict}. Where SPAC and SPAR agree to the digit, preselection, weights and SPA are those of the paper. Free "
        "factors around a core with one nonzero in each row and column are plain NMF, so that CoS-FGM can only stay "
        "below A-HALS by another local minimum or an early end: ours is fitted until it stands still. TDT30 is another "
        "extraction of the same documents, with other words, and not comparable to the digit. BiOR-NM3F is run by its "
        "published updates; what the printed figures were made with we do not know.\n"
    )


def splits(results: Results, file: str) -> str:
    """Return how r was split between rows and columns, beside the print."""
    lines = []
    for data in results.sets:
        line: Row = {"set": data}
        for method in SPLIT:
            counts = [results.get(data, method, side) for side in ("rows", "columns")]
            line[method] = "" if None in counts else f"({counts[0]},{counts[1]})"
            line[f"{method} printed"] = printed(file).get(data, {}).get(f"{method}_ranks", "")
        lines.append(line)
    known = [line for line in lines if line["GSPA printed"] and all(line[method] for method in SPLIT)]
    if not known:
        return ""
    same = {method: sum(line[method] == line[f"{method} printed"] for line in known) for method in SPLIT}
    found = ", ".join(f"{method} at {count} of {len(known)} sets" for method, count in same.items())
    return f"Rows and columns that GSPA and GS-FGM select, of r in all; as printed: {found}.\n\n{table(lines)}"


def verdict_on_accuracy(results: Results, name: str, own: str, file: str) -> str:
    """Read Tables 2 and 3."""
    by_rule = {method: value for method in METHODS if (value := results.mean(method, name)) is not None}
    by_own = {method: value for method in METHODS if (value := results.mean(method, own)) is not None}
    theirs = mean(printed(file).get(data, {}).get("CoS-FGM") for data in results.sets)
    if theirs is None or "CoS-FGM" not in by_rule or "default" not in by_own:
        return ""
    best, best_own = max(by_rule, key=by_rule.__getitem__), max(by_own, key=by_own.__getitem__)
    return (
        f"CoS-FGM has {by_rule['CoS-FGM']:.2f} on average where {theirs:.2f} is printed. By the rule of the paper {best} is "
        f"first with {by_rule[best]:.2f}; by labels of their own {best_own} with {by_own[best_own]:.2f}, the default has "
        f"{by_own['default']:.2f}. The rule of the paper, the largest entry of a row of P1 or of a column of P2, depends "
        "on how the scale is split between the factors, which the model leaves open; ours does not.\n"
    )


def readings_chapter(results: Results) -> str:
    """Return what becomes of CoS-FGM in every reading of what the paper leaves open."""
    lines = []
    for method, solver in READINGS.items():
        for reading in (f"{pair}_{fit}" for fit in FITS for pair in ("last", "best")):
            pair, fit = reading.split("_")
            line: Row = {"solver": solver, "pair": pair, "fit": fit}
            for (name, _, file), short in zip(TABLES.values(), ("approximation", "documents", "words"), strict=True):
                both = [
                    (ours, printed(file)[data]["CoS-FGM"])
                    for data in results.sets
                    if data in printed(file) and (ours := results.get(data, method, f"{reading}_{name}")) is not None
                ]
                if not both or len(both) < len(results.sets):
                    break
                ours, theirs = np.array(both).T
                line |= {
                    short: f"{ours.mean():.2f} ({theirs.mean():.2f})",
                    f"{short}, distance": f"{np.abs(ours - theirs).mean():.2f}",
                }
                if short == "approximation":
                    line["at least as printed"] = int((ours >= theirs).sum())
            else:
                lines.append(line)
    if not lines:
        return ""
    return (
        "### What the paper leaves open about CoS-FGM\n\n"
        "Its text does not say how far each convex problem is solved, whether the last pair of the alternation counts or "
        "the best, and how scale is split between factors; its script ends Algorithm 3 after nine turns. Averages, "
        "printed ones in brackets, and the mean distance from them, set by set. *fast-gradient* is the published solver "
        "(1000 iterations at the most), *newton* ends on a proven gap; *last* is the pair at which the alternation "
        f"repeats, *best* the one of all pairs that explains most; *letter* is nine turns of exact least squares, "
        "*converged* ours. Labels by the rule of the paper.\n\n"
        f"{table(lines)}\n{verdict_on_readings(lines)}"
    )


def verdict_on_readings(lines: list[Row]) -> str:
    """Say which reading comes nearest, and that none is the print."""

    def distance(line: Row) -> float:
        return sum(float(line[f"{short}, distance"]) for short in ("approximation", "documents", "words"))

    nearest, farthest = min(lines, key=distance), max(lines, key=distance)
    return (
        f"Nearest over all three tables: {nearest['solver']}, {nearest['pair']}, {nearest['fit']} (mean distances "
        f"{nearest['approximation, distance']}, {nearest['documents, distance']} and {nearest['words, distance']} points); "
        f"farthest: {farthest['solver']}, {farthest['pair']}, {farthest['fit']} ({farthest['approximation, distance']}, "
        f"{farthest['documents, distance']}, {farthest['words, distance']}). The averages of accuracy of all readings lie "
        f"between {spread(lines, 'documents')} for documents and {spread(lines, 'words')} for words: what decides within "
        "this is which of many equal documents and words stands for the others, and no reading gives the print set by "
        "set.\n"
    )


def spread(lines: list[Row], short: str) -> str:
    """Return the least and the largest average."""
    values = [float(line[short].split()[0]) for line in lines]
    return f"{min(values):.2f} and {max(values):.2f}"


def fidelity_chapter(results: Results) -> str:
    """Return what the selections explain on their own."""
    methods = [
        method for method in METHODS if any(results.get(data, method, "rows") is not None for data in results.sets)
    ]
    if not methods:
        return ""
    averages = [
        {
            "method": method,
            **{side: decimals(results.mean(method, f"{side}_fidelity_pct")) for side in SIDES},
            "refitted": decimals(results.mean(method, "approximation_pct")),
            "diagonal cores": diagonal(results, method),
            "largest gap": largest_gap(results, method),
        }
        for method in methods
    ]
    by_set = [
        {
            "set": data,
            **{
                method: " / ".join(
                    "-" if (value := results.get(data, method, f"{side}_fidelity_pct")) is None else f"{value:.1f}"
                    for side in SIDES
                )
                for method in methods
            },
        }
        for data in results.sets
    ]
    return (
        "### What the selected rows, columns and cores explain on their own\n\n"
        "Percent of the matrix as given, weights of the selected rows (columns) alone, and the core with both, nothing "
        "refitted; averages. `diagonal cores` counts the sets whose core has no more nonzeros than rows; `largest gap` is "
        "the relative duality gap of the convex model, where there is one.\n\n"
        f"{table(averages)}\n{verdict_on_fidelity(results)}\nRows / columns / core, set by set.\n\n{table(by_set)}"
    )


def diagonal(results: Results, method: str) -> str:
    """Return how many cores have one nonzero a row at the most."""
    cores = [
        (results.get(data, method, "core_nonzeros"), results.get(data, method, "rows"))
        for data in results.sets
        if results.get(data, method, "core_nonzeros") is not None
    ]
    return f"{sum(nonzeros <= rows for nonzeros, rows in cores)} of {len(cores)}" if cores else ""


def largest_gap(results: Results, method: str) -> str:
    """Return the largest relative duality gap."""
    gaps = [gap for data in results.sets if (gap := results.get(data, method, "gap")) is not None]
    return f"{max(gaps):.0e}" if gaps else ""


def verdict_on_fidelity(results: Results) -> str:
    """Read the fidelities."""
    ours, theirs = (results.mean(method, "row_fidelity_pct") for method in ("default", "CoS-FGM"))
    refitted = [results.mean(method, "approximation_pct") for method in ("default", "CoS-FGM")]
    if ours is None or theirs is None or refitted[0] is None or refitted[1] is None:
        return ""
    return (
        f"The approximation of CoS-FGM and of the default differs by {abs(refitted[0] - refitted[1]):.2f} points, what their "
        f"rows explain by {abs(ours - theirs):.2f}: a high approximation does not tell whether the rows and columns that are "
        "named stand for anything.\n"
    )


def promises(results: Results) -> str:
    """Return what was to be shown, and whether it is."""

    def ratio(name: str, others: list[float | None]) -> float | None:
        ours, reference = results.mean("default", name), mean(others)
        return None if ours is None or not reference else round(ours / reference, 3)

    def column(method: str, name: str) -> list[float | None]:
        return [results.get(data, method, name) for data in results.sets]

    (approximation, _, file), (document, own_document, documents), (word, own_word, words) = TABLES.values()
    pairs = results.pairs("CoS-FGM", approximation, file)
    reached = sum(ours >= theirs for _, ours, theirs in pairs)
    sides = zip(*(column("default", f"{side}_fidelity_pct") for side in ("row", "column")), strict=True)
    weaker = [None if a is None or b is None else min(a, b) for a, b in sides]
    known = [data for data in results.sets if data in printed(file)]
    bars = [
        Bar(
            f"sets, of {len(pairs)}, where CoS-FGM reaches the printed approximation",
            reached if pairs else None,
            12,
            True,
        ),
        *(
            Bar(f"CoS-FGM, accuracy of {side}, percent", rounded(results.mean("CoS-FGM", name)), limit, True)
            for side, name, file in (("documents", document, documents), ("words", word, words))
            if (limit := rounded(mean(printed(file)[data]["CoS-FGM"] for data in known))) is not None
        ),
        *(
            Bar(
                f"default, fidelity of {side}s, as a share of greedy's",
                ratio(f"{side}_fidelity_pct", column("greedy", f"{side}_fidelity_pct")),
                0.98,
                True,
            )
            for side in ("row", "column")
        ),
        Bar(
            "default, fidelity of the core, as a share of the weaker side's",
            ratio("core_fidelity_pct", weaker),
            0.95,
            True,
        ),
        Bar("default, refitted, as a share of NMF's", ratio(approximation, column("NMF", approximation)), 0.99, True),
        Bar(
            "default, accuracy of documents by its labels, percent",
            rounded(results.mean("default", own_document)),
            66,
            True,
        ),
        Bar("default, accuracy of words by its labels, percent", rounded(results.mean("default", own_word)), 66, True),
        Bar("default, seconds, as a multiple of NMF's", ratio("seconds", column("NMF", "seconds")), 2),
    ]
    lines = [
        {
            "what": bar.what,
            "figure": "" if bar.figure is None else f"{bar.figure:.4g}",
            "bar": f"{'at least' if bar.at_least else 'at most'} {bar.limit:.4g}",
            "verdict": "**missed**" if bar.verdict == "missed" else bar.verdict,
        }
        for bar in bars
    ]
    over = f"Averages over {len(results.sets)} sets; ratios are those of averages. Greedy is the best known choice of one side."
    return f"### What was to be shown\n\n{over}\n\n{table(lines)}"


def rounded(value: float | None) -> float | None:
    """Return as many digits as are printed."""
    return None if value is None else round(value, 2)


def seconds_chapter(results: Results) -> str:
    """Return the seconds of all methods."""
    times = printed("document_approximation")["time"]
    lines = [
        {
            "method": method,
            "mean": decimals(results.mean(method, "seconds")),
            "largest": decimals(
                max((results.get(data, method, "seconds") or 0.0 for data in results.sets), default=None)
            ),
            "printed mean": times.get(method, ""),
        }
        for method in METHODS
    ]
    return (
        "### Seconds\n\n"
        "Selection and fit to the whole matrix, one thread, without the preselection, which takes a few seconds. The "
        "printed ones seem to be those of the selection alone, and include sports.\n\n"
        f"{table(lines)}"
    )


def draw(results: Results, path: Path) -> None:
    """Draw for each method what refitted factors and the selection explain, and the accuracies."""
    methods = [method for method in METHODS if any((data, method) in results.rows for data in results.sets)][::-1]
    height = dict(zip(methods, range(len(methods)), strict=True))
    panels: dict[str, dict[str, tuple[str, str]]] = {
        "explained": {
            "refitted factors": ("approximation_pct", "D"),
            "rows alone": ("row_fidelity_pct", "o"),
            "columns alone": ("column_fidelity_pct", "s"),
            "core, not refitted": ("core_fidelity_pct", "x"),
        },
        "accuracy, documents": {"largest entry": ("document_pct", "o"), "own labels": ("own_document_pct", "D")},
        "accuracy, words": {"largest entry": ("word_pct", "o"), "own labels": ("own_word_pct", "D")},
    }
    files = {"accuracy, documents": "document_accuracy", "accuracy, words": "word_accuracy"}
    with figure(path, (14.0, 6.6)) as canvas:
        axes = canvas.subplots(1, 3, sharey=True, width_ratios=(1.4, 1, 1))
        for axis, (title, kinds) in zip(axes, panels.items(), strict=True):
            for method, y in height.items():
                values = [(results.mean(method, name), mark) for name, mark in kinds.values()]
                known = [value for value, _ in values if value is not None]
                if len(known) > 1:
                    axis.plot(
                        [min(known), max(known)], [y, y], color=COLOURS[method], alpha=0.35, linewidth=4, zorder=1
                    )
                for value, mark in values:
                    if value is not None:
                        axis.scatter(value, y, s=90, marker=mark, color=COLOURS[method], zorder=3)
                if title in files:
                    theirs = mean(printed(files[title]).get(data, {}).get(method) for data in results.sets)
                    if theirs is not None:
                        axis.scatter(theirs, y, s=260, marker="|", color="black", linewidth=2, zorder=2)
            axis.set_xlabel(f"{title}, %")
            marks = [
                Line2D([], [], color="grey", marker=mark, linestyle="", label=kind) for kind, (_, mark) in kinds.items()
            ]
            if title in files:
                marks.append(Line2D([], [], color="black", marker="|", markersize=14, linestyle="", label="printed"))
            axis.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=11)
        axes[0].set_yticks(range(len(methods)), methods)
        if (nmf := results.mean("NMF", "approximation_pct")) is not None:
            axes[0].axvline(nmf, color=COLOURS["NMF"], linestyle=":", linewidth=1)
