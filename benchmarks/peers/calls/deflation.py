"""scikit-matter and fastcan: rows chosen one by one, each for what those before leave."""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.peers.calls.prepare import PREPARED


def scikit_matter(X: Any, k: int, seed: int, kind: str = "CUR", prepare: str = "", **options: Any) -> dict[str, Any]:
    """Choose rows by CUR (the leading singular vector) or FPS (the farthest row)."""
    selector = getattr(import_module("skmatter.sample_selection"), kind)
    model = selector(n_to_select=k, random_state=seed, **options).fit(PREPARED[prepare](X))
    return {"rows": model.selected_idx_}


def fastcan(X: Any, k: int, _seed: int, prepare: str = "", components: int = 0, **options: Any) -> dict[str, Any]:
    """Choose the rows with the largest canonical correlation with the leading principal components (0: k of them)."""
    A = np.ascontiguousarray(PREPARED[prepare](X).T)
    targets = PCA(min(components or k, *A.shape), random_state=0).fit_transform(A)
    model = import_module("fastcan").FastCan(n_features_to_select=k, verbose=0, **options)
    return {"rows": model.fit(A, targets).indices_}
