"""Records of nonnegative factorizations ``W H`` in the units and the floating-point type of the data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.matrix.units import shared_units
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients
from cosep.utils.precision import narrow, stored
from cosep.utils.ties import descending
from cosep.utils.types import Array


def two_factors(M: LocalMatrix, W: Array, H: Array, meta: Mapping[str, Any]) -> Factorization:
    """Return ``W @ H`` with rows of H that sum to one, the component that explains most first.

    If H is rounded to a smaller type, W is computed again for the rounded H.
    """
    sums = H.sum(axis=1)
    sums[sums == 0] = 1.0
    W, H = W * sums, H / sums[:, None]
    order = descending(np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1))
    W, H = W[:, order], H[order]
    if M.dtype != np.float64:
        H = stored(H, M.dtype)
        W = coefficients(M, H)
    row_factor, col_factor = shared_units(M, W, H)
    return Factorization(
        row_factor=narrow(row_factor, M.dtype),
        core=None,
        col_factor=narrow(col_factor, M.dtype),
        row_labels=factor_labels(W, np.linalg.norm(H, axis=1)),
        col_labels=factor_labels(H.T, np.linalg.norm(W, axis=0)),
        meta=meta,
    )
