"""New rows explained by a saved model: their mixtures of its components, and their missing columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cosep.fit.products import predictions, product, unit_scaled
from cosep.fit.rows_with_gaps import filled_rows, mixtures_with_gaps
from cosep.fit.stored_model import stored_result
from cosep.matrix.missing import as_observed
from cosep.matrix.norm import Scaling
from cosep.matrix.observed import Observed
from cosep.records.decoder import Decoder
from cosep.records.factorization import Factorization
from cosep.records.filled_data import missing_of
from cosep.solve.decoders import decoder_named
from cosep.solve.labels import largest_shares
from cosep.solve.mixtures import components_of, mixtures
from cosep.utils.types import Array, Indices


class ExplainedRows(NamedTuple):
    """Rows as mixtures of the components of a model.

    Attributes
    ----------
    coefficients : ndarray of shape (m_new, n_rows)
        What ``CoSeparableNMF.transform`` returns.
    labels : ndarray of int
        The cluster of each row: the component with the largest share, coefficient times norm; -1 for an all-zero row.
    shares : ndarray
        The share of that component in the sum over all of them; nan for an all-zero row.
    explained : ndarray
        ``1 - ||x - u H||^2 / ||x||^2`` with the components H; nan for an all-zero row.
    """

    coefficients: NDArray[Any]
    labels: Indices
    shares: Array
    explained: Array

    def merge(self, others: Sequence[Self]) -> "ExplainedRows":
        """Put following rows below."""
        return ExplainedRows(*(np.concatenate(parts) for parts in zip(self, *others, strict=True)))


def explain_rows(factorization: Factorization, X: Any) -> ExplainedRows:
    """Explain rows by the components ``H = core @ col_factor`` of a model: ``min ||X - U H||`` over ``U >= 0``.

    Norms are those of the model.

    Parameters
    ----------
    factorization : Factorization
        One with a core, as ``CoSeparableNMF.factorization_`` is.
    X : array-like or sparse of shape (m_new, n)
        Rows that were fitted, or new ones.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import CoSeparableNMF, make_coseparable
    >>> from cosep.findings.new_rows import explain_rows
    >>> X, _ = make_coseparable(30, 20, 4, 4, random_state=0)
    >>> model = CoSeparableNMF(4, 4).fit(X[:25])
    >>> found = explain_rows(model.factorization_, X[25:])
    >>> np.array_equal(found.coefficients, model.transform(X[25:]))
    True
    """
    if factorization.core is None:
        msg = "factorization must have a core of selected rows and columns; take that of a fitted CoSeparableNMF."
        raise ValueError(msg)
    H = components_of(factorization.core, factorization.col_factor)
    M = as_observed(X, missing_of(factorization))
    if M.shape[1] != H.shape[1]:
        msg = f"X has {M.shape[1]} columns, but the factorization stands for {H.shape[1]}; pass exactly those."
        raise ValueError(msg)
    if isinstance(M, Observed):
        return _explained_with_gaps(factorization, M)
    scaling = factorization.scaling
    E = np.ones(H.shape[1]) if scaling is None else scaling.unit()[1]
    U = mixtures(M, H, E)
    # Shares do not depend on the units of the components.
    unit = H.astype(np.float64) / max(float(H.max(initial=0.0)), np.finfo(np.float64).tiny)
    held = largest_shares(U.astype(np.float64), np.linalg.norm(unit * E, axis=1), M.T.filled_columns())
    rows = None if scaling is None else Scaling(scaling.name, np.ones(M.shape[0]), scaling.cols)
    errors = Factorization(U, None, H, scaling=rows).row_errors(M)
    return ExplainedRows(U, held.labels, held.shares, 1.0 - errors**2)


def _explained_with_gaps(factorization: Factorization, X: Observed) -> ExplainedRows:
    """Return the same for rows with gaps: what is explained of their observed entries."""
    result = stored_result(factorization)
    norm = result.norm.of_new_rows()
    U = mixtures_with_gaps(X, result, norm).astype(np.float64)
    H, shift = unit_scaled(result.components)
    filled = X.zeroed.T.filled_columns()
    held = largest_shares(U, np.linalg.norm(H * norm.cols, axis=1), filled)
    errors = X.squared_row_errors(X.zeroed.in_units(U, -1, shift=shift), H, norm.cols)
    norms = X.squared_row_errors(np.zeros_like(U), H, norm.cols)
    explained = np.where(norms > 0, 1.0 - errors / np.where(norms > 0, norms, 1.0), np.nan)
    return ExplainedRows(mixtures_with_gaps(X, result, norm), held.labels, held.shares, explained)


def fill_rows(factorization: Factorization, X: Any) -> NDArray[Any]:
    """Return rows with their missing entries filled, as ``CoSeparableNMF.fill_missing`` does."""
    M, result = as_observed(X, missing_of(factorization)), stored_result(factorization)
    return filled_rows(M, result, result.norm.of_new_rows()) if isinstance(M, Observed) else M.in_units(M.take())


def decoder_of(factorization: Factorization, name: str = "ridge") -> Decoder:
    """Return what ``CoSeparableNMF.decoder`` returns for the model of a factorization."""
    if factorization.panel is None or factorization.selection is None:
        msg = (
            "The model has no means and correlations of its columns, which rows are completed from: an earlier version "
            "saved it. Fit it again."
        )
        raise ValueError(msg)
    cols, weights = np.asarray(factorization.selection.col_indices), np.asarray(factorization.col_weights)
    return decoder_named(name, factorization.panel, cols, weights, factorization.col_names)


def complete_rows(factorization: Factorization, X: Any, decoder: str = "ridge") -> NDArray[Any]:
    """Return full rows from their selected columns alone, as ``CoSeparableNMF.complete`` does."""
    if decoder == "weights":
        return product(X, np.asarray(factorization.col_weights), "selected columns")
    return predictions(X, decoder_of(factorization, decoder))


class CompletedRows(NamedTuple):
    """Full rows, predicted from their selected columns."""

    values: Array

    def merge(self, others: Sequence[Self]) -> "CompletedRows":
        """Put following rows below."""
        return CompletedRows(np.concatenate([self.values, *(other.values for other in others)]))
