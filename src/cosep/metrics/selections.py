"""Accuracy of selections."""

import numpy as np

from cosep.records.selection import Selection


def index_accuracy(selection: Selection, truth: Selection) -> float:
    """Share of the true rows and columns that were selected, ``(|K1 & K1*| + |K2 & K2*|) / (|K1*| + |K2*|)``.

    Parameters
    ----------
    selection : Selection
        The selected rows K1 and columns K2. If one of them is None, nothing of it was found.
    truth : Selection
        The true rows K1* and columns K2*. If one of them is None, it does not count.

    Returns
    -------
    float
        From 0 to 1, where 1 means that all true rows and columns were selected.

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
