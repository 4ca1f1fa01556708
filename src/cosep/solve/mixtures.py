"""Rows as nonnegative mixtures of the components of a fitted model.

Notation
--------
M : rows, m x n; H : components, r x n; U : mixtures, M ~ U H
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosep.matrix.local import LocalMatrix
from cosep.solve.nonnegative import coefficients
from cosep.utils.precision import narrow
from cosep.utils.types import Array


def components_of(core: NDArray[Any], col_factor: NDArray[Any]) -> NDArray[Any]:
    """Return the components that stand for the selected rows, ``core @ col_factor``.

    Raises
    ------
    ValueError
        If a product is larger than every float.
    """
    with np.errstate(over="ignore"):
        product = core.astype(np.float64) @ col_factor.astype(np.float64)
        components = product.astype(np.result_type(core, col_factor))
    if not np.isfinite(components).all():
        msg = "X is so near the largest float that its components are not finite; divide X by a constant."
        raise ValueError(msg)
    return components


def mixtures(M: LocalMatrix, components: NDArray[Any], scale: Array | None = None) -> NDArray[Any]:
    """Solve ``min ||(M - U H) diag(scale)||_F`` over ``U >= 0``, each row on its own.

    The result has the type of the data, or float64 where the range of that is too small.

    Raises
    ------
    ValueError
        If a coefficient is larger than every float.
    """
    # A power of two out of H, so that no product leaves the range of floats.
    exponent = int(np.frexp(components.max(initial=0.0))[1])
    H = np.ldexp(components.astype(np.float64), -exponent)
    U = M.in_units(coefficients(M, H, scale), shift=-exponent)
    if not np.isfinite(U).all():
        msg = "X is so near the largest float that its mixtures are not finite; divide X by a constant."
        raise ValueError(msg)
    return narrow(U, M.dtype)
