"""Answers and truths enter, scores between 0 and 1 leave."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from cosep.records.factorization import Factorization
from cosep.records.selection import Selection
from cosep.utils.messages import shown
from cosep.utils.types import Indices


def index_accuracy(selection: Selection, truth: Selection) -> float:
    """Share of the true rows and columns that were selected, ``(|K1 & K1*| + |K2 & K2*|) / (|K1*| + |K2*|)``.

    A side that the truth leaves open (None) does not count; a side that the selection leaves open has found nothing.

    Examples
    --------
    >>> from cosep import Selection
    >>> from cosep.metrics import index_accuracy
    >>> index_accuracy(Selection([0, 1], [5]), Selection([1, 2], [5, 6]))
    0.5
    """
    for name, value in (("selection", selection), ("truth", truth)):
        if not isinstance(value, Selection):
            msg = f"{name} must be a Selection, got {type(value).__name__}."
            raise ValueError(msg)
    found = total = 0
    for side in ("row_indices", "col_indices"):
        expected = getattr(truth, side)
        if expected is not None:
            chosen = getattr(selection, side)
            total += len(expected)
            found += len(np.intersect1d(expected, [] if chosen is None else chosen))
    if total == 0:
        msg = "truth must name at least one row or column."
        raise ValueError(msg)
    return found / total


def relative_approximation(X: Any, factorization: Factorization) -> float:
    """``1 - ||X - reconstruction||_F / ||X||_F``: 1 is exact, 0 no better than nothing, below 0 worse.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Factorization
    >>> from cosep.metrics import relative_approximation
    >>> relative_approximation(np.ones((2, 2)), Factorization(np.ones((2, 1)), None, np.ones((1, 2))))
    1.0
    """
    if not isinstance(factorization, Factorization):
        msg = (
            f"factorization must be a Factorization, got {type(factorization).__name__}; "
            "wrap factors W and H as Factorization(W, None, H)."
        )
        raise ValueError(msg)
    return 1.0 - factorization.relative_error(X)


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """``1 - sqrt(min_Pi ||Q Pi - Q*||_F^2 / (r n))``, Q and Q* the n x r indicator matrices of the two clusterings.

    With a share c of matched items that is ``1 - sqrt(2 (1 - c) / r)``. The formula printed as (4.1) in Pan and Ng
    (SIAM J. Matrix Anal. Appl. 44, 1393-1420, 2023) maximises and does not square; their printed results follow the
    one used here. Cluster names are free; r is the larger number of clusters.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
    labels_pred : array-like of shape (n,)
        The integer -1 means "no cluster": such an item counts half of a mismatch.

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
    """Return labels as 0, 1, ..., and -1 where missing."""
    try:
        array: NDArray[Any] = np.asarray(labels)
    except Exception:  # noqa: BLE001 - what was passed may raise anything when it is looked at
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
    """Tell whether a label is not equal to itself, as NaN and NaT are, whatever the type."""
    try:
        return bool((array != array).any())  # noqa: PLR0124 - see above
    except Exception:  # noqa: BLE001 - labels may raise anything when they are compared
        return False
