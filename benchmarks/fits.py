"""Whole fits on the paper's data: CoS-FGM compared with scikit-learn's NMF of the same rank.

The document sets are raw counts of their 1000 most frequent words, the faces 437 pixels x 400 images. `selection` is
`cosfgm` alone, `fit` is `CoSeparableNMF(r, r, method="cosfgm", scaling=None)`, the selection and the factors in the
plain norm of the paper, `nmf` is `NMF(init="nndsvd", max_iter=200)`; ratios are relative to its seconds. Approximation
is `1 - ||X - X^|| / ||X||` in percent; `printed` is that of CoS-FGM in Pan and Ng (2023). `gap` is the relative duality
gap of the selection; it is empty if nothing was better than the selection of SPA. TDT30 is another extraction of the
paper's documents.
"""

from collections.abc import Iterator

from sklearn.decomposition import NMF

from benchmarks.data import DOCUMENTS, TINY, Problem
from benchmarks.harness import Bar, Row, on_sets, race, total, warm
from cosep import CoSeparableNMF, Factorization, cosfgm, relative_approximation


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row per data set."""
    warm()
    return on_sets(TINY if tiny else (*DOCUMENTS, "faces"), compare)


def compare(problem: Problem) -> Row:
    """Return seconds and approximations."""
    X, r, printed = problem.X, problem.r, problem.printed
    nmf = NMF(r, init="nndsvd", max_iter=200, random_state=0)
    times = race(
        selection=lambda: cosfgm(X, r, r),
        fit=lambda: CoSeparableNMF(n_rows=r, n_cols=r, method="cosfgm", scaling=None).fit(X),
        nmf=lambda: nmf.fit_transform(X),
    )
    model = times["fit"].answer
    mixtures = Factorization(times["nmf"].answer, None, nmf.components_)
    factors = Factorization(model.row_factor_, model.core_, model.col_factor_)
    return {
        "r": r,
        "selection_s": times["selection"].seconds,
        "fit_s": times["fit"].seconds,
        "nmf_s": times["nmf"].seconds,
        "selection_ratio": times["selection"].seconds / times["nmf"].seconds,
        "fit_ratio": times["fit"].seconds / times["nmf"].seconds,
        "approximation_pct": 100 * relative_approximation(X, factors),
        "nmf_pct": 100 * relative_approximation(X, mixtures),
        "printed_pct": printed,
        "gap": model.gap_,
    }


def bars(rows: list[Row]) -> list[Bar]:
    """Compare the total seconds, and every approximation, with their limits."""
    done = [row for row in rows if "fit_s" in row]
    texts = [row for row in done if row["set"] in DOCUMENTS]
    nmf = total(texts, "nmf_s")
    over = f"over {len(texts)} document sets, as a multiple of NMF's"
    # Rounded to two digits, as printed.
    printed = [row for row in done if "printed_pct" in row]
    margins = [(round(round(row["approximation_pct"], 2) - row["printed_pct"], 2), row["set"]) for row in printed]
    least, where = min(margins, default=(None, "none"))
    return [
        Bar(f"seconds of the selection {over}", total(texts, "selection_s") / nmf if texts else None, 1.0),
        Bar(f"seconds of the fit {over}", total(texts, "fit_s") / nmf if texts else None, 2.0),
        Bar(f"smallest number of points above the printed approximation ({where})", least, 0.0, at_least=True),
    ]
