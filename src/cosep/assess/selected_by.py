"""How the rows and columns of a model were selected: which ones, by which method, and in which norm."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.frame_names import frame_col_names, frame_row_names
from cosep.matrix.scaling import SCALINGS
from cosep.records.factorization import Factorization
from cosep.records.model import factorization_of
from cosep.records.selection import Selection, check_selection
from cosep.select.method import Method
from cosep.utils.messages import shown
from cosep.utils.types import Array, Indices


@dataclass(frozen=True, eq=False)
class SelectedBy:
    """A selection, and how it was made.

    Attributes
    ----------
    selection : Selection
    method : str or callable
        "faithful" if it is not known.
    scaling : str, tuple of two ndarray, or None
        The norm.
    weights : ndarray or None
        Weights of the rows.
    row_names, col_names : ndarray of str or None
    topics : tuple of ndarray or None
        Topics of the columns, as mixes of rows, and topics of the rows, as mixes of columns, in the norm.
    """

    selection: Selection
    method: Method = "faithful"
    scaling: Any = "degree"
    weights: Array | None = None
    row_names: NDArray[Any] | None = None
    col_names: NDArray[Any] | None = None
    topics: tuple[Array, Array] | None = None

    def indices_in(self, shape: tuple[int, int]) -> tuple[Indices, Indices]:
        """Return the rows and columns; raise ValueError unless both sides are selected, from a matrix of this shape."""
        rows, cols = check_selection(self.selection, shape)
        if rows is None or cols is None:
            msg = (
                f"model={shown(self.selection)} must have row_indices and col_indices; use cosep.both_sides to select "
                "both."
            )
            raise ValueError(msg)
        return rows, cols


def selected_by(model: Any, X: Any) -> SelectedBy:
    """Return how a model of X, or a selection from X, was made."""
    if isinstance(model, Selection):
        return SelectedBy(model, row_names=frame_row_names(X), col_names=frame_col_names(X))
    record = factorization_of(model, X)
    if record.selection is None:
        msg = "model must have selected rows and columns; fit a CoSeparableNMF, or make a factorization with cosep.mix."
        raise ValueError(msg)
    stored = record.meta.get("model")
    stored = stored if isinstance(stored, dict) else {}
    named = record.meta.get("method") or stored.get("method") or "faithful"
    own = getattr(model, "method", None)
    scaling, weights = _norm_of(record, weighted=bool(stored.get("weighted", True)))
    method = named if own is None else own
    return SelectedBy(
        record.selection, method, scaling, weights, record.row_names, record.col_names, _topics_of(record)
    )


def _topics_of(record: Factorization) -> tuple[Array, Array] | None:
    """Return the topics of the columns, as mixes of rows, and those of the rows, as mixes of columns."""
    if record.core is None:
        return None
    rows, cols = (1.0, 1.0) if record.scaling is None else (record.scaling.rows[:, None], record.scaling.cols[:, None])
    return rows * (record.row_factor @ record.core), cols * (record.core @ record.col_factor).T


def _norm_of(record: Factorization, *, weighted: bool) -> tuple[Any, Array | None]:
    """Return the norm by its name, or by its factors where the rows have weights, and which rows count at all."""
    scaling = record.scaling
    if scaling is None:
        return None, None
    if not weighted and scaling.name in SCALINGS:
        return scaling.name, None
    rows, cols = scaling.unit()
    weights = None if rows.all() else (rows > 0).astype(np.float64)
    return (np.where(rows > 0, rows, 1.0), cols), weights
