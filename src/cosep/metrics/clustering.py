"""Accuracy of clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from cosep.utils.messages import shown
from cosep.utils.types import Indices


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """``1 - sqrt(min_Pi ||Q Pi - Q*||_F^2 / (r n))``, Q and Q* the n x r indicator matrices of the two clusterings.

    If a share c of the items is matched, that is ``1 - sqrt(2 (1 - c) / r)``. The formula printed as (4.1) in Pan and
    Ng (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023) maximises and does not square; their printed results follow the
    formula used here. Names of clusters do not matter; r is the larger number of clusters.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        The true clusters.
    labels_pred : array-like of shape (n,)
        The clusters found. The integer -1 means "no cluster"; such an item counts as half a mismatch.

    Returns
    -------
    float
        At most 1, where 1 means that the clusters are the same up to their names.

    Examples
    --------
    >>> from cosep.metrics import clustering_accuracy
    >>> clustering_accuracy(["tea", "tea", "jam", "jam"], [1, 1, 0, 0])
    1.0
    >>> round(clustering_accuracy([0, 0, 1, 1], [0, 0, 0, 1]), 3)
    0.5
    """
    true, pred = _codes(labels_true, "labels_true"), _codes(labels_pred, "labels_pred", missing=-1)
    if len(true) != len(pred):
        msg = f"labels_true has {len(true)} items but labels_pred has {len(pred)}; both must label the same items."
        raise ValueError(msg)
    r = max(true.max(), pred.max()) + 1
    counts = np.zeros((r, r))
    known = pred >= 0
    np.add.at(counts, (true[known], pred[known]), 1)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    squared = 2.0 * (known.sum() - matched) + (~known).sum()
    return float(1.0 - np.sqrt(squared / (r * len(true))))


def _codes(labels: Any, name: str, missing: int | None = None) -> Indices:
    """Return labels as codes 0, 1, ..., and -1 for the label ``missing``."""
    try:
        array: NDArray[Any] = np.asarray(labels)
    except Exception:  # noqa: BLE001 - any object may raise anything when it is converted
        array = np.zeros(0)
    if isinstance(labels, np.ma.MaskedArray) and np.ma.is_masked(labels):
        msg = f"{name} has masked entries; give those items a label of their own or leave them out of both lists."
        raise ValueError(msg)
    if array.ndim != 1 or array.size == 0:
        msg = f"{name} must be a one-dimensional, non-empty list of labels, got {shown(labels)}."
        raise ValueError(msg)
    if _has_nan(array):
        msg = f"{name} contains NaN; give those items a label of their own or leave them out of both lists."
        raise ValueError(msg)
    mixed = not isinstance(labels, np.ndarray) and len({isinstance(label, str) for label in labels}) > 1
    try:
        values, codes = np.unique(array, return_inverse=True)
    except Exception:  # noqa: BLE001 - labels may raise anything when they are compared
        mixed = True
    if mixed:
        msg = f"{name} must hold labels of one kind that can be compared; convert them to text first."
        raise ValueError(msg)
    if missing is not None and array.dtype.kind in "ifO" and missing in values.tolist():
        position = int(np.searchsorted(values, missing))
        codes = np.where(codes == position, -1, codes - (codes > position))
    return codes


def _has_nan(array: NDArray[Any]) -> bool:
    """Return whether a label is not equal to itself, like NaN and NaT, for any type."""
    try:
        return bool((array != array).any())  # noqa: PLR0124 - see above
    except Exception:  # noqa: BLE001 - labels may raise anything when they are compared
        return False
