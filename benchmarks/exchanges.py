"""The choice of `faithful` compared with the best one that long local searches have found.

The document sets, docstrings and digits, in the plain norm and in the default norm. The excess is how much the sum of
the squared errors of rows, columns and core of `faithful` is above the smallest sum known, in percent. A search tries
to replace each chosen row and column by the candidates that promise most, judges every exchange by the exact sum, keeps
the first that lowers it, and ends when no exchange of its list does. It starts from the choice of `faithful`, from the
best choice known, from the choices of rivals, and then from the best choice with some rows and columns replaced at
random, until the time is over. The best choices are kept in `results/long_search.csv`: a set that is not in it is
searched for a minute, and the others only if COSEP_SEARCH_SECONDS says how long.
"""

import os
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.choice import NORMS
from benchmarks.data import DOCUMENTS, TINY, Problem
from benchmarks.harness import Bar, Row, read_rows, rows_on_sets, write_rows
from benchmarks.rivals import RIVALS, SAME_MATRIX_TOL, Verdicts
from cosep import faithful
from cosep.matrix.local import LocalMatrix
from cosep.matrix.scaling import scale
from cosep.select.column_choice import ColumnChoice, explained_by, sum_of_errors, summed
from cosep.utils.types import Array, Indices

SETS = (*DOCUMENTS, "docstrings", "digits")
TABLE = Path(__file__).parent / "results" / "long_search.csv"
# Processor time of the search on one set in one norm, and on tiny data.
SECONDS, TINY_SECONDS = 60.0, 0.5
# Candidates for one position: the columns most similar to what it alone explains, of which those with the largest
# gains are tried, and the columns with the largest residuals.
N_SIMILAR, N_GAINS, N_RESIDUALS = 60, 10, 2
# An exchange is kept if it lowers the sum by a larger share.
MIN_GAIN = 1e-7
# Share of the chosen rows and columns that a new start replaces.
REPLACED = 0.25


class Pair(NamedTuple):
    """Chosen rows and columns, and the sum of their errors."""

    rows: ColumnChoice
    cols: ColumnChoice
    total: float


def judged(M: LocalMatrix, rows: Indices, cols: Indices) -> Pair:
    """Return a choice with its weights and its sum of errors."""
    of_rows, of_cols = explained_by(M.T, np.asarray(rows)), explained_by(M, np.asarray(cols))
    return Pair(of_rows, of_cols, sum_of_errors(M, of_rows, of_cols))


def swapped(pair: Pair) -> Pair:
    """Return the choice for the transpose."""
    return Pair(pair.cols, pair.rows, pair.total)


def descend(M: LocalMatrix, pair: Pair, deadline: float) -> Pair:
    """Exchange columns and rows in turn until no exchange lowers the sum, or until the deadline."""
    while time.process_time() < deadline:
        before = pair.total
        pair = swapped(sweep(M.T, swapped(sweep(M, pair, deadline)), deadline))
        if pair.total >= before:
            break
    return pair


def sweep(M: LocalMatrix, pair: Pair, deadline: float) -> Pair:
    """Replace each column in turn by the first candidate that lowers the sum."""
    rows, total = pair.rows, M.squared_norm()
    M_U, U_U, H = M.cross(rows.V), rows.V.T @ rows.V, M.take(rows=rows.chosen)
    for k in range(len(pair.cols.chosen)):
        for j, weights in candidates(M, pair, k, M_U, U_U):
            if time.process_time() > deadline:
                return pair
            chosen, near = pair.cols.chosen.copy(), pair.cols.V.copy()
            chosen[k], near[:, k] = j, weights
            cols = explained_by(M, chosen, near)
            S = H[:, chosen]
            core = total - 2.0 * np.sum(M_U @ S * cols.V) + np.sum(S.T @ U_U @ S * (cols.V.T @ cols.V))
            lower = float(summed(rows.error, cols.error, max(core / total, 0.0)))
            if lower < (1.0 - MIN_GAIN) * pair.total:
                pair = Pair(rows, cols, lower)
                break
    return pair


def candidates(M: LocalMatrix, pair: Pair, k: int, M_U: Array, U_U: Array) -> Iterator[tuple[int, Array]]:
    """Yield columns to try in place of the k-th, those with the largest gains first, and their weights.

    A gain is the decrease of the errors of columns and core if the weights of the other columns stay as they are.
    """
    chosen, V = pair.cols.chosen, pair.cols.V
    norms, others = M.squared_norms(), np.arange(len(chosen)) != k
    lengths = np.sqrt(np.where(norms > 0, norms, np.inf))
    A, v = M.take(cols=chosen), V[:, k] if V[:, k].any() else np.ones(len(V))
    # What the other columns leave of the data that the k-th explains.
    alone = np.maximum(M.dot(v) - A[:, others] @ (V[:, others].T @ v), 0.0)
    likeness = M.cross(alone) / lengths
    left = norms - np.einsum("ij,ij->i", M.cross(A), V)
    likeness[chosen] = left[chosen] = -np.inf
    similar = np.argsort(-likeness)[:N_SIMILAR]
    far = np.setdiff1d(np.argsort(-left)[:N_RESIDUALS], similar)
    tried = np.concatenate([similar, far])
    tried = tried[norms[tried] > 0]
    M_D, D = M.gram(tried), M.take(pair.rows.chosen, tried)
    rest, S = V[:, others], M.take(pair.rows.chosen, chosen[others])
    P = np.maximum(M_D - rest @ M_D[chosen[others]], 0.0) / norms[tried]
    squares = np.einsum("ij,ij->j", P, P)
    core = np.einsum("ij,ij->j", D, M_U.T @ P - U_U @ S @ (rest.T @ P))
    gains = squares * norms[tried] + 2.0 * core - np.einsum("ij,ij->j", D, U_U @ D) * squares
    first = np.argsort(-gains)[:N_GAINS]
    for b in [*first, *np.setdiff1d(np.arange(len(tried) - len(far), len(tried)), first)]:
        yield int(tried[b]), P[:, b]


def disturbed(M: LocalMatrix, chosen: Indices, random: np.random.Generator) -> Indices:
    """Replace some of the chosen columns by others, drawn in proportion to their squared norms."""
    shares = M.squared_norms()
    shares[chosen] = 0.0
    count = min(max(1, round(REPLACED * len(chosen))), int((shares > 0).sum()))
    new = chosen.copy()
    if count:
        places = random.choice(len(chosen), count, replace=False)
        new[places] = random.choice(len(shares), count, replace=False, p=shares / shares.sum())
    return new


def search(M: LocalMatrix, best: Pair, starts: Iterator[tuple[Indices, Indices]], seconds: float) -> Pair:
    """Return the best end of searches from the best choice, the given starts and disturbed choices."""
    deadline = time.process_time() + seconds
    # Without a seed, so that another search tries other starts.
    random = np.random.default_rng()
    best = descend(M, best, deadline)
    while time.process_time() < deadline:
        start = next(starts, None)
        if start is None:
            start = disturbed(M.T, best.rows.chosen, random), disturbed(M, best.cols.chosen, random)
        end = descend(M, judged(M, *start), deadline)
        best = end if end.total < best.total else best
    return best


class Best:
    """The best choices known, in a file unless ``path`` is None."""

    def __init__(self, path: Path | None = TABLE) -> None:
        self.path = path
        self.rows: dict[tuple[str, str], Row] = {}
        self.read()

    def read(self) -> None:
        """Read the file again: another process may have added to it."""
        if self.path is not None and self.path.exists():
            self.rows |= {(row["set"], row["norm"]): row for row in read_rows(self.path)}

    def known(self, name: str, norm: str, M: LocalMatrix) -> Pair | None:
        """Return the best choice for a matrix; None if there is none, or if the matrix has changed."""
        row = self.rows.get((name, norm))
        if row is None or abs(float(row["size"]) - M.squared_norm()) > SAME_MATRIX_TOL * M.squared_norm():
            return None
        return judged(M, *(np.array(str(row[side]).split(), dtype=np.intp) for side in ("rows", "columns")))

    def store(self, name: str, norm: str, M: LocalMatrix, pair: Pair) -> None:
        """Remember a choice, and write all to the file."""
        self.read()
        sides = {"rows": np.sort(pair.rows.chosen), "columns": np.sort(pair.cols.chosen)}
        self.rows[name, norm] = {
            "set": name,
            "norm": norm,
            "size": M.squared_norm(),
            "sum": pair.total,
            **{side: " ".join(map(str, chosen.tolist())) for side, chosen in sides.items()},
        }
        if self.path is not None:
            write_rows(self.path, list(self.rows.values()))


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set and norm."""
    best, verdicts = (Best(None), Verdicts(None)) if tiny else (Best(), Verdicts())
    for name in TINY if tiny else SETS:
        yield from rows_on_sets([name], partial(compare, name=name, best=best, verdicts=verdicts))


def compare(problem: Problem, name: str, best: Best, verdicts: Verdicts) -> Iterator[Row]:
    """Yield one row per norm."""
    r = problem.r
    for norm, scaling in NORMS.items():
        M = scale(problem.X, scaling)[0]
        found = faithful(M.raw, r, r)
        ours = judged(M, np.asarray(found.row_indices), np.asarray(found.col_indices))
        known = best.known(name, norm, M)
        lowest = ours if known is None or ours.total < known.total else known
        seconds = float(os.environ.get("COSEP_SEARCH_SECONDS", "0"))
        if known is None:
            seconds = max(seconds, SECONDS if best.path is not None else TINY_SECONDS)
        if seconds:
            others = [pair for pair in (ours, known) if pair is not None and pair is not lowest]
            starts = [(pair.rows.chosen, pair.cols.chosen) for pair in others]
            lowest = search(M, lowest, chain(starts, rival_starts(M, r, name, norm, verdicts)), seconds)
        if lowest is not known:
            best.store(name, norm, M, lowest)
        yield {
            "norm": norm,
            "sum": ours.total,
            "best_sum": lowest.total,
            "excess_pct": 100 * (ours.total / lowest.total - 1.0) if lowest.total > 0 else 0.0,
            "same_rows": shared(ours.rows, lowest.rows),
            "same_columns": shared(ours.cols, lowest.cols),
        }


def rival_starts(M: LocalMatrix, r: int, name: str, norm: str, verdicts: Verdicts) -> Iterator[tuple[Indices, Indices]]:
    """Yield the choices of the rivals."""
    for rival in RIVALS:
        place = {"set": name, "norm": norm}
        yield (
            verdicts.of(M.T, r, rival, place | {"side": "rows"}).indices,
            verdicts.of(M, r, rival, place | {"side": "columns"}).indices,
        )


def shared(ours: ColumnChoice, best: ColumnChoice) -> str:
    """Return how many of the best columns are chosen."""
    return f"{len(np.intersect1d(ours.chosen, best.chosen))} of {len(best.chosen)}"


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the sums with the smallest ones known."""
    excess = [row["excess_pct"] for row in rows if "excess_pct" in row]
    mean = float(np.mean(excess)) if excess else None
    return [
        Bar(f"excess of the sum of errors over the smallest known, percent, mean of {len(excess)}", mean, 0.5),
        Bar("the same, largest", max(excess, default=None), 2.0),
    ]
