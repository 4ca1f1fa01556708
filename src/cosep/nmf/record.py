"""Nonnegative factors of a checked matrix enter, the Factorization in the units and type of the data leaves."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.records.factorization import Factorization
from cosep.solve.labels import factor_labels
from cosep.solve.nonnegative import coefficients
from cosep.utils.precision import narrow, stored
from cosep.utils.ties import descending
from cosep.utils.types import Array

# Numbers of float64 in full precision lie between these powers of two.
SMALLEST_EXPONENT, LARGEST_EXPONENT = -1021, 1024


def two_factors(M: LocalMatrix, W: Array, H: Array, meta: Mapping[str, Any]) -> Factorization:
    """Return ``W @ H`` with rows of H that sum to one, the component that explains most first.

    Where H is rounded to a smaller type, W is solved for once more.
    """
    sums = H.sum(axis=1)
    sums[sums == 0] = 1.0
    W, H = W * sums, H / sums[:, None]
    order = descending(np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1))
    W, H = W[:, order], H[order]
    if M.dtype != np.float64:
        H = stored(H, M.dtype)
        W = coefficients(M, H)
    scaled, rest = absorb(W, M.exponent)
    return Factorization(
        row_factor=narrow(scaled, M.dtype),
        core=None,
        col_factor=narrow(np.ldexp(H, rest), M.dtype),
        row_labels=factor_labels(W, np.linalg.norm(H, axis=1)),
        col_labels=factor_labels(H.T, np.linalg.norm(W, axis=0)),
        meta=meta,
    )


def absorb(part: Array, exponent: int) -> tuple[Array, int]:
    """Return ``part * 2**exponent``, or as much of it as floats can hold and the rest of the exponent."""
    size = int(np.frexp(part.max(initial=0.0))[1])
    taken = min(max(exponent, SMALLEST_EXPONENT - size), LARGEST_EXPONENT - size)
    return np.ldexp(part, taken), exponent - taken
