"""Rows with gaps as mixtures of the components of a fitted model."""

import numpy as np
from numpy.typing import NDArray

from cosep.fit.products import check_finite, unit_scaled
from cosep.fit.result import FitResult
from cosep.matrix.norm import Norm
from cosep.matrix.observed import Observed
from cosep.records.gaps import Gaps
from cosep.solve.gaps import Levels, Profile, RowProblem, row_levels
from cosep.solve.labels import factor_labels
from cosep.utils.precision import narrow
from cosep.utils.types import Array, Indices


def profile_of_rows(X: Observed, result: FitResult) -> Profile:
    """Return what the gaps of rows that may not have been fitted are drawn to.

    A fit without gaps has chosen no weight. Then it is the share of the data that the model does not explain, and the
    profile is that of the column means.
    """
    gaps = result.gaps
    if gaps is None:
        means = np.asarray(result.components).mean(axis=0) if result.panel is None else result.panel.means
        weight = min(max(1.0 - float(result.fidelity.refitted), 0.0), 1.0)
        gaps = Gaps(
            0,
            weight,
            unit_scaled(means.astype(np.float64))[0],
            (0.0, 0.0),
            np.nan,
            np.zeros(result.core.shape, dtype=bool),
        )
    levels = Levels(*gaps.levels)
    return Profile(row_levels(X, gaps.profile, levels), gaps.profile, levels, gaps.weight)


def mixtures_with_gaps(X: Observed, result: FitResult, norm: Norm) -> NDArray[np.floating]:
    """Return the mixtures of the components that explain the observed entries of each row, in the type of the data."""
    H, shift = unit_scaled(result.components)
    U = RowProblem(X, H, norm.cols, profile_of_rows(X, result)).solve()[0]
    return narrow(check_finite(X.zeroed.in_units(U, shift=-shift)), X.dtype)


def labels_with_gaps(X: Observed, result: FitResult, norm: Norm) -> Indices:
    """Return the component with the largest share in each row; -1 for a row without a positive observed entry."""
    U = np.asarray(mixtures_with_gaps(X, result, norm), dtype=np.float64)
    strengths = np.linalg.norm(result.components.astype(np.float64) * norm.cols, axis=1)
    return factor_labels(U, strengths, X.zeroed.T.filled_columns())


def share_explained(X: Observed, result: FitResult, norm: Norm) -> float:
    """Return the share of the observed entries that mixtures of the components explain, in the norm of the model."""
    profile = profile_of_rows(X, result)
    filled = X.completed(profile.rows[:, None], profile.cols[None])
    D = norm.row_factors(filled) * np.sqrt(norm.weights_of(filled))
    H, shift = unit_scaled(result.components)
    U = np.asarray(mixtures_with_gaps(X, result, norm), dtype=np.float64)
    total = X.squared_norm(D, norm.cols)
    error = X.squared_error(X.zeroed.in_units(U, -1, shift=shift), H, D, norm.cols)
    return 1.0 - (error / total if total > 0 else 0.0)


def filled_rows(X: Observed, result: FitResult, norm: Norm) -> Array:
    """Return the rows with their gaps filled by the mixtures of the components that explain them."""
    U = np.asarray(mixtures_with_gaps(X, result, norm), dtype=np.float64)
    H = result.components.astype(np.float64)
    full = np.empty(X.shape)
    for rows in X.row_slices():
        block = X.zeroed.in_units(X.zeroed.take(rows=rows))
        gaps = X.mask(rows)
        block[gaps] = check_finite(U[rows] @ H, "predictions")[gaps]
        full[rows] = block
    return full
