"""Scale: seconds and memory of 20 representatives of 2 000, 20 000 and 200 000 rows.

Planted counts of 100 columns, dense: every row mixes a few of 20 kinds. Each call runs in a process of its own with one
thread, at most 4096 MB of memory and 40 processor seconds. Memory is the peak in addition to the data. The rows of
k-means, NMF and AA are those nearest to their centres; SpectralCoclustering gives labels only. A tool that has reached
a limit is not tried with more rows.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from benchmarks.data import Block
from benchmarks.harness import Row
from benchmarks.peers.cells import answers, averaged, of_tools, tool_with
from benchmarks.peers.process import Call, Limits
from benchmarks.peers.tools import (
    SEACELLS,
    Tool,
    apricot,
    archetypes,
    biarchetypes,
    fastcan,
    medoids,
    ours,
    scikit_learn,
    scikit_matter,
    submodlib,
)
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by

MAIN = "fidelity"
K, COLUMNS = 20, 100
SIZES, SHORT_SIZES = (2_000, 20_000, 200_000), (2_000, 20_000)
LIMIT, SHORT_LIMIT = Limits(40.0), Limits(20.0)
TOOLS = tuple(
    tool._replace(n_seeds=1)
    for tool in (
        ours(),
        ours("rows only", "one_side"),
        scikit_learn("k-means", "default", "k_means"),
        scikit_learn("NMF", "default", "nmf", init="nndsvda"),
        scikit_learn("SpectralCoclustering", "default", "spectral"),
        medoids("default"),
        submodlib("default"),
        apricot("default"),
        archetypes("AA", "default"),
        archetypes("ADA", "default"),
        biarchetypes("default"),
        scikit_matter("CUR", "default"),
        scikit_matter("FPS", "default"),
        fastcan("default"),
        Tool("SEACells", "default", Call("cells", "seacells", SEACELLS)),
    )
)


def cells(*, full: bool) -> Iterator[Row]:
    """Yield the keys: all tools with ever more rows."""
    for m in SIZES if full else SHORT_SIZES:
        yield from of_tools(TOOLS, set=f"{m} rows", rows=m)


def tool_of(key: Row) -> Tool:
    """Return the tool of a key."""
    return tool_with(TOOLS, key)


def measure(key: Row, *, full: bool) -> Row:
    """Return the cost of one tool, and what its rows explain if it selects rows."""
    X, limits = counts(key["rows"]), LIMIT if full else SHORT_LIMIT
    runs = answers(tool_of(key), [X], K, limits, full=full)
    rows = runs[0].answer.get("rows")
    figures = {} if rows is None else {MAIN: 100 * (1.0 - explained_by(as_matrix(X).T, rows.astype(np.intp)).error)}
    return {
        "k": K,
        "columns": COLUMNS,
        "limit_s": limits.seconds,
        "limit_mb": limits.megabytes,
        **averaged(runs, [figures], MAIN),
    }


@lru_cache(maxsize=1)
def counts(m: int) -> Block:
    """Return planted counts."""
    random = np.random.default_rng(0)
    kinds = random.gamma(0.3, size=(K, COLUMNS))
    kinds /= kinds.sum(axis=1, keepdims=True)
    shares, lengths = random.dirichlet(np.full(K, 0.1), m), random.lognormal(6.0, 0.5, (m, 1))
    return random.poisson(lengths * (shares @ kinds)).astype(np.float64)
