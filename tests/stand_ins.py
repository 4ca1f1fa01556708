"""Small factorizations for tests of plots and reports, and simple replacements for the records about them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import scipy.sparse

from cosep import Factorization, Selection, mix

HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "</script><script>window.hacked=1</script>",
    '<a href="javascript:window.hacked=1">click</a>',
    "<b>bold</b> &lt;i&gt; &amp; $x^2$ %{x} {{ 7 * 7 }}",
    "' onmouseover='window.hacked=1",
    "<script>/* plotly.js */</script>",
    "broken \udcff surrogate \x00 and \u202e reversed \u2028 line",
)


def factorize(X, rows, cols, names=True):
    """Return a factorization of X by these rows and columns, with names by default."""
    result = mix(X, Selection(np.array(rows), np.array(cols)), max_iter=3)
    if not names:
        return result
    m, n = X.shape
    return replace(
        result,
        row_names=np.array([f"document {i}" for i in range(m)]),
        col_names=np.array([f"word {j}" for j in range(n)]),
    )


def blocks(sizes=((8, 5), (6, 7), (4, 3)), seed=0):
    """Return a block-diagonal matrix with blocks of rank one, and the first row and column of each block."""
    rng = np.random.default_rng(seed)
    X = np.zeros((sum(m for m, _ in sizes), sum(n for _, n in sizes)))
    rows, cols = [], []
    i = j = 0
    for m, n in sizes:
        X[i : i + m, j : j + n] = np.outer(rng.uniform(1, 2, m), rng.uniform(1, 2, n))
        rows.append(i)
        cols.append(j)
        i, j = i + m, j + n
    return X, rows, cols


def large(m=20_000, n=900, r=60, letter="w"):
    """Return a large matrix with long names, its factorization with a large core, and long texts."""
    X = scipy.sparse.random_array((m, n), density=0.02, rng=np.random.default_rng(0), format="csr")
    U, V = np.eye(r)[np.arange(m) % r], np.eye(r)[:, np.arange(n) % r]
    U, V = 0.1 * U, 0.1 * V
    U[3] = 0.0
    chosen = Selection(np.arange(r), np.arange(r))
    result = Factorization(U, X[:r, :r].toarray(), V, chosen, row_weights=U, col_weights=V)
    rows = np.array([f"{i} {'long name ' * 30}"[:300] for i in range(m)])
    cols = np.array([f"{j} {letter * 300}" for j in range(n)])
    texts = [f"text {i} " + "words without end " * 60 for i in range(m)]
    return X, replace(result, row_names=rows, col_names=cols), texts


def _table(indices, size, seed):
    rng = np.random.default_rng(seed)
    others = np.setdiff1d(np.arange(size), indices)
    count = len(indices)
    return {
        "index": np.array(indices),
        "name": np.array(["" for _ in indices]),
        "share": rng.dirichlet(np.ones(count)),
        "loss": rng.uniform(0, 0.1, count),
        "runner_up": rng.choice(others, count) if len(others) else np.full(count, -1),
        "runner_up_name": np.array(["" for _ in indices]),
        "runner_up_loss": rng.uniform(-0.01, 0.1, count),
        "size": np.ones(count, dtype=int),
    }


def explanation(result, zeros=()):
    """Return an object with the fields of an Explanation, with NaN for the given rows."""
    m, n = result.shape
    errors = np.random.default_rng(1).uniform(0, 1, m)
    errors[list(zeros)] = np.nan
    return SimpleNamespace(
        rows=_table(result.selection.row_indices, m, 2),
        cols=_table(result.selection.col_indices, n, 3),
        row_errors=errors,
        col_errors=np.random.default_rng(4).uniform(0, 1, n),
        sum_of_errors=0.5,
    )


def stability(result):
    """Return an object with the fields of a Stability."""
    rng = np.random.default_rng(5)
    sides = {
        side: {"index": indices, "frequency": rng.random(len(indices)), "similarity": rng.random(len(indices))}
        for side, indices in (("rows", result.selection.row_indices), ("cols", result.selection.col_indices))
    }
    return SimpleNamespace(n_draws=20, share=0.8, **sides)


def path(result):
    """Return an object with the fields of a SelectionPath."""
    rows, cols = result.selection.row_indices, result.selection.col_indices
    most = max(len(rows), len(cols))
    return SimpleNamespace(
        row_indices=np.array(rows)[::-1],
        col_indices=np.array(cols)[::-1],
        rows=np.linspace(0.1, 0.5, len(rows)),
        cols=np.linspace(0.2, 0.6, len(cols)),
        core=np.linspace(0.0, 0.4, most),
        bound=np.linspace(0.4, 0.8, most),
    )


def rank_choice(pairs=((2, 2), (2, 3), (3, 2), (3, 3))):
    """Return an object with the fields of a RankChoice that recommends the last pair."""
    rows, cols = np.array(pairs).T
    table = {
        "n_rows": rows,
        "n_cols": cols,
        "error": 1.0 / (rows + cols),
        "error_se": np.full(len(rows), 0.01),
        "stability": np.linspace(0.9, 0.8, len(rows)),
    }
    return SimpleNamespace(n_rows=int(rows[-1]), n_cols=int(cols[-1]), reason="The error is smallest.", table=table)


def hostile():
    """Return a matrix with hostile names, its factorization, and hostile texts."""
    X, rows, cols = blocks()
    m, n = X.shape
    result = replace(
        factorize(X, rows, cols, names=False),
        row_names=np.array([HOSTILE[i % len(HOSTILE)] for i in range(m)], dtype=object),
        col_names=np.array([HOSTILE[(j + 3) % len(HOSTILE)] for j in range(n)], dtype=object),
        meta={HOSTILE[0]: HOSTILE[1]},
    )
    return X, result, [HOSTILE[i % len(HOSTILE)] for i in range(m)]
