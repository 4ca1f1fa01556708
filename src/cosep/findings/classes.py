"""How the clusters of a fit agree with classes that are known."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from cosep.findings.record import Classes
from cosep.metrics import clustering_accuracy
from cosep.utils.columns import flat
from cosep.utils.messages import shown
from cosep.utils.types import Indices, Table


def classes_of(labels: Any, rows: Table, representatives: Indices) -> Classes:
    """Compare the clusters of the rows with the class of each.

    Parameters
    ----------
    labels : array-like of length m
        The class of each row.
    rows : dict of ndarray
        The table of rows.
    representatives : ndarray of int
        The selected row of each topic.

    Raises
    ------
    ValueError
        If there is not one class for each row.
    """
    known = flat(labels)
    if known is None or len(known) != len(rows["cluster"]):
        msg = f"labels must be the class of each of the {len(rows['cluster'])} rows, got {shown(labels)}."
        raise ValueError(msg)
    names = np.array([str(label) for label in known])
    clusters = rows["cluster"]
    largest, purity = [], []
    for k in range(len(representatives)):
        own, counts = np.unique(names[rows["assigned"] & (clusters == k)], return_counts=True)
        largest.append(str(own[counts.argmax()]) if len(own) else "")
        purity.append(float(counts.max() / counts.sum()) if len(own) else float("nan"))
    return Classes(
        tuple(names[representatives].tolist()),
        tuple(largest),
        tuple(purity),
        accuracy_of_one_cluster=clustering_accuracy(names, np.zeros(len(names), dtype=int)),
        **agreement(names, clusters),
    )


def agreement(classes: Any, clusters: Any) -> dict[str, float]:
    """Return how clusters agree with classes: by the paper's measure, and by the two that are most in use."""
    return {
        "accuracy": clustering_accuracy(classes, clusters),
        "ari": float(adjusted_rand_score(classes, clusters)),
        "nmi": float(normalized_mutual_info_score(classes, clusters)),
    }
