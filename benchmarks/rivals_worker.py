"""Choose columns by a package that is not in our environment: ``rivals_worker.py package matrix.npy r answer.json``.

`benchmarks.rivals` starts this file as a script, in an environment that has that package but not `cosep`.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA


def by_fastcan(X: Any, r: int) -> Any:
    """Choose the columns with the largest canonical correlation with the leading principal components."""
    components = PCA(r, random_state=0).fit_transform(X)
    return import_module("fastcan").FastCan(n_features_to_select=r, verbose=0).fit(X, components).indices_


def by_scikit_matter(X: Any, r: int) -> Any:
    """Choose columns by CUR, with its defaults: the leading singular vector, computed again after each column."""
    return import_module("skmatter.feature_selection").CUR(n_to_select=r).fit(X).selected_idx_


BY: dict[str, Callable[[Any, int], Any]] = {"fastcan": by_fastcan, "skmatter": by_scikit_matter}

if __name__ == "__main__":
    package, matrix, count, answer = sys.argv[1:]
    chosen = np.asarray(BY[package](np.load(matrix), int(count)))
    Path(answer).write_text(json.dumps(chosen.tolist()), encoding="utf-8")
