"""The result of a fit from the factorization that was saved of it."""

from numbers import Real
from typing import Any

import numpy as np

from cosep.fit.result import FitResult
from cosep.matrix.norm import PLAIN, Norm, RowRule, checked_factors
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity
from cosep.records.gaps import gaps_from_json
from cosep.solve.labels import partner_clusters
from cosep.solve.mixtures import components_of
from cosep.utils.messages import one_line


def stored_result(record: Factorization) -> FitResult:
    """Return the result of the fit whose ``factorization`` or ``sample_factorization`` this is.

    Raises
    ------
    ValueError
        If the record is not that of a fitted CoSeparableNMF.
    """
    stored = record.meta.get("model")
    parts = record.core, record.selection, record.row_weights, record.col_weights, record.row_labels, record.col_labels
    if not isinstance(stored, dict) or any(part is None for part in parts):
        msg = "it is a factorization without a model; write one with CoSeparableNMF.save or with cosep fit"
        raise ValueError(msg)
    try:
        return _result_of(record, stored)
    except Exception as error:
        # A hostile file can hold anything.
        msg = f"its model is damaged ({one_line(error, 150)})"
        raise ValueError(msg) from error


def _result_of(record: Factorization, stored: dict[str, Any]) -> FitResult:
    core, selection, scaling = np.asarray(record.core), record.selection, record.scaling
    assert selection is not None  # noqa: S101 - checked before
    n = record.shape[1]
    power, offset, direction = stored["row_rule"]
    if direction is not None and len(checked_factors(direction, "direction", 0.0)) != n:
        msg = "its norm has another number of columns"
        raise ValueError(msg)
    rule = RowRule(
        _number(power),
        _number(offset),
        None if direction is None else np.array(direction, dtype=np.float64),
        int(stored["row_rule_exponent"]),
    )
    name = None if scaling is None or scaling.name == PLAIN else scaling.name
    norm = Norm(name, np.ones(n) if scaling is None else scaling.cols, rule)
    strengths = np.linalg.norm(record.col_factor.astype(np.float64) * norm.cols, axis=1)
    return FitResult(
        selection=selection,
        core=core,
        row_factor=record.row_factor,
        col_factor=record.col_factor,
        components=components_of(core, record.col_factor),
        row_weights=np.asarray(record.row_weights),
        col_weights=np.asarray(record.col_weights),
        row_labels=np.asarray(record.row_labels),
        col_labels=np.asarray(record.col_labels),
        partner_clusters=partner_clusters(core, strengths),
        fidelity=_shares(stored["fidelity"]),
        plain_fidelity=_shares(stored["plain_fidelity"]),
        bound=_shares(stored["bound"]),
        error=_number(stored["error"]),
        norm_of_data=_number(stored["norm_of_data"]),
        objective=[_number(value) for value in record.meta["objective"]],
        dtype=np.dtype({"float32": np.float32, "float64": np.float64}[stored["dtype"]]),
        norm=norm,
        panel=record.panel,
        scaling=scaling,
        row_names=record.row_names,
        col_names=record.col_names,
        gaps=gaps_from_json(stored.get("gaps"), core.shape, n),
        params={str(key): value for key, value in stored["params"].items()},
        meta=record.meta,
    )


def _shares(values: Any) -> Fidelity:
    rows, cols, core, refitted = map(_number, values)
    return Fidelity(rows, cols, core, refitted)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        msg = "a number is not one"
        raise TypeError(msg)
    return float(value)
