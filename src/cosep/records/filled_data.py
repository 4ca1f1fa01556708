"""The data of a model as a matrix without gaps: missing entries are filled by its factors."""

from typing import Any

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.missing import MISSING, as_observed
from cosep.matrix.observed import Observed
from cosep.records.factorization import Factorization
from cosep.records.fidelity import Fidelity


def missing_of(record: Factorization) -> str | None:
    """Return which entries were missing in the data of a fitted model: "nan", "unstored", or None for none."""
    stored = record.meta.get("model")
    params = stored.get("params") if isinstance(stored, dict) else None
    missing = params.get("missing") if isinstance(params, dict) else None
    return missing if missing in MISSING else None


def n_missing_of(record: Factorization) -> int:
    """Return how many entries were missing."""
    gaps = _gaps_of(record)
    count = gaps.get("n_missing")
    return count if isinstance(count, int) else 0


def missing_in_core(record: Factorization) -> list[tuple[int, int]]:
    """Return the entries of the core that were missing, as positions in it."""
    core, at = np.asarray(record.core), _gaps_of(record).get("core")
    if not isinstance(at, list):
        return []
    return [divmod(int(one), core.shape[1]) for one in at if 0 <= one < core.size]


def fidelities_of(record: Factorization) -> tuple[Fidelity, Fidelity, Fidelity] | None:
    """Return the fidelities that a fit found on the observed entries: in its norm, in the plain one, and their bounds.

    None if no entry was missing: they follow from the data then.
    """
    if not _gaps_of(record):
        return None
    stored = record.meta["model"]
    fidelity, plain, bound = (Fidelity(*stored[name]) for name in ("fidelity", "plain_fidelity", "bound"))
    return fidelity, plain, bound


def data_of(X: Any, record: Factorization) -> LocalMatrix | Observed:
    """Return the data of a model, checked, with its gaps."""
    return as_observed(X, missing_of(record))


def matrix_of(X: Any, record: Factorization) -> LocalMatrix:
    """Return the data of a model, checked, with its gaps filled by the factors of the model."""
    M = data_of(X, record)
    if isinstance(M, LocalMatrix):
        return M
    if M.shape != record.shape:
        msg = f"X has shape {M.shape}, but the factors are those of a matrix of shape {record.shape}."
        raise ValueError(msg)
    core = M.zeroed.in_units(np.asarray(record.core, dtype=np.float64), -1)
    return M.completed(record.row_factor.astype(np.float64), core @ record.col_factor.astype(np.float64))


def _gaps_of(record: Factorization) -> dict[str, Any]:
    stored = record.meta.get("model")
    gaps = stored.get("gaps") if isinstance(stored, dict) else None
    return gaps if isinstance(gaps, dict) else {}
