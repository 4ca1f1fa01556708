"""Results in the units of the data, where these are split between several matrices or several factors.

A `LocalMatrix` may hold its entries divided by a power of two. Results of one matrix are converted by
`LocalMatrix.in_units`.
"""

import numpy as np

from cosep.matrix.local import LocalMatrix
from cosep.utils.types import Array

# Normal numbers of float64 are in [2**(SMALLEST_EXPONENT - 1), 2**LARGEST_EXPONENT).
SMALLEST_EXPONENT, LARGEST_EXPONENT = -1021, 1024
# Results are multiplied by at most two to this power.
LARGEST_SHIFT = 300


def in_units_of_product(results: Array, *matrices: LocalMatrix) -> Array:
    """Return results that were computed from a product of mantissas in the units of the product of the matrices."""
    return np.asarray(np.ldexp(results, sum(M._exponent for M in matrices)))


def in_relative_units(M: LocalMatrix, results: Array, exponent: int) -> Array:
    """Return results that were computed from the mantissa of M in units of ``2**exponent``.

    They are multiplied by at most ``2**300``, which keeps them within the range of floats. That is enough for results
    that are only compared with bounds near one.
    """
    return np.asarray(np.ldexp(results, min(M._exponent - exponent, LARGEST_SHIFT)))


def shared_units(M: LocalMatrix, part: Array, other: Array, times: int = 1) -> tuple[Array, Array]:
    """Return two factors of a product such that the product is in the units of M.

    ``part`` takes the power of two of M if it stays within the range of floats. Otherwise it takes as much of it as
    possible, and ``other``, which occurs ``times`` times in the product, takes the rest.
    """
    size = int(np.frexp(part.max(initial=0.0))[1])
    taken = min(max(M._exponent, SMALLEST_EXPONENT - size), LARGEST_EXPONENT - size)
    rest = M._exponent - taken
    share = -(-rest // times)
    with np.errstate(over="ignore"):
        return np.ldexp(np.ldexp(part, taken), rest - times * share), np.ldexp(other, share)
