"""Other selectors of columns, and a table of what they choose.

The choices of a rival do not change with `cosep`: they are kept in ``results/rivals.csv`` and computed once for each
matrix. fastcan and scikit-matter are installed in environments of their own (`benchmarks.environments`), and choose in
processes of their own (`rivals_worker`). scikit-matter accepts dense matrices only.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

from benchmarks.defaults import closest
from benchmarks.environments import FASTCAN, SCIKIT_MATTER, Environment, RivalError, run
from benchmarks.harness import Row, read_rows, write_rows
from cosep import greedy
from cosep.matrix.local import LocalMatrix
from cosep.matrix.validation import as_matrix
from cosep.select.column_choice import explained_by
from cosep.utils.types import Array, Indices

TABLE = Path(__file__).parent / "results" / "rivals.csv"
WORKER = Path(__file__).parent / "rivals_worker.py"
# Seconds for one choice of a rival that is not ours.
TIME_LIMIT = 120.0
# Matrices with more entries are not made dense.
DENSE_LIMIT = 50_000_000
# A stored choice belongs to a matrix whose squared norm differs by a smaller share.
SAME_MATRIX_TOL = 1e-9


class Rival(NamedTuple):
    """A selector of columns, and the package and version that it comes from."""

    choose: Callable[[Any, int], Indices]
    version: str


class Verdict(NamedTuple):
    """What a rival chooses, and the share of squares that it explains; or why there is no choice."""

    fidelity: float | None
    indices: Indices
    note: str = ""


def by_greedy(X: Any, r: int) -> Indices:
    """Return the columns that lower the error of projection most, one by one."""
    return np.asarray(greedy(X, r).col_indices)


def by_iterative_cur(X: Any, r: int) -> Indices:
    """Return, r times, the largest entry of the leading right singular vector of what the columns so far leave."""
    M = as_matrix(X)
    Q = np.zeros((M.shape[0], 0))
    start = np.random.default_rng(0).standard_normal(min(M.shape))
    chosen: list[int] = []
    for _ in range(r):
        leading = np.abs(svds(residual(M, Q), k=1, v0=start, tol=1e-9)[2][0])
        leading[chosen] = -1.0
        chosen.append(int(leading.argmax()))
        Q = np.linalg.qr(M.take(cols=np.array(chosen)))[0]
    return np.array(chosen)


def residual(M: LocalMatrix, Q: Array) -> LinearOperator:
    """``M - Q Q'M``, never formed."""

    def product(B: Array) -> Array:
        left = M.dot(B)
        return np.asarray(left - Q @ (Q.T @ left))

    def transposed(B: Array) -> Array:
        return M.cross(B - Q @ (Q.T @ B))

    return LinearOperator(
        M.shape, matvec=product, rmatvec=transposed, matmat=product, rmatmat=transposed, dtype=np.float64
    )


def by_nmf_medoids(X: Any, r: int) -> Indices:
    """Return the columns most similar to the components of scikit-learn's NMF, converged or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return closest(X, NMF(r, init="nndsvda", max_iter=200, random_state=0).fit_transform(X), r)


class Foreign(NamedTuple):
    """A selector of a package that is installed in an environment of its own."""

    environment: Environment

    def choose(self, X: Any, r: int) -> Indices:
        """Choose columns in a process of its own."""
        M = as_matrix(X, signed=True)
        if M.shape[0] * M.shape[1] > DENSE_LIMIT:
            msg = f"more than {DENSE_LIMIT:.0e} entries"
            raise RivalError(msg)
        package, python = self.environment.package, self.environment.python()
        with TemporaryDirectory() as folder:
            matrix, answer = Path(folder, "matrix.npy"), Path(folder, "answer.json")
            np.save(matrix, M.take())
            run([python, WORKER, package, matrix, str(r), answer], f"{package} did not choose", TIME_LIMIT)
            return np.array(json.loads(answer.read_text(encoding="utf-8")))


OURS = f"cosep {version('cosep')}"
RIVALS = {
    "greedy": Rival(by_greedy, OURS),
    "iterative CUR": Rival(by_iterative_cur, OURS),
    "NMF medoids": Rival(by_nmf_medoids, f"scikit-learn {version('scikit-learn')}"),
}
FOREIGN = {
    "fastcan": Rival(Foreign(FASTCAN).choose, "fastcan 0.6.0"),
    "scikit-matter CUR": Rival(Foreign(SCIKIT_MATTER).choose, "scikit-matter 0.4.1"),
}


class Verdicts:
    """What rivals choose on each matrix, in a file unless ``path`` is None."""

    def __init__(self, path: Path | None = TABLE) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], Row] = {}
        self.read()

    def read(self) -> None:
        """Read the file again: another process may have added to it."""
        if self.path is not None and self.path.exists():
            self.rows |= {_key(row): row for row in read_rows(self.path)}

    def of(self, M: LocalMatrix, r: int, name: str, place: dict[str, str]) -> Verdict:
        """Return the choice of r columns of M; ``place`` names set, norm and side."""
        rival = (RIVALS | FOREIGN)[name]
        key = _key(place | {"rival": name})
        size = M.squared_norm()
        known = self.rows.get(key)
        if known is None or abs(float(known["size"]) - size) > SAME_MATRIX_TOL * size:
            found = verdict(M, r, rival)
            known = place | {"rival": name, "version": rival.version, "size": size, **_stored(found)}
            self.read()
            self.rows[key] = known
            if self.path is not None:
                write_rows(self.path, list(self.rows.values()))
        indices = np.array(str(known.get("indices", "")).split(), dtype=np.intp)
        fidelity = known.get("fidelity")
        return Verdict(None if fidelity is None else float(fidelity), indices, str(known.get("note", "")))


def verdict(M: LocalMatrix, r: int, rival: Rival) -> Verdict:
    """Let a rival choose r columns of M, and explain all columns by exact nonnegative weights."""
    try:
        chosen = rival.choose(M.raw, r)
    except RivalError as why:
        return Verdict(None, np.zeros(0, dtype=np.intp), str(why))
    return Verdict(1.0 - explained_by(M, chosen).error, chosen)


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("set", "norm", "side", "rival"))


def _stored(found: Verdict) -> Row:
    row = found._asdict() | {"indices": " ".join(map(str, found.indices.tolist()))}
    return {name: value for name, value in row.items() if value not in (None, "")}


def all_verdicts(verdicts: Verdicts, M: LocalMatrix, r: int, place: dict[str, str]) -> Iterator[tuple[str, Verdict]]:
    """Yield the name and the choice of each rival; the foreign ones only where choices are stored."""
    for name in RIVALS | (FOREIGN if verdicts.path is not None else {}):
        yield name, verdicts.of(M, r, name, place)
