"""Which component of a nonnegative mix each row holds most of."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosep.utils.ties import first_largest
from cosep.utils.types import Array, Indices


class LargestShares(NamedTuple):
    """The component that each row holds most of.

    Attributes
    ----------
    labels : ndarray of int
        The component. A row that holds none has -1 or, if it is not all zero, 0: the first component, which explains
        most.
    amounts : ndarray
        How much of it the row holds, ``factor[i,k] * strengths[k]``; 0 for a row that holds none.
    shares : ndarray
        That amount divided by the sum over all components, between 0 and 1. A row that holds none has nan or, if it is
        not all zero, 0.
    """

    labels: Indices
    amounts: Array
    shares: Array


def largest_shares(factor: Array, strengths: Array, filled: NDArray[np.bool_] | None = None) -> LargestShares:
    """Return the component that each row of ``factor`` holds most of, and how much of it.

    Row i holds ``factor[i,k] * strengths[k]`` of component k. The strength of a component is the norm of what it
    multiplies, so the result does not depend on how the scale is split between factors. The lowest component wins a
    tie.

    Parameters
    ----------
    factor : ndarray of shape (m, r)
    strengths : ndarray of shape (r,)
    filled : ndarray of bool, optional
        Which rows of the data are not all zero. Default: those that hold something.
    """
    parts = factor * strengths
    known = np.asarray(parts.any(axis=1))
    filled = known if filled is None else np.asarray(filled | known)
    labels = np.where(filled, first_largest(parts), -1)
    amounts = np.where(known, parts[np.arange(len(labels)), labels], 0.0)
    sums = np.where(known, parts.sum(axis=1), 1.0)
    return LargestShares(labels, amounts, np.where(filled, amounts / sums, np.nan))


def factor_labels(factor: Array, strengths: Array, filled: NDArray[np.bool_] | None = None) -> Indices:
    """Return the component that each row of ``factor`` holds most of, -1 for none; see `largest_shares`."""
    return largest_shares(factor, strengths, filled).labels


def partner_clusters(core: Array, strengths: Array) -> Indices:
    """Return for each cluster of rows the cluster of columns that goes with it most: the largest entry of the core.

    ``strengths`` are the norms of the components of columns that the core is multiplied by.
    """
    return np.asarray(first_largest(core * strengths))
