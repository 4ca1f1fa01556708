"""Tables of the document experiment beside the printed ones, and sentences about them."""

from pathlib import Path

import numpy as np

from benchmarks.harness import Row
from benchmarks.page import table
from experiments.document_bars import promises
from experiments.document_fidelities import fidelity_chapter
from experiments.document_figure import draw
from experiments.document_methods import METHODS
from experiments.document_readings import readings_chapter
from experiments.document_results import (
    APPROXIMATION,
    DOCUMENTS,
    OTHERS,
    PUBLISHED,
    SAME_TOL,
    SIDES,
    TABLES,
    WORDS,
    Results,
    Table,
    decimals,
    differences,
    printed,
    printed_seconds,
)

PICTURE = "documents.png"
SPLIT = ("GSPA", "GS-FGM")
# A method reproduces a table if it agrees at this share of the sets.
REPRODUCED_SHARE = 0.6


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
    shown = [[results.mean(method, figure) for method in ("CoS-FGM", "faithful")] for figure in figures]
    if any(value is None for pair in shown for value in pair):
        return ""
    refitted, rows, columns, core = ([decimals(value, 1) for value in pair] for pair in shown)
    return (
        f"Averages over {len(results.sets)} sets; the dotted line is NMF, the bars are the printed averages. Refitted "
        f"factors explain {refitted[0]} % after CoS-FGM and {refitted[1]} % after faithful. The selected rows "
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
        f"Ours against the print: at how many sets the same to {SAME_TOL}, above and below, and by how many points.\n",
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
                    "same": int((np.abs(values) <= SAME_TOL).sum()),
                    "above": int((values > SAME_TOL).sum()),
                    "below": int((values < -SAME_TOL).sum()),
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
        if (np.abs(values) <= SAME_TOL).mean() >= REPRODUCED_SHARE:
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
        "Reproduced means the same at most sets, level a mean difference of at most half a point. SPAC and SPAR "
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
        f"is no public code for GS-FGM; its start and its stopping are our reading (docs/paper.md).\n\n{table(lines)}"
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
        "Average accuracy, percent. Own labels weigh an entry of the factor by the size of what it multiplies "
        "(docs/clusters.md); those of the default do so with factors that were fitted in the degree norm.\n\n"
        f"{table(lines)}\nBy own labels the first for documents is "
        f"{best['documents']}; for words {best['words']}. Differences below a point are within the lottery of ties and "
        "local minima.\n"
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
