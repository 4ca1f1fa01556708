"""The recommendation of `choose_rank(X)` with its defaults for data of known rank, and its time.

Planted matrices are those of `make_coseparable` with r rows, r columns and noise 1e-2, ten of each kind. `found` counts
how often the planted pair was recommended, `others` lists other recommendations. The docstrings of SciPy and
scikit-learn, and the document sets, have no true rank; `classes` are those of their documents. Seconds are those of one
core, for all ten matrices.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks.data import TINY, Problem
from benchmarks.harness import Bar, Row, clock, rows_on_sets, warm
from cosep import RankChoice, choose_rank, make_coseparable
from cosep.datasets import load_docstrings

SIZES = ((60, 40, 3), (60, 40, 4), (60, 40, 5), (60, 40, 6), (100, 100, 10), (200, 120, 8))
SEEDS = 10
TEXTS = ("tr11", "tr23")
ENOUGH = 8
LONGEST = 30.0


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per kind of planted matrix and per set of texts."""
    warm()
    choose_rank(make_coseparable(20, 15, 2, 2, random_state=0)[0], [2])
    for size in SIZES[:1] if tiny else SIZES:
        for permute in (True, False) if size == SIZES[0] and not tiny else (True,):
            yield planted(*size, permute=permute, seeds=1 if tiny else SEEDS)
    if not tiny:
        corpus = load_docstrings()
        yield {"set": "docstrings", "classes": len(set(corpus.labels)), **on_texts(corpus.counts)}
    yield from rows_on_sets(TINY if tiny else TEXTS, lambda problem: [on_set(problem)])


def planted(m: int, n: int, r: int, *, permute: bool, seeds: int) -> Row:
    """Count how often the planted ranks are recommended."""
    data = [make_coseparable(m, n, r, r, noise=1e-2, permute=permute, random_state=seed)[0] for seed in range(seeds)]
    seconds, choices = clock(lambda: [pair(choose_rank(X)) for X in data])
    return {
        "set": f"planted {m} x {n}, r = {r}{'' if permute else ', not permuted'}",
        "found": choices.count((r, r)),
        "of": seeds,
        "others": " ".join(f"{rows}x{cols}" for rows, cols in choices if (rows, cols) != (r, r)),
        "s": seconds,
    }


def pair(choice: RankChoice) -> tuple[int, int]:
    """Return the recommended numbers of rows and columns."""
    return choice.n_rows, choice.n_cols


def on_set(problem: Problem) -> Row:
    """Choose the rank of a data set, next to the number of its classes."""
    return {"classes": problem.r, **on_texts(problem.X)}


def on_texts(X: Any) -> Row:
    """Choose the rank of word counts."""
    seconds, choice = clock(lambda: choose_rank(X))
    return {"n_rows": choice.n_rows, "n_cols": choice.n_cols, "pairs": len(choice.table["error"]), "s": seconds}


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the planted matrices and the docstrings with their limits."""
    found = [10 * row["found"] / row["of"] for row in rows if "found" in row]
    seconds = [row["s"] for row in rows if row["set"] == "docstrings"]
    return [
        Bar("planted ranks recommended, of ten, for the worst kind", min(found, default=None), ENOUGH, at_least=True),
        Bar("seconds of one core for the docstrings", max(seconds, default=None), LONGEST),
    ]
