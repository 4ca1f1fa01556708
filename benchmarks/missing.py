"""Missing entries: errors on entries that were hidden, beside imputers, and what a fit with them costs.

A share of the entries is hidden, at random or in blocks of rows and columns, and filled again. Figures are errors on
the hidden entries, `||X - X^|| / ||X||`, so that zeros have 1. `ours` is `fill_missing` of `CoSeparableNMF(r, r)` with
its defaults, then the means of columns, scikit-learn's KNNImputer (5 rows) and IterativeImputer (Bayesian ridge on 20
columns at a time, 5 rounds), and NMF of the observed entries alone by multiplicative updates (300
rounds, the same r; written for this benchmark). Of each set there are at most 600 rows, and of the counts in osmFISH
and mutations the logarithm `log(1 + x)` is taken. Ratings are planted: 1000 x 300, rank 8, noise of a tenth of the
norm, and given as a sparse matrix that stores the observed entries. `ratio` is the processor time of the fit to that of
the complete matrix.

The row "co-separable" is about planted matrices without noise with 20 % hidden, fitted with `tol=1e-14`: of how many
the planted rows and columns were selected, and the largest error of a hidden entry of each, relative to the largest
entry: for how many it is below 1e-6, its median and its worst. The rows "memory" have the peak of a fit above the
memory before it, relative to the input: dense with NaN, and sparse with a stored share of 2 %.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - makes the next import possible
from sklearn.impute import IterativeImputer, KNNImputer

from benchmarks.data import Block, load
from benchmarks.harness import Bar, Row, clock, isolated, race, say, with_memory
from cosep import CoSeparableNMF, make_coseparable
from cosep.matrix.validation import as_matrix
from experiments.data import MissingDataError

SHARES = (0.05, 0.2, 0.5, 0.8)
N_GROUPS = 10
ROUNDS = 300
SEEDS = 12
# Nearest neighbours take minutes for more rows.
MOST_ROWS = 600
RIVALS = ("column_means", "knn", "iterative", "masked_nmf", "zeros")


class Task(NamedTuple):
    """A set, what is done to it, and how many rows and columns to select."""

    name: str
    form: str
    r: int


TASKS = (
    Task("digits", "data", 10),
    Task("osmFISH", "log", 10),
    Task("mutations", "log", 10),
    Task("ratings", "data", 8),
)
FORMS: dict[str, Callable[[Block], Block]] = {"data": lambda X: X, "log": np.log1p}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per set, share and way of hiding, then those of planted matrices and of memory."""
    for task in (Task("planted", "data", 4),) if tiny else TASKS:
        first = {"set": task.name, "as": task.form, "r": task.r}
        try:
            X = FORMS[task.form](matrix(task.name))
        except MissingDataError as missing:
            yield {**first, "note": str(missing)}
            continue
        for how, hide in HIDING.items():
            for share in SHARES[1:3] if tiny else SHARES:
                say(f"  {task.name}, {share:.0%} hidden {how}")
                yield (
                    first | {"hidden_pct": 100 * share, "how": how} | compared(X, hide(X.shape, share), task, tiny=tiny)
                )
    yield planted(2 if tiny else SEEDS)
    for kind in ("dense", "sparse"):
        say(f"  memory, {kind}")
        yield isolated(memory)(kind, tiny=tiny)


def matrix(name: str) -> Block:
    """Return a set as a dense array of at most `MOST_ROWS` random rows."""
    X = ratings() if name == "ratings" else np.asarray(as_matrix(load(name).X).take())
    return np.asarray(X[np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])])


def ratings(m: int = 1000, n: int = 300, r: int = 8, noise: float = 0.1) -> Block:
    """Return planted ratings of rank r with noise."""
    random = np.random.default_rng(0)
    X = random.gamma(0.5, size=(m, r)) @ random.gamma(0.5, size=(r, n))
    N = random.standard_normal(X.shape)
    return np.maximum(X + N * (noise * np.linalg.norm(X) / np.linalg.norm(N)), 0.0)


def at_random(shape: tuple[int, int], share: float) -> Any:
    """Return which entries are hidden, each with the same probability."""
    return np.random.default_rng(0).uniform(size=shape) < share


def in_blocks(shape: tuple[int, int], share: float) -> Any:
    """Hide groups of rows in groups of columns; some columns of each group of rows stay, and the other way round."""
    random = np.random.default_rng(0)
    cells = random.permuted(np.arange(N_GROUPS) < round(share * N_GROUPS), axis=0)
    of_groups = np.stack([np.roll(cells, k) for k in random.permutation(N_GROUPS)])
    if share < 1 / N_GROUPS:  # fewer than one cell for each group of rows
        of_groups = np.zeros((N_GROUPS, N_GROUPS), dtype=bool)
        n_cells = round(share * N_GROUPS**2)
        of_groups[random.permutation(N_GROUPS)[:n_cells], random.permutation(N_GROUPS)[:n_cells]] = True
    rows, cols = (random.permutation(np.arange(size) % N_GROUPS) for size in shape)
    return of_groups[rows][:, cols]


HIDING = {"at random": at_random, "in blocks": in_blocks}


def compared(X: Block, hidden: Any, task: Task, *, tiny: bool) -> Row:
    """Return the errors on the hidden entries, and the time of the fit."""
    known = np.where(hidden, np.nan, X)
    data, missing = (stored(known), "unstored") if task.name == "ratings" else (known, "nan")
    times = race(
        complete=lambda: CoSeparableNMF(task.r, task.r).fit(X),
        missing=lambda: CoSeparableNMF(task.r, task.r, missing=missing).fit(data),
    )
    filled = {"ours": times["missing"].answer.fill_missing(data), **others(known, task.r, tiny=tiny)}
    norm = np.linalg.norm(X[hidden])
    errors = {name: float(np.linalg.norm((X - Y)[hidden]) / norm) for name, Y in filled.items()}
    seconds = {name: timed.seconds for name, timed in times.items()}
    return errors | {
        "complete_s": seconds["complete"],
        "missing_s": seconds["missing"],
        "ratio": seconds["missing"] / seconds["complete"],
    }


def stored(known: Block) -> Any:
    """Return the sparse matrix that stores the known entries."""
    rows, cols = np.nonzero(~np.isnan(known))
    return scipy.sparse.csr_array((known[rows, cols], (rows, cols)), shape=known.shape)


def others(known: Block, r: int, *, tiny: bool) -> dict[str, Block]:
    """Return the matrix filled by the rivals."""
    means = np.nanmean(known, axis=0)
    iterative = IterativeImputer(
        max_iter=2 if tiny else 5, n_nearest_features=min(20, known.shape[1] - 1), min_value=0.0, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge in its default number of rounds
        return {
            "column_means": np.broadcast_to(means, known.shape),
            "knn": KNNImputer().fit_transform(known),
            "iterative": iterative.fit_transform(known),
            "masked_nmf": masked_nmf(known, r),
            "zeros": np.zeros_like(known),
        }


def masked_nmf(known: Block, r: int) -> Block:
    """Return W H with a small error over the known entries, by multiplicative updates from a random start."""
    seen = (~np.isnan(known)).astype(np.float64)
    X, random = np.nan_to_num(known), np.random.default_rng(0)
    scale = np.sqrt(X.sum() / seen.sum() / r)
    W, H = (scale * random.uniform(0.5, 1.5, size=shape) for shape in ((len(X), r), (r, X.shape[1])))
    for _ in range(ROUNDS):
        H *= (W.T @ X) / np.maximum(W.T @ (seen * (W @ H)), 1e-300)
        W *= (X @ H.T) / np.maximum((seen * (W @ H)) @ H.T, 1e-300)
    return np.asarray(W @ H)


def planted(n_seeds: int) -> Row:
    """Return how often planted rows and columns are found, and the errors of hidden entries."""
    found, errors = [], []
    for seed in range(n_seeds):
        X, truth = make_coseparable(100, 80, 5, 5, random_state=seed)
        known = np.where(np.random.default_rng(seed).uniform(size=X.shape) < 0.2, np.nan, X)
        model = CoSeparableNMF(5, 5, missing="nan", tol=1e-14, max_iter=1000).fit(known)
        pairs: list[tuple[Any, Any]] = [
            (model.row_indices_, truth.row_indices),
            (model.col_indices_, truth.col_indices),
        ]
        found.append(all(np.isin(ours, theirs).all() for ours, theirs in pairs))
        errors.append(float(np.abs(model.fill_missing(known) - X).max() / X.max()))
    return {
        "set": "co-separable",
        "hidden_pct": 20,
        "how": "at random",
        "of": n_seeds,
        "selected_exactly": int(np.sum(found)),
        "below_1e_6": int((np.array(errors) < 1e-6).sum()),
        "median_error": float(np.median(errors)),
        "worst_error": max(errors),
    }


def memory(kind: str, *, tiny: bool) -> Row:
    """Return the peak memory of a fit relative to the input."""
    random = np.random.default_rng(0)
    m, n, r = (2000, 50, 5) if tiny else ((20_000, 200, 10) if kind == "dense" else (50_000, 1000, 10))
    if kind == "dense":
        X = random.gamma(0.5, size=(m, r)) @ random.gamma(0.5, size=(r, n))
        X[random.uniform(size=X.shape) < 0.2] = np.nan
        size, missing = X.nbytes, "nan"
    else:
        W, H = random.gamma(0.5, size=(m, r)), random.gamma(0.5, size=(r, n))
        per_row = max(n // 50, 2)
        cols = np.sort(random.integers(0, n, size=(m, per_row)), axis=1)
        values = np.einsum("ik,kij->ij", W, H[:, cols]) / 2
        X = scipy.sparse.csr_array((values.ravel(), cols.ravel(), np.arange(0, m * per_row + 1, per_row)), shape=(m, n))
        X.sum_duplicates()
        size, missing = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, "unstored"
    small = X[:200] if kind == "dense" else X[:2000]
    CoSeparableNMF(3, 3, missing=missing).fit(small)
    timed, peak = with_memory(lambda: CoSeparableNMF(r, r, missing=missing).fit(X))
    complete = np.nan_to_num(X, nan=1.0) if kind == "dense" else X
    seconds = clock(lambda: CoSeparableNMF(r, r).fit(complete)).seconds
    return {
        "set": f"memory, {kind} {m:,} x {n:,}",
        "r": r,
        "input_mb": size / 1e6,
        "peak_mb": peak / 1e6,
        "memory_ratio": peak / size,
        "complete_s": seconds,
        "missing_s": timed.seconds,
        "ratio": timed.seconds / seconds,
    }


def bars(rows: list[Row]) -> list[Bar]:
    """Return the errors relative to means of columns, the times, the memory, and what is found of planted matrices."""
    measured = [row for row in rows if "ours" in row]
    random = [row for row in measured if row["how"] == "at random"]
    at_20 = [row["ratio"] for row in random if row["hidden_pct"] == 20]
    peaks = [row["memory_ratio"] for row in rows if "memory_ratio" in row]
    exact = [row for row in rows if "of" in row]
    share = exact[0]["below_1e_6"] / exact[0]["of"] if exact else None
    relative = [row["ours"] / row["column_means"] for row in random]
    return [
        Bar(
            "error on hidden entries, relative to means of columns, mean",
            float(np.mean(relative)) if relative else None,
            1.0,
        ),
        Bar("worst of these with entries hidden at random", max(relative, default=None), 1.0),
        Bar("time of a fit with 20 % missing, relative to the complete one, worst", max(at_20, default=None), 5.0),
        Bar("peak memory of a fit relative to the input, worst", max(peaks, default=None), 3.0),
        Bar("planted matrices of which hidden entries are found to 1e-6", share, 1.0, at_least=True),
    ]


def summary(rows: list[Row]) -> list[Row]:
    """Return the mean error of every method for each share that is hidden."""
    measured = [row for row in rows if "ours" in row]
    return [
        {
            "hidden_pct": share,
            "how": how,
            **{name: float(np.mean([row[name] for row in some])) for name in ("ours", *RIVALS)},
        }
        for how in HIDING
        for share in sorted({row["hidden_pct"] for row in measured})
        if (some := [row for row in measured if (row["hidden_pct"], row["how"]) == (share, how)])
    ]
