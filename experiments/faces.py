"""Table 5, Figures 4 to 6 and the appendix: pixels and images that represent 400 faces.

The matrix is that of the ORL faces, 437 pixels (23 x 19) x 400 images of 40 subjects, gray values from 0 to 1. The
paper does not mention preselection here, and 437 x 400 is below the 500 x 500 to which it preselects documents: all
methods see the whole matrix. SPA+, SPAC, GSPA and GS-FGM select without normalisation, as on documents. GS-FGM is the
best of ten penalties from 1e-3 to 10 by approximation. BiOR-NM3F runs for at most 1000 iterations. Everything is in the
plain norm of the paper; faithful is `CoSeparableNMF(r1, r2, scaling=None)`.

An image belongs to the component with the largest entry in its column of the last factor, as in the paper, or to the
one that contributes most, which is our rule. The clusters are compared with the subjects.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import clock, say
from cosep import Selection, clustering_accuracy, mix
from experiments.data import MissingDataError
from experiments.face_data import Block, checksum, correlated, gallery, rebuilt
from experiments.face_figures import draw_table, image, pictures
from experiments.face_methods import BOTH_SIDES, METHODS, PLAIN, RANDOM, SEEDS, STILL, UNIT, coseparable
from experiments.face_page import (
    CHOICE_NOTE,
    TABLE_NOTE,
    choice_reading,
    choice_table,
    in_table,
    print_of,
    table_reading,
    unit_reading,
)
from experiments.figures import figure
from experiments.grid import Row
from experiments.shares import relative_share

VERSION = 2
RANKS = {"ORL": 40, "planted": 4}


def cells(*, tiny: bool) -> Iterator[Row]:
    """Yield the keys of all cells."""
    name = "planted" if tiny else "ORL"
    try:
        X = gallery(name).pixels
    except MissingDataError as missing:
        say(f"{name} is left out: {missing}")
        return
    r = RANKS[name]
    for pixels in ("gray", "unit"):
        head = {"set": name, "data": checksum(X), "pixels": pixels}
        for r1 in (r, 2 * r):
            for method, variant in METHODS if pixels == "gray" else UNIT:
                if r1 == r or method in BOTH_SIDES:
                    seeds = "0" if variant == "scikit-learn" else PLAIN
                    yield head | {"method": method, "variant": variant, "r1": r1, "r2": r, "seeds": seeds}
            if pixels == "gray":
                for variant in RANDOM:
                    seeds = f"{SEEDS[0]}-{SEEDS[-1]}"
                    yield head | {"method": "random", "variant": variant, "r1": r1, "r2": r, "seeds": seeds}


def run(key: Row) -> Row:
    """Return the figures of one cell."""
    X, subjects, _ = gallery(key["set"])
    if key["pixels"] == "unit":
        X = X / np.linalg.norm(X, axis=0)
    r1, r2 = key["r1"], key["r2"]
    if key["method"] == "random":
        return by_chance(X, subjects, r1, r2, one_each=key["variant"] == RANDOM[1])
    seconds, fit = clock(partial(METHODS[key["method"], key["variant"]], X, r1, r2))
    rows, cols = fit.selection.row_indices, fit.selection.col_indices
    figures: Row = {
        "approximation": percent(fit.approximation),
        "accuracy": None if fit.plain is None else percent(clustering_accuracy(subjects, fit.plain)),
        "accuracy_ours": percent(clustering_accuracy(subjects, fit.labels)),
        "ties": fit.ties,
        **chosen_figures(X, subjects, fit.selection),
        "chosen_pixels": None if rows is None else " ".join(map(str, rows)),
        "chosen_images": None if cols is None else " ".join(map(str, cols)),
        "seconds": round(seconds, 2),
    }
    return {name: value for name, value in figures.items() if value is not None}


def percent(share: float | None) -> float | None:
    """Round to the digits that are printed."""
    return None if share is None else round(100 * share, 2)


def chosen_figures(X: Block, subjects: NDArray[np.int_], selection: Selection) -> Row:
    """Return the numbers of the chosen pixels and images on their own."""
    rows, cols = selection.row_indices, selection.col_indices
    if rows is None and cols is None:
        return {}
    fidelity = mix(X, selection, max_iter=1).fidelity(X)
    shares = {"rows": fidelity.rows, "cols": fidelity.cols, "core": fidelity.core}
    figures: Row = {f"{name}_fidelity": percent(relative_share(share)) for name, share in shares.items()}
    if rows is not None:
        whole = correlated(X)
        figures["correlation_error"] = round(relative(whole - correlated(X[rows]), whole), 4)
        if cols is not None:
            among = whole[np.ix_(cols, cols)]
            figures["correlation_error_chosen"] = round(relative(among - correlated(X[rows][:, cols]), among), 4)
    if cols is not None:
        others = ~np.isin(subjects, subjects[cols])
        figures["subjects"] = len(np.unique(subjects[cols]))
        if others.any():
            figures["reconstruction_error"] = round(relative((X - rebuilt(X, cols))[:, others], X[:, others]), 4)
    return figures


def relative(difference: Block, whole: Block) -> float:
    """Return a relative error in the Frobenius norm."""
    return float(np.linalg.norm(difference) / np.linalg.norm(whole))


def by_chance(X: Block, subjects: NDArray[np.int_], r1: int, r2: int, *, one_each: bool) -> Row:
    """Return the averages over pixels and images that are drawn at random."""
    seconds, fits = 0.0, []
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        rows = random.choice(len(X), r1, replace=False)
        members = [np.flatnonzero(subjects == subject) for subject in np.unique(subjects)]
        one = np.array([random.choice(images) for images in members])
        cols = one[:r2] if one_each else random.choice(X.shape[1], r2, replace=False)
        pair = Selection(rows, cols)
        elapsed, fit = clock(partial(coseparable, X, r1, r2, tol=STILL, method=lambda *_, pair=pair: pair))
        seconds += elapsed
        figures = {"approximation": percent(fit.approximation), **chosen_figures(X, subjects, fit.selection)}
        for name, labels in (("accuracy", fit.plain), ("accuracy_ours", fit.labels)):
            figures[name] = percent(clustering_accuracy(subjects, labels))
        fits.append(figures)
    known = [name for name in fits[0] if all(name in figures for figures in fits)]
    averages: Row = {
        name: round(mean(figures[name] for figures in fits), 4 if "error" in name else 2) for name in known
    }
    spread = round(stdev(figures["correlation_error"] for figures in fits), 4)
    return averages | {"correlation_error_sd": spread, "seconds": round(seconds / len(fits), 2)}


def section(rows: list[Row], folder: Path) -> str:
    """Draw the figures and return the text."""
    rows = [row | {"printed": print_of(row)} for row in rows]
    gray, unit = ([row for row in rows if row["pixels"] == pixels] for pixels in ("gray", "unit"))
    with figure(folder / "table_5.png", (14, 9.5)) as sheet:
        draw_table(sheet, gray)
    parts = [
        "## Faces: Table 5, Figures 4 to 6 and the appendix\n\n" + (__doc__ or "").partition("\n\n")[2],
        f"### Table 5\n\n{TABLE_NOTE}\n\n{in_table(gray)}",
        image(folder, "table_5", "Approximation and accuracy of all methods beside the printed ones"),
        table_reading(gray),
        f"### The scale of the images\n\n{in_table(unit)}\n{unit_reading(unit, gray)}",
        f"### Figures 4 to 6 and the appendix\n\n{CHOICE_NOTE}\n\n{choice_table(gray)}\n{choice_reading(gray)}",
        *pictures(gray, folder),
    ]
    return "\n".join(parts)
