"""kmedoids: rows with the smallest sum of distances to the others, from all distances (FasterPAM)."""

from importlib import import_module
from typing import Any

from sklearn.metrics import pairwise_distances

from benchmarks.peers.calls.prepare import PREPARED


def faster_pam(
    X: Any, k: int, seed: int, metric: str = "euclidean", prepare: str = "", starts: int = 1
) -> dict[str, Any]:
    """Return the medoids of the best of some random starts."""
    distances = pairwise_distances(PREPARED[prepare](X), metric=metric)
    found = [
        import_module("kmedoids").fasterpam(distances, k, random_state=seed * starts + start, n_cpu=1)
        for start in range(starts)
    ]
    best = min(found, key=lambda result: float(result.loss))
    return {"rows": best.medoids, "row_labels": best.labels}
