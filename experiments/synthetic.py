"""Figures 1 and 2: planted co-separable matrices against noise.

Square matrices of 100 rows with a planted core of 10 rows and 3 columns (section 5.1 of the paper), at 20 noise levels
from 1e-7 to 1e-1 (relative, Frobenius norm). The paper *says* that the matrix is scaled, noise is added, and rows and
columns are permuted; its released code adds noise, then scales, and does *not* permute. All four combinations are run,
and a core of 10 rows and 10 columns, of which every row and column can be identified. All methods see the same draws:
seeds 0 to 24, as many as in the paper, and 0 to 9 for the slow methods (the published fast gradient of CoS-FGM in both
forms, GS-FGM), which see every second noise level outside the two settings of Figure 1.

* **CoS-FGM**: `cosfgm` by the published fast gradient (1000 iterations, started on each side alone, largest
  diagonals); **to the letter**: with the habits of the released code, that is lambda steered at restarts only and
  zero diagonals ranked by index; **certified**: `cosfgm` as it is here, every convex problem solved to a proven gap.
* **faithful**: `CoSeparableNMF(10, 3, scaling=None)`, the default in the plain norm of the paper. **SPA+**: SPA on both
  sides; it ends by itself when the residual is small.
* **GSPA**, **GS-FGM**: 10 rows plus 3 columns, lambda~ = 0.25. **A-HALS**, **MV-NMF** (columns as mixtures),
  **BiOR-NM3F**: rank 3, 1000 iterations.

Accuracy is the share of planted rows and columns that were chosen. The approximation of a choice is that of the
best factors found in 100 alternations (1000 steps for GSPA and GS-FGM). Seconds are the median of a draw: choosing
alone, or the whole fit of faithful and of the methods that choose nothing.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness import clock
from cosep import (
    CoSeparableNMF,
    Factorization,
    Selection,
    both_sides,
    cosfgm,
    gsfgm,
    gspa,
    index_accuracy,
    make_coseparable,
    mix,
    mix_generalized,
    spa,
)
from cosep.datasets.synthetic import Planted
from cosep.nmf.ahals import ahals
from cosep.nmf.biorthogonal import biorthogonal
from cosep.nmf.minvol import minvol
from cosep.solve.newton import solve_newton
from cosep.solve.self_dictionary import duality_gap
from cosep.utils.types import Array
from experiments.grid import Row
from experiments.planted import PRINTED, RELEASED, SETTINGS, report
from experiments.released import dictionary, released

VERSION = 1
LEVELS = tuple(float(f"{level:.3g}") for level in np.logspace(-7, -1, 20))
EVERY_SECOND = (*LEVELS[::2], LEVELS[-1])


def default(X: Array, n_rows: int, n_cols: int) -> Selection:
    """Select by the default method, `faithful`, in the plain norm of the paper."""
    model = CoSeparableNMF(n_rows, n_cols, scaling=None).fit(X)
    return Selection(model.row_indices_, model.col_indices_)


CHOOSERS: dict[str, Callable[[Array, int, int], Selection]] = {
    "CoS-FGM, to the letter": released,
    "CoS-FGM": partial(cosfgm, solver="fast-gradient", start="independent"),
    "CoS-FGM, certified": cosfgm,
    "faithful": default,
    "SPA+": both_sides(spa),
    "SPA+, not normalised": both_sides(partial(spa, normalize=False)),
    "SPA+, going on": both_sides(partial(spa, tol=0.0)),
}
GENERALIZED: dict[str, Callable[[Array, int, int], Selection]] = {
    "GSPA": lambda X, n_rows, n_cols: gspa(X, n_rows=n_rows, n_cols=n_cols),
    "GS-FGM": lambda X, n_rows, n_cols: gsfgm(X, n_rows=n_rows, n_cols=n_cols),
    "GS-FGM, from zero": lambda X, n_rows, n_cols: gsfgm(X, n_rows=n_rows, n_cols=n_cols, start="zero"),
}
FACTORIZERS: dict[str, Callable[[Array, int], Factorization]] = {
    "A-HALS": lambda X, r: ahals(X, r, max_iter=1000, tol=0.0),
    "MV-NMF": lambda X, r: minvol(X, r, max_iter=1000, tol=0.0),
    "BiOR-NM3F": lambda X, r: biorthogonal(X, r, max_iter=1000, tol=0.0),
}
SLOW = ("CoS-FGM, to the letter", "CoS-FGM", "GS-FGM", "GS-FGM, from zero")
# No method: what the draws themselves are like.
DRAWS = "draws"


def cells(*, tiny: bool = False) -> Iterator[Row]:
    """Yield the keys: the two settings of the figures, the square core, and the settings between."""
    m, r1, r2 = (12, 4, 3) if tiny else (100, 10, 3)
    many, few = ("0-1", "0-1") if tiny else ("0-24", "0-9")
    levels, fewer = ((1e-6, 1e-1),) * 2 if tiny else (LEVELS, EVERY_SECOND)
    everything = (*CHOOSERS, *GENERALIZED, *FACTORIZERS)
    for cols, setting, methods, of_slow in (
        (r2, PRINTED, everything, levels),
        (r2, RELEASED, everything, levels),
        (r1, PRINTED, (*CHOOSERS, "GSPA", "GS-FGM"), fewer),
        *((r2, setting, tuple(CHOOSERS), fewer) for setting in SETTINGS[1:3]),
    ):
        planted = {"m": m, "r1": r1, "r2": cols, "protocol": setting[0], "order": setting[1]}
        yield planted | {"noise": 1e-4, "method": DRAWS, "seeds": many}
        for method in methods:
            for noise in of_slow if method in SLOW else levels:
                yield planted | {"noise": noise, "method": method, "seeds": few if method in SLOW else many}


def run(key: Row) -> Row:
    """Return means and standard deviations over the draws of a cell."""
    first, last = map(int, key["seeds"].split("-"))
    figures = [(about if key["method"] == DRAWS else tried)(key, seed) for seed in range(first, last + 1)]
    row: Row = {}
    for name in (name for name in figures[0] if name != "seconds"):
        values = np.array([one[name] for one in figures])
        row |= {name: round(float(values.mean()), 2), f"{name}_sd": round(float(values.std(ddof=1)), 2)}
    return row | {"seconds": round(median(one["seconds"] for one in figures), 4)}


def drawn(key: Row, seed: int, noise: float) -> tuple[Array, Planted]:
    """Return a matrix and the truth about it."""
    permute = key["order"] == "permuted"
    sizes = (key["m"], key["m"], key["r1"], key["r2"])
    return make_coseparable(*sizes, noise, protocol=key["protocol"], permute=permute, random_state=seed)


def tried(key: Row, seed: int) -> Row:
    """Return what a method finds in one draw, in percent; the error as a power of ten, where 100 percent hide it."""
    (X, truth), method = drawn(key, seed, key["noise"]), key["method"]
    figures: Row = {}
    if method in FACTORIZERS:
        seconds, factors = clock(partial(FACTORIZERS[method], X, min(key["r1"], key["r2"])))
    else:
        seconds, chosen = clock(partial((CHOOSERS | GENERALIZED)[method], X, key["r1"], key["r2"]))
        figures = {
            "accuracy": 100.0 * index_accuracy(chosen, truth),
            "identifiable": 100.0 * index_accuracy(chosen, identifiable(truth)),
            "rows": float(0 if chosen.row_indices is None else len(chosen.row_indices)),
            "cols": float(0 if chosen.col_indices is None else len(chosen.col_indices)),
        }
        factors = mix_generalized(X, chosen, tol=0.0) if method in GENERALIZED else mix(X, chosen, tol=0.0)
    error = factors.relative_error(X)
    return figures | {
        "approximation": 100.0 * (1.0 - error),
        "error_power": float(np.log10(max(error, 1e-9))),
        "seconds": seconds,
    }


def identifiable(truth: Planted) -> Selection:
    """Return the planted rows and columns that are not mixtures of others."""
    rows, cols = np.asarray(truth.row_indices), np.asarray(truth.col_indices)
    return Selection(rows[truth.row_identifiable], cols[truth.col_identifiable])


def about(key: Row, seed: int) -> Row:
    """Return what the rows of a draw are like: how many can be identified, how noisy they are, what the model sees.

    Noise is ``||x - x0|| / ||x0||``, in units of the noise level, averaged over planted and over other rows. Of the
    convex model on the rows: its relative gap, in percent, after all steps of the published method, and the diagonal
    that planted rows inside the cone have then, and at the minimum for the same lambda, all of them together.
    """
    (X, truth), (noiseless, _) = drawn(key, seed, key["noise"]), drawn(key, seed, 0.0)
    planted, extreme = np.asarray(truth.row_indices), np.asarray(truth.row_identifiable)
    noise = np.linalg.norm(X - noiseless, axis=1) / np.linalg.norm(noiseless, axis=1) / key["noise"]
    B, w = np.ascontiguousarray(X.T), X.sum(axis=1)
    Y, lam = dictionary(B, key["r1"])
    objective, gap = duality_gap(B, w, Y, lam)
    exact = solve_newton(B, w, r=key["r1"], penalty=lam)
    inside = planted[~extreme]
    return {
        "identifiable_rows": float(extreme.sum()),
        "noise_planted": float(noise[planted].mean()),
        "noise_other": float(np.delete(noise, planted).mean()),
        "gap": 100.0 * gap / objective,
        "diagonal_inside": float(np.diagonal(Y)[inside].sum()),
        "diagonal_inside_exact": float(exact.diagonal[inside].sum()),
        "seconds": 0.0,
    }


def section(rows: list[Row], folder: Path) -> str:
    """Return what was run, in the words of this module, the figures, drawn into the folder, and what they show."""
    title, _, what = str(__doc__).partition("\n\n")
    return f"## {title.removesuffix('.')}\n\n{what}\n{report(rows, folder)}"
