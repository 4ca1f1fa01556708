"""The factorization of a model: of a fitted estimator, or the record itself."""

from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from cosep.matrix.frame_names import frame_col_names, frame_row_names
from cosep.records.factorization import Factorization
from cosep.utils.messages import one_line, shown


def factorization_of(model: Any, X: Any = None) -> Factorization:
    """Return the factorization of a fitted estimator, or a factorization as it is.

    Names that it does not have are those of ``X``, if that is a data frame of this shape.

    Raises
    ------
    ValueError
        If ``model`` is neither, or not fitted; the message says so, and that X comes first.
    """
    record = model if isinstance(model, Factorization) else _of_estimator(model)
    rows, cols = record.row_names, record.col_names
    if rows is None and (found := frame_row_names(X)) is not None and len(found) == record.shape[0]:
        rows = found
    if cols is None and (found := frame_col_names(X)) is not None and len(found) == record.shape[1]:
        cols = found
    return replace(record, row_names=rows, col_names=cols)


def _of_estimator(model: Any) -> Factorization:
    record, reason, given = None, "X comes first, then the model", shown(model)
    try:
        if isinstance(model, BaseEstimator):
            given = type(model).__name__
            record = getattr(model, "factorization_")  # noqa: B009 - not every estimator has it
    except Exception as error:  # noqa: BLE001 - a value of the user may raise anything
        reason = one_line(error).rstrip(".")
    if not isinstance(record, Factorization):
        msg = f"model={given} must be a fitted model, such as CoSeparableNMF().fit(X), or a Factorization: {reason}."
        raise ValueError(msg)
    return record
