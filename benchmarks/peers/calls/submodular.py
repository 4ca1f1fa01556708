"""submodlib and apricot: rows that are most similar to all others, chosen one by one (facility location)."""

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.calls.prepare import PREPARED


def by_submodlib(X: Any, k: int, _seed: int, prepare: str = "", **options: Any) -> dict[str, Any]:
    """Maximize facility location over similarities of all pairs of rows."""
    A = np.ascontiguousarray(PREPARED[prepare](X))
    model = import_module("submodlib").FacilityLocationFunction(n=len(A), mode="dense", data=A, **options)
    chosen = model.maximize(budget=k, optimizer="LazyGreedy", show_progress=False, stopIfZeroGain=False)
    return {"rows": np.array([row for row, _ in chosen])}


def by_apricot(X: Any, k: int, seed: int, metric: str = "euclidean", **options: Any) -> dict[str, Any]:
    """Maximize facility location, or a function of features (``metric="features"``), by apricot."""
    apricot = import_module("apricot")
    A = PREPARED[""](X)
    if metric == "features":
        model = apricot.FeatureBasedSelection(k, random_state=seed, **options)
    else:
        model = apricot.FacilityLocationSelection(k, metric=metric, random_state=seed, **options)
    return {"rows": model.fit(A).ranking}
