"""Results of the document experiment enter, tables beside the printed ones and their reading leave."""

from pathlib import Path

import numpy as np

from benchmarks.harness import Row
from benchmarks.page import table
from experiments.document_bars import promises
from experiments.document_figure import draw
from experiments.document_methods import EXACT, FITS, METHODS
from experiments.document_results import (
    APPROXIMATION,
    DOCUMENTS,
    OTHERS,
    PUBLISHED,
    SAME,
    SIDES,
    TABLES,
    WORDS,
    Results,
    Table,
    decimals,
    printed,
    printed_seconds,
)

PICTURE = "documents.png"
SPLIT = ("GSPA", "GS-FGM")
# Method, pair, fit; SPA+ has but one pair.
READINGS = [
    *((method, pair, fit) for method in ("CoS-FGM", *EXACT) for fit in FITS for pair in ("last", "best")),
    *(("SPA+", "last", fit) for fit in FITS),
]
# A method reproduces a table if it agrees at this share of the sets.
MOST = 0.6


def text(what: str, rows: list[Row], folder: Path) -> str:
    """Return the section, the figure being drawn into a folder."""
    results = Results(rows)
    draw(results, folder / PICTURE)
    parts = [
        f"## Documents\n\n{what}",
        promises(results),
        f"![What each method explains, and the accuracy of its clusters](figures/{PICTURE})\n",
        overview(results),
        *(chapter(results, part) for part in TABLES),
        labels_chapter(results),
        readings_chapter(results),
        fidelity_chapter(results),
        seconds_chapter(results),
    ]
    return "\n".join(part for part in parts if part)


def overview(results: Results) -> str:
    """Say what the figure shows."""
    figures = ["approximation_pct", *(f"{side}_fidelity_pct" for side in SIDES)]
    shown = [[results.mean(method, figure) for method in ("CoS-FGM", "default")] for figure in figures]
    if any(value is None for pair in shown for value in pair):
        return ""
    refitted, rows, columns, core = ([decimals(value, 1) for value in pair] for pair in shown)
    return (
        f"Averages over {len(results.sets)} sets; the dotted line is NMF, the bars are the printed averages. Refitted "
        f"factors explain {refitted[0]} % after CoS-FGM and {refitted[1]} % after the default. The selected rows "
        f"themselves explain {rows[0]} and {rows[1]} %, the columns {columns[0]} and {columns[1]}, the core with the "
        f"weights of both {core[0]} and {core[1]}. Table 1 measures the first of these alone: factors that are free "
        "again, whatever was selected.\n"
    )


def chapter(results: Results, part: Table) -> str:
    """Return one table of the paper with ours in front, the methods it lacks, and how near ours are."""
    rule = "" if part is APPROXIMATION else ", by the rule of the paper, the largest entry of the factor"
    parts = [
        f"### {part.title}\n\nOurs (printed), percent{rule}. Averages of the sets that are here, printed ones too.\n",
        beside(results, part),
        "What the paper lacks" + ("" if part is APPROXIMATION else "; SpectralCoclustering by its own labels") + ".\n",
        alone(results, part),
        f"Ours against the print: at how many sets the same to {SAME}, above and below, and by how many points.\n",
        nearness(results, part),
        reading(results, part),
    ]
    if part is APPROXIMATION:
        parts.append(splits(results))
    return "\n".join(piece for piece in parts if piece)


def beside(results: Results, part: Table) -> str:
    """Return a table of ours (printed)."""
    lines: list[Row] = []
    for name, row in printed(part.file).items():
        ours = {method: decimals(results.get(name, method, part.figure)) or "missing" for method in PUBLISHED}
        lines.append(
            {"set": name, "r": row["r"]} | {method: f"{ours[method]} ({row[method]:.2f})" for method in PUBLISHED}
        )
    averages: Row = {"set": f"average of {len(results.sets)}", "r": ""}
    for method in PUBLISHED:
        pairs = list(results.pairs(method, part).values())
        complete = len(pairs) == len(results.sets)
        averages[method] = "{:.2f} ({:.2f})".format(*np.mean(pairs, axis=0)) if complete else ""
    return table([*lines, averages])


def alone(results: Results, part: Table) -> str:
    """Return a table of the methods that the paper lacks, by their own labels where that is all they have."""
    figures = {}
    for method in OTHERS:
        with_figures = [
            figure for figure in (part.figure, part.own) if any(x is not None for x in results.column(method, figure))
        ]
        if with_figures:
            figures[method] = with_figures[0]
    lines: list[Row] = [
        {"set": name}
        | {method: decimals(results.get(name, method, figures[method])) or "missing" for method in figures}
        for name in results.all_sets
    ]
    averages = {method: decimals(results.mean(method, figure)) for method, figure in figures.items()}
    return table([*lines, {"set": f"average of {len(results.sets)}", **averages}])


def differences(results: Results, method: str, part: Table) -> dict[str, float]:
    """Return by how much ours exceed the printed figures."""
    return {name: round(ours - theirs, 2) for name, (ours, theirs) in results.pairs(method, part).items()}


def nearness(results: Results, part: Table) -> str:
    """Return how near each method comes to the print."""
    lines: list[Row] = []
    for method in PUBLISHED:
        apart = differences(results, method, part)
        if apart:
            farthest, largest = max(apart.items(), key=lambda pair: abs(pair[1]))
            values = np.array(list(apart.values()))
            lines.append(
                {
                    "method": method,
                    "same": int((np.abs(values) <= SAME).sum()),
                    "above": int((values > SAME).sum()),
                    "below": int((values < -SAME).sum()),
                    "mean difference": f"{values.mean():+.2f}",
                    "mean distance": f"{np.abs(values).mean():.2f}",
                    "farthest": f"{largest:+.2f} ({farthest})",
                }
            )
    return table(lines) if lines else ""


def reading(results: Results, part: Table) -> str:
    """Sort the methods by what became of their printed figures, and say why."""
    kinds: dict[str, list[str]] = {
        "Reproduced": [],
        "Level on average": [],
        "Above the print": [],
        "Below the print": [],
    }
    for method in PUBLISHED:
        values = np.array(list(differences(results, method, part).values()))
        if len(values) == 0:
            continue
        if (np.abs(values) <= SAME).mean() >= MOST:
            kind = "Reproduced"
        elif abs(values.mean()) <= 0.5:
            kind = "Level on average"
        else:
            kind = "Above the print" if values.mean() > 0 else "Below the print"
        kinds[kind].append(method)
    if not any(kinds.values()):
        return ""
    verdict = "; ".join(f"{kind.lower()}: {', '.join(methods)}" for kind, methods in kinds.items() if methods)
    return f"{verdict[:1].upper()}{verdict[1:]}. {WHY[part.short]}\n"


WHY = {
    "approximation": (
        "Reproduced means the same at most sets, level a mean difference of half a point at the most. SPAC and SPAR "
        "test preselection, weights and SPA, which have nothing random in them. Free factors around a core with one "
        "nonzero in each row and column are plain NMF, so that CoS-FGM differs from A-HALS by the local minimum and by "
        "where the fit ends: ours goes on until it stands still, theirs takes nine turns. BiOR-NM3F is run by its "
        "published updates; what the printed figures were made with we do not know. TDT30 is another extraction of the "
        "same documents, with other words: its figures are not comparable to the digit."
    ),
    "documents": (
        "A label by the largest entry depends on how the scale is split between the two factors, which no model here "
        "fixes, so that two fits with one error can have different labels; SPAR, whose factor is unique, tests the "
        "rule and the classes."
    ),
    "words": (
        "As for documents; SPAC, whose factor of words is unique, tests the rule and the classes. Words that a factor "
        "does not touch get a label at random, here from a fixed seed."
    ),
}


def splits(results: Results) -> str:
    """Return how r was split between rows and columns, beside the print."""
    lines: list[Row] = []
    for name in results.sets:
        line: Row = {"set": name}
        for method in SPLIT:
            counts = [results.get(name, method, side) for side in ("rows", "columns")]
            line[method] = "" if None in counts else f"({counts[0]},{counts[1]})"
            line[f"{method} printed"] = printed(APPROXIMATION.file).get(name, {}).get(f"{method}_ranks", "")
        lines.append(line)
    found = ", ".join(
        f"{method} at {sum(line[method] == line[f'{method} printed'] != '' for line in lines)}" for method in SPLIT
    )
    return (
        f"Rows and columns that GSPA and GS-FGM select, of r in all; as printed: {found} of {len(lines)} sets. There "
        f"is no public code for GS-FGM; its start and its stopping are our reading (docs/methods.md).\n\n{table(lines)}"
    )


def labels_chapter(results: Results) -> str:
    """Return the accuracies by both rules."""
    lines: list[Row] = [
        {
            "method": method,
            **{
                f"{part.short}, {rule}": decimals(results.mean(method, figure))
                for part in (DOCUMENTS, WORDS)
                for rule, figure in (("largest entry", part.figure), ("own labels", part.own))
            },
        }
        for method in METHODS
    ]
    best = {}
    for part in (DOCUMENTS, WORDS):
        known = {method: value for method in METHODS if (value := results.mean(method, part.own)) is not None}
        if "default" not in known:
            return ""
        first = max(known, key=known.__getitem__)
        best[part.short] = f"{first} with {known[first]:.1f}, the default having {known['default']:.1f}"
    return (
        "### Clusters by both rules\n\n"
        "Average accuracy, percent. Own labels weigh an entry of the factor by the size of what it multiplies; those "
        "of the default come from a factorization of the matrix divided by the square roots of its sums, "
        "and do not depend on what was selected (docs/methods.md, Clusters).\n\n"
        f"{table(lines)}\nBy own labels the first for documents is "
        f"{best['documents']}; for words {best['words']}. Differences below a point are within the lottery of ties and "
        "local minima.\n"
    )


def readings_chapter(results: Results) -> str:
    """Return what becomes of CoS-FGM, and of SPA+, in every reading of what the paper leaves open."""
    lines = [line for reading in READINGS if (line := reading_line(results, *reading)) is not None]
    if not lines:
        return ""
    of_cosfgm = [line for line in lines if line["method"] != "SPA+"]
    text = (
        "### What the paper leaves open about CoS-FGM\n\n"
        "How far each convex problem is solved, whether the last pair of the alternation counts or the best, and how "
        "the fit of the factors ends. Averages (printed) and the mean distance from the print, set by set; `reached` "
        "counts the sets where the printed approximation is reached. *CoS-FGM* solves by the published fast gradient, "
        "1000 iterations at the most, *exact* by Newton's method to a proven gap. Pair: the one that the alternation "
        "ends on, or of all its pairs the one that explains most. Fit: Algorithm 3 by the letter, nine turns of 100 "
        "sweeps, or until it stands still. Labels by the rule of the paper. SPA+ is there because nothing but the fit "
        f"is open about it.\n\n{table(lines)}\n"
    )
    return text + reading_of_readings(results, of_cosfgm) if of_cosfgm else text


def reading_line(results: Results, method: str, pair: str, fit: str) -> Row | None:
    """Return the averages of one reading, beside the print."""
    theirs = "SPA+" if method == "SPA+" else "CoS-FGM"
    line: Row = {"method": method, "pair": pair, "fit": fit}
    for part in TABLES:
        pairs = np.array(list(results.pairs(method, part, f"{pair}_{fit}_{part.figure}", theirs).values()))
        if len(pairs) < len(results.sets):
            return None
        line[part.short] = "{:.2f} ({:.2f})".format(*pairs.mean(axis=0))
        line[f"{part.short}, distance"] = f"{np.abs(pairs[:, 0] - pairs[:, 1]).mean():.2f}"
        if part is APPROXIMATION:
            line["reached"] = int((pairs[:, 0] >= pairs[:, 1]).sum())
    return line


def reading_of_readings(results: Results, lines: list[Row]) -> str:
    """Say how far SPA+ pins down the fit, which reading is nearest, and how far all of them are."""
    same = [
        name
        for name in results.sets
        if all(abs(differences(results, "SPA+", part).get(name, np.inf)) <= SAME for part in TABLES)
    ]
    nearest = min(lines, key=lambda line: sum(float(line[f"{part.short}, distance"]) for part in TABLES))
    between = {part.short: [float(line[part.short].split()[0]) for line in lines] for part in (DOCUMENTS, WORDS)}
    return (
        f"Fitted by the letter, SPA+ is as printed in all three tables at once on {len(same)} of {len(results.sets)} "
        f"sets ({', '.join(same) or 'none'}): there preselection, weights, Algorithm 3, labels and accuracy are those "
        "of the paper, and what is open about CoS-FGM is its selection alone. Of its readings the nearest is "
        f"{nearest['method']}, {nearest['pair']} pair, {nearest['fit']}: off by {nearest['approximation, distance']}, "
        f"{nearest['documents, distance']} and {nearest['words, distance']} points on average. Over all readings the "
        f"averages lie within {min(between['documents']):.1f} to {max(between['documents']):.1f} for documents and "
        f"{min(between['words']):.1f} to {max(between['words']):.1f} for words. The sets decide more than the reading: "
        "in the thin problems of the alternation many documents are proportional, and which of them stands for the "
        "others is decided by rounding in the published method, by length in ours; the factors follow.\n"
    )


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
        "Percent of the matrix as given: by the selected rows alone, by the columns alone, and by the core with the "
        "weights of both, nothing refitted. `diagonal cores` counts the sets whose core has one nonzero for each row "
        "at the most; `largest gap` is the relative duality gap of the convex model, where there is "
        f"one.\n\n{table(averages)}\n{reading_of_fidelities(results)}\nRows / columns / core, set by set; a method "
        f"that selects no rows (columns) has no figure.\n\n{table(by_set)}"
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
    """Compare what CoS-FGM and the default explain, refitted and by what they selected."""
    apart = {
        figure: [results.mean(method, figure) for method in ("CoS-FGM", "default")]
        for figure in ("approximation_pct", "row_fidelity_pct")
    }
    points = {figure: abs(a - b) for figure, (a, b) in apart.items() if a is not None and b is not None}
    if len(points) < len(apart):
        return ""
    return (
        f"After refitting, CoS-FGM and the default are {points['approximation_pct']:.1f} points apart on average; by "
        f"their rows alone, {points['row_fidelity_pct']:.1f}. The approximation does not tell whether the documents "
        "and words that are named stand for anything.\n"
    )


def seconds_chapter(results: Results) -> str:
    """Return the seconds of all methods."""
    lines: list[Row] = [
        {
            "method": method,
            "mean": decimals(results.mean(method, "seconds")),
            "largest": decimals(max((x for x in results.column(method, "seconds") if x is not None), default=None)),
            "printed mean": str(printed_seconds().get(method, "")),
        }
        for method in METHODS
    ]
    return (
        "### Seconds\n\n"
        "Selection and fit to the whole matrix, one thread; the preselection, a few seconds a set, is not counted. Of "
        f"the selectors the printed ones, with sports, seem to be those of the selection alone.\n\n{table(lines)}"
    )
