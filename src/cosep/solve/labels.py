"""Clusters of rows by the component with the largest share."""

import numpy as np

from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Indices


def factor_labels(factor: Array, strengths: Array) -> Indices:
    """Return for each row of ``factor`` the component with the largest share, ``factor[i,k] * strengths[k]``.

    The strength of a component is the norm of what it multiplies, so the labels do not depend on how the scale is
    split between factors. A row without any component gets -1; the lowest component wins a tie.
    """
    shares = factor * strengths
    return np.where(shares.any(axis=1), first_largest(shares), -1)
