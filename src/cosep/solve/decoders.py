"""Decoders: rows predicted from their selected columns by least squares, from moments alone.

Notation
--------
All columns have mean zero and standard deviation one. R : correlations of the selected columns with each other
T : correlations of every column with the selected ones, n x r; B : coefficients, n x r
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cosep.matrix.checks import check_choice
from cosep.records.decoder import Decoder
from cosep.records.panel_moments import PanelMoments
from cosep.solve.nonnegative import nonnegative_of
from cosep.utils.types import Array, Indices

# Strengths of the ridge to choose from, in units of the variance of a selected column.
STRENGTHS = np.logspace(-8, 3, 45)
# Directions of the selected columns with a smaller share of the variance are rounding.
MIN_VARIANCE = 1e-10
# A selected column counts as at most this many times the largest entry of the fit, because a line cannot be trusted far
# outside of the data. With 1 new rows that are a little larger lose; without a limit one wild row spoils a column.
LARGEST_STEP = 2.0


class Fitted(NamedTuple):
    """Coefficients of standardised columns, and the degrees of freedom that they took besides the intercept."""

    B: Array
    freedom: Array


def ridge(R: Array, T: Array, n_counted: float) -> Fitted:
    """Minimise ``||x - C b||^2 + strength ||b||^2`` for each column, the strength by generalised cross-validation."""
    values, vectors = scipy.linalg.eigh(R)
    kept = values > MIN_VARIANCE * len(R)
    values, vectors = values[kept], vectors[:, kept]
    Z = T @ vectors
    best, strength = np.full(len(T), np.inf), np.full(len(T), STRENGTHS[-1])
    for trial in STRENGTHS:
        shrunk = 1.0 / (values + trial)
        left = np.maximum(1.0 - Z**2 @ (shrunk * (2.0 - values * shrunk)), 0.0)
        share = 1.0 - (1.0 + values @ shrunk) / n_counted
        score = left / share**2 if share > 0 else np.full(len(T), np.inf)
        better = score < best
        best[better], strength[better] = score[better], trial
    shrunk = 1.0 / (values + strength[:, None])
    return Fitted((Z * shrunk) @ vectors.T, shrunk @ values)


def nonnegative_slopes(R: Array, T: Array, _n_counted: float) -> Fitted:
    """Minimise ``||x - C b||^2`` over ``b >= 0``."""
    B = nonnegative_of(R, T, np.zeros_like(T), exact=True)
    return Fitted(B, (B > 0).sum(axis=1).astype(np.float64))


SLOPES: dict[str, Callable[[Array, Array, float], Fitted]] = {"ridge": ridge, "nonnegative": nonnegative_slopes}
# "weights" are those of the model.
DECODERS = ("ridge", "nonnegative", "weights")


def decoder_named(
    name: Any,
    moments: PanelMoments,
    cols: Indices,
    col_weights: NDArray[Any],
    col_names: NDArray[Any] | None = None,
) -> Decoder:
    """Return the decoder of this name for selected columns, whose weights in the model are ``col_weights``."""
    name = check_choice(name, "decoder", DECODERS)
    spreads, means, T = moments.spreads, moments.means, moments.correlations
    panel, others = spreads[cols], np.setdiff1d(np.arange(len(spreads)), cols)
    inverse = np.divide(1.0, panel, out=np.zeros_like(panel), where=panel > 0)
    W, intercept = np.zeros((len(cols), len(spreads))), np.zeros(len(spreads))
    W[np.arange(len(cols)), cols] = 1.0
    if name == "weights":
        W[:, others] = col_weights[:, others]
        freedom, own = (W[:, others] > 0).sum(axis=0).astype(np.float64), 0.0
    else:
        found = SLOPES[name](_between(T[cols]), T[others], moments.n_counted)
        W[:, others] = (found.B * spreads[others, None] * inverse).T
        intercept[others] = means[others] - means[cols] @ W[:, others]
        freedom, own = found.freedom, 1.0
    left = _errors(moments, cols, others, W[:, others], intercept[others])
    share = 1.0 - (freedom + own) / moments.n_counted
    error = np.zeros(len(spreads))
    error[others] = np.divide(left, share, out=np.full_like(left, np.nan), where=share > 0)
    limits = np.full(len(cols), np.inf) if name == "weights" else LARGEST_STEP * moments.largest
    return Decoder(name, cols, W, intercept, limits, error, spreads, col_names)


def _between(R: Array) -> Array:
    """Return the correlations of the selected columns, symmetric and with a diagonal of ones."""
    R = (R + R.T) / 2.0
    np.fill_diagonal(R, 1.0)
    return R


def _errors(moments: PanelMoments, cols: Indices, others: Indices, W: Array, intercept: Array) -> Array:
    """Return the root of the mean squared error of the other columns in the rows of the fit."""
    spreads, means, T = moments.spreads, moments.means, moments.correlations
    scale = np.where(spreads[others] > 0, spreads[others], np.where(means[others] > 0, means[others], 1.0))
    B = (W * spreads[cols, None] / scale).T
    own = spreads[others] / scale
    squares = own**2 - 2.0 * own * np.einsum("ij,ij->i", B, T[others]) + np.einsum("ij,ij->i", B @ _between(T[cols]), B)
    shift = (means[others] - means[cols] @ W - intercept) / scale
    return np.asarray(scale * np.sqrt(np.maximum(squares, 0.0) + shift**2))
