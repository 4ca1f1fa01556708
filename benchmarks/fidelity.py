"""What the selected rows and columns of k1b explain on their own, and what refitting makes of them.

`CoSeparableNMF(6, 6)` by every method on 2340 documents x 1000 words, in percent: the rows alone, the columns alone,
the core with the weights of both, the core after refitting (`score`), beside `HALSNMF(6)`, which chooses nothing.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks.data import MissingDataError, Problem, load
from benchmarks.harness import Bar, Row, clock, say
from cosep import HALSNMF, CoSeparableNMF, both_sides, spa
from cosep.select import BOTH_SELECTORS, Selector

METHODS: dict[str, Selector] = {
    **BOTH_SELECTORS,
    "spa, normalize=False": both_sides(partial(spa, normalize=False)),
}


def measure(*, tiny: bool = False) -> Iterator[Row]:
    """Yield one row for each method."""
    name = "planted" if tiny else "k1b"
    try:
        problem = load(name)
    except MissingDataError as missing:
        yield {"set": name, "note": str(missing)}
        return
    for method, select in METHODS.items():
        say(f"  {method}")
        yield {"set": name, "method": method, **fit(problem, select)}
    seconds, model = clock(lambda: HALSNMF(problem.r).fit(problem.X))
    yield {"set": name, "method": "HALSNMF", "refitted_pct": 100 * model.score(problem.X), "s": seconds}


def fit(problem: Problem, select: Selector) -> Row:
    """Return the fidelities of one method."""
    X, r, _ = problem
    seconds, model = clock(lambda: CoSeparableNMF(n_rows=r, n_cols=r, method=select).fit(X))
    return {
        "rows_pct": 100 * model.row_fidelity_,
        "columns_pct": 100 * model.col_fidelity_,
        "core_pct": 100 * model.core_fidelity_,
        "refitted_pct": 100 * model.score(X),
        "nonzeros": model.core_diagnosis_.nonzeros,
        "s": seconds,
    }


def bars(rows: list[Row]) -> list[Bar]:  # noqa: ARG001 - every benchmark has this function
    """Promise nothing: this page shows, it does not judge."""
    return []
