"""Example data for calls of public functions: a matrix, a selection, fitted models and files."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

import cosep
from cosep import theory

X = np.array(
    [
        [27, 34, 9, 16, 0, 0, 0, 41, 9, 33],
        [44, 0, 0, 0, 10, 53, 22, 10, 27, 22],
        [0, 8, 0, 8, 0, 0, 0, 16, 0, 17],
        [28, 8, 0, 8, 0, 28, 14, 17, 0, 30],
        [27, 18, 9, 0, 0, 0, 0, 10, 9, 0],
        [56, 37, 18, 0, 9, 12, 1, 27, 45, 1],
        [81, 62, 27, 8, 0, 0, 0, 43, 27, 16],
        [19, 0, 0, 0, 18, 36, 9, 18, 55, 9],
        [70, 18, 9, 0, 0, 43, 22, 9, 10, 21],
        [6, 8, 0, 8, 27, 33, 3, 43, 82, 20],
        [15, 0, 0, 0, 0, 14, 7, 0, 0, 7],
        [2, 0, 0, 0, 9, 11, 1, 10, 27, 1],
    ],
    dtype=np.float64,
)
ROWS, COLS = [2, 4, 10, 11], [2, 3, 4, 6]


def some_selection() -> Any:
    """Return a valid selection of rows and columns of X."""
    return cosep.Selection(np.array(ROWS), np.array(COLS))


@functools.cache
def fitted(name: Any) -> Any:
    """Return a fitted model or a result of this kind; made once, before any fork."""
    makers = {
        "mix": lambda: cosep.mix(X, some_selection()),
        "explanation": lambda: cosep.explain(X, fitted("mix")),
        "stability": lambda: cosep.stability(X, some_selection(), method="spa", n_draws=2),
        "path": lambda: cosep.selection_path(X, fitted("mix")),
        "rank": lambda: cosep.choose_rank(X, [2, 3], method="spa"),
        "preselection": lambda: cosep.preselect(X, 5),
        "minimal": lambda: theory.minimal_coseparable(X),
        "to_cur": lambda: cosep.Factorization(
            np.ones((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]]), np.ones((2, 2)), cosep.Selection([0, 1], [0, 1])
        ),
        "CoSeparableNMF": lambda: cosep.CoSeparableNMF(3, 3, method="spa").fit(X),
        "SeparableNMF": lambda: cosep.SeparableNMF(3).fit(X),
        "HALSNMF": lambda: cosep.HALSNMF(3).fit(X),
        "MinVolNMF": lambda: cosep.MinVolNMF(3).fit(X),
        "BiorthogonalNMF": lambda: cosep.BiorthogonalNMF(3).fit(X),
        "TriSymmetricNMF": lambda: cosep.TriSymmetricNMF(3).fit(X),
        "GeneralizedSeparableNMF": lambda: cosep.GeneralizedSeparableNMF(3).fit(X),
        "CUR": lambda: cosep.CUR(3, 3).fit(X),
    }
    return makers[name]()


EXACT_X, EXACT_SELECTION = cosep.make_coseparable(9, 8, 3, 3, random_state=0)
FILES: dict[str, Path] = {}


def make_files(folder: Any) -> None:
    """Write files that valid calls read, with their paths in ``FILES``."""
    folder.mkdir()
    (folder / "matrix.csv").write_text("name,a,b,c\nx,1,2,3\ny,3,4,5\n")
    (folder / "names.txt").write_text("a\nb\n")
    (folder / "labels.csv").write_text("name,label\na,1\nb,2\n")
    (folder / "texts.txt").write_text("the tea is hot\nhot tea and jam\njam and bread\n")
    np.save(folder / "matrix.npy", X)
    fitted("mix").save(folder / "model.npz")
    (folder / "folder").mkdir()
    (folder / "blocks").mkdir()
    np.save(folder / "blocks" / "a.npy", X[:6])
    np.save(folder / "blocks" / "b.npy", X[6:])
    FILES.update({path.name: path for path in folder.iterdir()})
